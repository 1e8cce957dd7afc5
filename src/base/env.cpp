#include "base/env.h"

#include <array>
#include <cstdlib>

#include "base/check.h"

namespace transcribe {

namespace {

constexpr std::array table{
    VarInfo{Var::trace, "TRANSCRIBE_TRACE", "file that gets a trace of where the time goes (JSON)"},
    VarInfo{Var::tap, "TRANSCRIBE_TAP", "names of the inner tensors to write, with * as wildcard"},
    VarInfo{Var::tap_dir, "TRANSCRIBE_TAP_DIR", "folder that gets those tensors"},
    VarInfo{Var::flash, "TRANSCRIBE_FLASH", "0: plain attention instead of the fused kernel"},
    VarInfo{Var::hub, "TRANSCRIBE_HUB", "address that stands in for https://huggingface.co"},
    VarInfo{Var::xdg_cache_home, "XDG_CACHE_HOME", "folder above transcribe/models"},
    VarInfo{Var::home, "HOME", "where .cache is, when XDG_CACHE_HOME is not set"},
};

}  // namespace

std::optional<std::string> env(Var var) {
    const VarInfo& info = table.at(static_cast<size_t>(var));
    CHECK(info.var == var);
    const char* value = std::getenv(info.name);
    if (!value || !*value) return std::nullopt;
    return value;
}

std::span<const VarInfo> env_table() {
    return table;
}

}  // namespace transcribe
