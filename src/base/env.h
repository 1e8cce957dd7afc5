// The only reader of environment variables: one table, which docs/ENVIRONMENT.md repeats for users.
// A variable that is set but empty counts as not set.
#pragma once

#include <optional>
#include <span>
#include <string>

namespace transcribe {

enum class Var {
    trace,
    tap,
    tap_dir,
    flash,
    hub,
    xdg_cache_home,
    home,
};

struct VarInfo {
    Var var;
    const char* name;
    const char* meaning;
};

std::optional<std::string> env(Var var);

// In the order of Var.
std::span<const VarInfo> env_table();

}  // namespace transcribe
