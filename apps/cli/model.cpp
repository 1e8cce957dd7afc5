#include "cli/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

namespace transcribe::cli {

namespace {

// More threads than processors only wait for each other.
int usable_threads(int n_wanted, Console& console) {
    const int n_cpus = static_cast<int>(std::thread::hardware_concurrency());
    if (n_cpus == 0 || n_wanted <= n_cpus) return n_wanted;
    console.warning("", fmt::format("--threads {}: this machine has {} processors, so {} are used",
                                    n_wanted, n_cpus, n_cpus));
    return n_cpus;
}

}  // namespace

PullOptions pull_with_progress(Console& console) {
    PullOptions options;
    auto at = std::make_shared<std::string>();
    options.on_progress = [&console, at](const PullProgress& progress) {
        const std::string label = fmt::format("{} {}", progress.step, progress.what);
        if (*at != label) {
            *at = label;
            console.note("transcribe: " + label);
            console.progress().start(label, Unit::bytes);
        }
        console.progress().update(static_cast<double>(progress.n_done),
                                  static_cast<double>(progress.n_total));
    };
    return options;
}

Expected<std::shared_ptr<const VoiceDetector>> open_voice(const std::string& model,
                                                          Console& console) {
    TRY_SET(const auto path, resolve_model(model, pull_with_progress(console)));
    console.progress().clear();
    return open_voice_detector(path);
}

Expected<Machine> open_machine(const MachineRequest& request, Console& console) {
    SessionOptions options = request.session;
    options.n_threads = usable_threads(options.n_threads, console);
    TRY_SET(const auto path, resolve_model(request.model, pull_with_progress(console)));
    console.progress().clear();

    const auto before = std::chrono::steady_clock::now();
    Machine machine;
    TRY_SET(machine.model, open_model(path, request.open));
    TRY_SET(machine.session, Session::make(machine.model, options));
    const std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - before;
    machine.load_ms = taken.count();
    const ModelInfo& info = machine.model->info();
    console.detail(fmt::format("model {} ({} {}, {:.1f} M parameters) opened in {:.0f} ms", path,
                               info.arch, info.variant, static_cast<double>(info.n_params) / 1e6,
                               machine.load_ms));
    return machine;
}

}  // namespace transcribe::cli
