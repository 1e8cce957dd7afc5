#include <fmt/format.h>

#include <filesystem>

#include "base/env.h"
#include "hub/download.h"
#include "hub/sources.h"

namespace fs = std::filesystem;

namespace transcribe {

namespace {

std::string hub_address() {
    std::string address = env(Var::hub).value_or("https://huggingface.co");
    while (address.ends_with('/')) address.pop_back();
    return address;
}

}  // namespace

Status fetch_from_hub(const HubSource& source, const std::string& folder,
                      const OnProgress& on_progress) try {
    fs::create_directories(folder);
    // The small ones first: a wrong address shows at once.
    for (const char* name : {"config.json", "generation_config.json", "preprocessor_config.json",
                             "tokenizer.json", "model.safetensors"}) {
        std::string path = folder + "/" + name;
        if (fs::exists(path)) continue;
        bool is_weights = std::string_view(name) == "model.safetensors";
        DownloadRequest request{.url = fmt::format("{}/{}/resolve/{}/{}", hub_address(),
                                                   source.repo, source.revision, name),
                                .path = path,
                                .sha256 = is_weights ? source.sha256 : "",
                                .n_bytes = is_weights ? source.n_bytes : 0,
                                .on_progress = [&](i64 n_done, i64 n_total) {
                                    if (on_progress)
                                        on_progress({"download", name, n_done, n_total});
                                }};
        TRY(download(request));
    }
    return {};
} catch (const std::exception& fault) {
    return Error{Code::io, fmt::format("cannot fill {}: {}", folder, fault.what())};
}

}  // namespace transcribe
