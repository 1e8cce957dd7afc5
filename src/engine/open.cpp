#include "engine/open.h"

#include <fmt/format.h>

#include "base/env.h"
#include "base/text.h"
#include "base/trace.h"
#include "convert/model_file.h"
#include "families/registry.h"
#include "tensor/weights.h"

namespace transcribe {

Expected<std::shared_ptr<const Model>> open_model(const std::string& path,
                                                  const OpenOptions& options) {
    if (auto trace = env(Var::trace)) TRY(start_trace(*trace));
    Span span("load");
    TRY_SET(Device device, Device::pick(options.device));
    TRY_SET(auto file, open_model_file(path));
    Loader loader(file, device);
    std::string arch = loader.keys("general.").str("architecture");
    TRY(loader.problems.done(Code::bad_model, path));
    std::string known;
    for (const Family& family : families()) {
        if (arch == family.arch) return family.load(loader);
        known += (known.empty() ? "" : ", ") + std::string(family.arch);
    }
    return Error{Code::unsupported,
                 fmt::format("{}: the architecture \"{}\" is not supported; known are {}", path,
                             printable(arch), known)};
}

}  // namespace transcribe
