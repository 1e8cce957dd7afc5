#include "convert/convert.h"

#include <fmt/format.h>

#include <filesystem>
#include <new>

#include "base/text.h"
#include "convert/canary_qwen.h"
#include "convert/checkpoint.h"
#include "convert/gguf_source.h"
#include "convert/json.h"
#include "convert/silero.h"
#include "convert/store.h"
#include "convert/whisper.h"

namespace transcribe {

namespace {

struct FamilyConverter {
    const char* architecture;
    Expected<ModelPlan> (*plan)(const Checkpoint&, const std::string& name);
};

constexpr FamilyConverter families[] = {
    {"whisper", plan_whisper}, {"canary_qwen", plan_canary_qwen}, {"silero-vad", plan_silero}};

// "org/name" of a hub is a name; any other path says where it once was.
std::string name_of(const Checkpoint& from) {
    auto json = read_json_if_any(from.path("config.json"));
    if (json && json->is_object()) {
        const Json field = json->value("_name_or_path", Json());
        std::string origin = field.is_string() ? field.get<std::string>() : "";
        size_t slash = origin.find('/');
        bool hub = slash != std::string::npos && slash == origin.rfind('/') && slash > 0 &&
                   origin[0] != '.' && slash + 1 < origin.size();
        if (hub) return origin.substr(slash + 1);
    }
    auto path = std::filesystem::weakly_canonical(native_path(from.directory));
    auto name = path.filename().u8string();
    return utf8_repair(std::string(name.begin(), name.end()));
}

Expected<ModelPlan> plan_model(const Checkpoint& from, const std::string& name) {
    if (from.format == Checkpoint::Format::gguf) return plan_gguf(from, name);
    for (const FamilyConverter& family : families) {
        if (from.architecture != family.architecture) continue;
        return family.plan(from, name.empty() ? name_of(from) : name);
    }
    return Error{
        Code::unsupported,
        fmt::format("{}: a {} model, and only Whisper, Canary-Qwen and Silero VAD models can be "
                    "converted",
                    printable(from.directory, 1000), printable(from.architecture, 40))};
}

Expected<ConvertReport> convert_checked(const std::string& source, const std::string& out,
                                        const ConvertOptions& options) {
    TRY_SET(auto checkpoint, open_checkpoint(source));
    checkpoint.lm_directory = options.lm_directory;
    TRY_SET(auto plan, plan_model(checkpoint, options.name));
    return store_model(checkpoint, plan, out, options);
}

}  // namespace

Expected<ConvertReport> convert(const std::string& source, const std::string& out,
                                const ConvertOptions& options) {
    try {
        return convert_checked(source, out, options);
    } catch (const std::bad_alloc&) {
        return Error{Code::out_of_memory,
                     printable(source, 1000) + ": not enough memory to convert it"};
    } catch (const std::exception& e) {
        return Error{Code::internal, fmt::format("{}: {}", printable(source, 1000), e.what())};
    }
}

}  // namespace transcribe
