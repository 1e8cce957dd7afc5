#include "engine/open.h"

#include <fmt/format.h>

#include "base/env.h"
#include "base/text.h"
#include "base/trace.h"
#include "convert/model_file.h"
#include "families/registry.h"
#include "nn/packing.h"
#include "tensor/lanes.h"
#include "tensor/weights.h"

namespace transcribe {

namespace {

struct Opened {
    Loader loader;
    std::string arch;
};

Expected<Opened> read_file(MappedFile mapped, const std::string& path, Device device) {
    TRY_SET(auto file, read_model_file(std::move(mapped), path));
    Opened opened{Loader(file, device), ""};
    opened.arch = opened.loader.keys("general.").str("architecture");
    TRY(opened.loader.problems.done(Code::bad_model, path));
    return opened;
}

Expected<std::shared_ptr<const Model>> load(const Family& family, Loader& loader,
                                            const OpenOptions& options) {
    if (loader.device.is_cpu()) {
        loader.rounding = rounding_of(options.precision, family.is_good_in_int8);
    }
    if (loader.rounding == Rounding::int8) {
        loader.packer = int8_packer(usable_cpus());
    }
    return family.load(loader);
}

Error unknown(const std::string& path, const std::string& arch, const std::string& known) {
    return {Code::unsupported, fmt::format("{}: the architecture \"{}\" is not supported; known "
                                           "are {}",
                                           path, printable(arch), known)};
}

Expected<std::shared_ptr<const Model>> read_model(MappedFile mapped, const std::string& path,
                                                  Device device, const OpenOptions& options) {
    TRY_SET(auto opened, read_file(std::move(mapped), path, device));
    std::string known;
    for (const Family& family : families()) {
        if (opened.arch == family.arch) return load(family, opened.loader, options);
        known += (known.empty() ? "" : ", ") + std::string(family.arch);
    }
    for (const VoiceFamily& family : voice_families()) {
        if (opened.arch != family.arch) continue;
        return Error{Code::unsupported,
                     fmt::format("{}: {} hears whether somebody speaks and recognizes no words; "
                                 "give it with --vad-model",
                                 path, opened.arch)};
    }
    return unknown(path, opened.arch, known);
}

}  // namespace

Expected<std::shared_ptr<const Model>> open_model(const std::string& path,
                                                  const OpenOptions& options) {
    if (auto trace = env(Var::trace)) TRY(start_trace(*trace));
    Span span("load");
    TRY_SET(Device device, Device::pick(options.device));
    TRY_SET(auto file, MappedFile::open(path));
    return read_model(std::move(file), path, device, options);
}

Expected<std::shared_ptr<const Model>> open_model(std::span<const std::byte> bytes,
                                                  const OpenOptions& options) {
    if (auto trace = env(Var::trace)) TRY(start_trace(*trace));
    Span span("load");
    TRY_SET(Device device, Device::pick(options.device));
    TRY_SET(auto file, MappedFile::copy(bytes));
    return read_model(std::move(file), "the model in memory", device, options);
}

Expected<std::shared_ptr<const VoiceDetector>> open_voice_detector(const std::string& path) {
    Span span("load voice detector");
    TRY_SET(Device device, Device::pick("cpu"));
    TRY_SET(auto file, MappedFile::open(path));
    TRY_SET(auto opened, read_file(std::move(file), path, device));
    std::string known;
    for (const VoiceFamily& family : voice_families()) {
        if (opened.arch == family.arch) return family.load(opened.loader);
        known += (known.empty() ? "" : ", ") + std::string(family.arch);
    }
    return unknown(path, opened.arch, known);
}

}  // namespace transcribe
