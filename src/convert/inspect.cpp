#include "convert/inspect.h"

#include <fmt/format.h>

#include <map>

#include "base/text.h"
#include "convert/model_file.h"
#include "tensor/dtype.h"
#include "tensor/gguf.h"

namespace transcribe {

namespace {

class Facts {
  public:
    explicit Facts(const Gguf& file) : file_(file) {}

    std::string text() {
        std::string arch = shown("general.architecture");
        add("architecture", arch);
        add("name", shown("general.name"));
        add("license", shown("general.license"));
        add("parameters", parameters());
        add("file",
            fmt::format("{}, {} tensors", megabytes(file_.n_bytes()), file_.tensors().size()));
        add("file type", shown("general.file_type"));
        add("languages", languages());
        std::string prefix = "stt." + arch + ".";
        add("encoder", side(prefix + "encoder."));
        add("decoder", side(prefix + "decoder."));
        add("mel bins", shown("stt.frontend.num_mels"));
        add("vocabulary", count("tokenizer.ggml.tokens"));
        add_tensor_types();
        return out_;
    }

  private:
    static std::string megabytes(size_t n) {
        return fmt::format("{:.1f} MB", static_cast<double>(n) / 1e6);
    }

    void add(std::string_view label, const std::string& value) {
        if (!value.empty()) out_ += fmt::format("{:<14}{}\n", label, value);
    }

    const GgufValue* find(const std::string& key) const {
        auto found = file_.values().find(key);
        return found == file_.values().end() ? nullptr : &found->second;
    }

    // A scalar as text; empty where it is absent or something else.
    std::string shown(const std::string& key) const {
        const GgufValue* value = find(key);
        if (!value) return {};
        if (auto* text = std::get_if<std::string>(value)) return printable(*text, 100);
        if (auto* n = std::get_if<i64>(value)) return std::to_string(*n);
        return {};
    }

    std::string count(const std::string& key) const {
        const GgufValue* value = find(key);
        auto* list = value ? std::get_if<std::vector<std::string>>(value) : nullptr;
        return list ? fmt::format("{} tokens", list->size()) : "";
    }

    std::string languages() const {
        const GgufValue* value = find("general.languages");
        auto* list = value ? std::get_if<std::vector<std::string>>(value) : nullptr;
        if (!list || list->empty()) return {};
        return list->size() == 1 ? printable(list->front(), 20) : std::to_string(list->size());
    }

    std::string side(const std::string& prefix) const {
        std::string layers = shown(prefix + "n_layers"), heads = shown(prefix + "n_heads");
        std::string width = shown(prefix + "d_model");
        if (width.empty()) width = shown(prefix + "hidden_size");
        if (layers.empty()) return {};
        return fmt::format("{} layers, width {}, {} heads", layers, width, heads);
    }

    std::string parameters() const {
        double n = 0;
        for (const GgufTensor& tensor : file_.tensors()) {
            double n_elements = tensor.name.starts_with("frontend.") ? 0 : 1;
            for (i64 dim : tensor.shape) n_elements *= static_cast<double>(dim);
            n += n_elements;
        }
        return fmt::format("{:.1f} M", n / 1e6);
    }

    void add_tensor_types() {
        struct Sum {
            size_t n_tensors = 0, n_bytes = 0;
        };
        std::map<std::string_view, Sum> sums;
        for (const GgufTensor& tensor : file_.tensors()) {
            Sum& sum = sums[dtype_name(tensor.dtype)];
            sum.n_tensors++;
            sum.n_bytes += tensor.data.size();
        }
        for (const auto& [name, sum] : sums) {
            add(fmt::format("  {}", name),
                fmt::format("{} tensors, {}", sum.n_tensors, megabytes(sum.n_bytes)));
        }
    }

    const Gguf& file_;
    std::string out_;
};

}  // namespace

Expected<std::string> inspect(const std::string& path) {
    TRY_SET(auto file, open_model_file(path));
    return Facts(*file).text();
}

}  // namespace transcribe
