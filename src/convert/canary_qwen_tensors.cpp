// Each tensor of the checkpoint finds its place in our file, and each place its tensor.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "convert/canary_qwen.h"
#include "convert/canary_qwen_names.h"
#include "convert/tensor_places.h"

namespace transcribe {

namespace {

namespace names = canary_qwen_names;
using names::Kind;
using names::Row;

constexpr i64 n_mels = 128, n_bins = 257, n_window = 400;

class Planner {
  public:
    Planner(const Checkpoint& from, const CanaryQwenConfig& config)
        : from_(from), places_(from), c_(config) {}

    Expected<std::vector<PlannedTensor>> plan() {
        add_all(names::front_rows, "", "");
        if (!out_.empty()) out_.front().shape = {n_mels, n_bins};
        add_all(names::pre_encode_rows, "enc.pre_encode.", "perception.encoder.pre_encode.");
        for (int i = 0; i < c_.n_layers; i++) {
            add_all(names::encoder_block_rows, fmt::format("enc.blocks.{}.", i),
                    fmt::format("perception.encoder.layers.{}.", i));
        }
        add({"enc.proj", projection_name(), "Dd", Kind::linear}, "", "");
        add({"dec.token_embd", "embed_tokens", "VD", Kind::unbiased}, "", "");
        std::string lm = lm_prefix();
        for (int i = 0; i < c_.lm.n_layers; i++) {
            add_all(names::lm_block_rows, fmt::format("dec.blocks.{}.", i),
                    fmt::format("{}layers.{}.", lm, i));
        }
        add({"dec.output_norm", "norm", "D", Kind::unbiased}, "", lm);
        check_head();
        skip();
        TRY(places_.done("Canary-Qwen"));
        return std::move(out_);
    }

  private:
    i64 size_of(char letter) const {
        const CanaryQwenConfig::Lm& lm = c_.lm;
        switch (letter) {
            case 'd': return c_.d;
            case 'w': return 2 * i64{c_.d};
            case 'f': return c_.d_ff;
            case 'c': return c_.n_channels;
            case 's': return n_mels / 8 * c_.n_channels;
            case 'h': return c_.n_heads;
            case 'e': return c_.d / c_.n_heads;
            case 'k': return c_.kernel;
            case 'D': return lm.d;
            case 'F': return lm.d_ff;
            case 'Q': return i64{lm.n_heads} * lm.d_head;
            case 'K': return i64{lm.n_kv_heads} * lm.d_head;
            case 'E': return lm.d_head;
            case 'V': return lm.n_vocab;
            case 'm': return n_mels;
            case 'b': return n_bins;
            case 'n': return n_window;
            default: return letter - '0';
        }
    }

    void add_all(std::span<const Row> rows, const std::string& ours, const std::string& theirs) {
        for (const Row& row : rows) add(row, ours, theirs);
    }

    void add(const Row& row, const std::string& ours, const std::string& theirs) {
        std::vector<i64> shape;
        for (char letter : std::string_view(row.shape)) shape.push_back(size_of(letter));
        std::string name = ours + row.ours, source = theirs + row.theirs;
        if (row.kind == Kind::plain) return place(name, source, shape);
        if (from_.find(source + ".base_layer.weight")) {
            place_merged(name + ".weight", source, shape);
        } else {
            place(name + ".weight", source + ".weight", shape);
        }
        if (row.kind == Kind::linear) place(name + ".bias", source + ".bias", {shape[0]});
    }

    void place(const std::string& name, const std::string& source, const std::vector<i64>& shape) {
        PlannedTensor tensor;
        tensor.name = name;
        tensor.shape = shape;
        tensor.source = places_.take(source, shape);
        if (tensor.source) out_.push_back(std::move(tensor));
    }

    // A base and the product of two thin matrices, [out, r] and [r, in].
    void place_merged(const std::string& name, const std::string& source,
                      const std::vector<i64>& shape) {
        place(name, source + ".base_layer.weight", shape);
        std::string a = source + ".lora_A.default.weight", b = source + ".lora_B.default.weight";
        const SourceTensor* found = from_.find(a);
        i64 rank = found && found->shape.size() == 2 ? found->shape[0] : 1;
        LowRank added{places_.take(a, {rank, shape[1]}), places_.take(b, {shape[0], rank}),
                      c_.lora_scale};
        if (c_.lora_scale == 0) places_.fault(fmt::format("{} needs lora in config.json", a));
        if (added.a && added.b && !out_.empty()) out_.back().added = added;
    }

    const char* projection_name() const {
        for (const char* name : {"perception.out_proj", "perception.audio_proj"}) {
            if (from_.find(std::string(name) + ".weight")) return name;
        }
        return "perception.proj";
    }

    // With LoRA the language model is wrapped once more.
    std::string lm_prefix() const {
        const char* wrapped = "llm.base_model.model.model.";
        return from_.find(std::string(wrapped) + "norm.weight") ? wrapped : "llm.model.";
    }

    // The head is the token embedding and not written again.
    void check_head() {
        const SourceTensor* embedding = from_.find("embed_tokens.weight");
        for (const char* name : {"llm.base_model.model.lm_head.weight", "llm.lm_head.weight"}) {
            places_.take_tied_head(name, embedding);
        }
    }

    void skip() {
        for (const auto& [name, tensor] : from_.tensors) {
            auto ends = [&](auto end) { return name.ends_with(end); };
            auto begins = [&](auto begin) { return name.starts_with(begin); };
            bool of_no_use = std::ranges::any_of(names::skipped_ends, ends) ||
                             std::ranges::any_of(names::skipped_begins, begins);
            if (of_no_use) places_.skip(name);
        }
    }

    const Checkpoint& from_;
    TensorPlaces places_;
    const CanaryQwenConfig& c_;
    std::vector<PlannedTensor> out_;
};

}  // namespace

Expected<std::vector<PlannedTensor>> plan_canary_qwen_tensors(const Checkpoint& from,
                                                              const CanaryQwenConfig& config) {
    return Planner(from, config).plan();
}

}  // namespace transcribe
