// One file over HTTP(S), by libcurl. It grows as PATH.part and gets its name only when whole and
// checked, so a file at PATH is always good. A cut transfer goes on where it stopped, in the same
// call and in a later one.
#pragma once

#include <functional>
#include <string>

#include "base/audio_source.h"
#include "base/error.h"

namespace transcribe {

struct DownloadRequest {
    std::string url, path;
    std::string sha256;  // "" when not known
    i64 n_bytes = 0;     // size of the file; 0 when not known, and then 64 MB at most
    std::function<void(i64 n_done, i64 n_total)> on_progress;  // n_total is 0 when not known
    int n_tries_max = 4;        // of a transfer that was cut or met a busy server
    double retry_wait_s = 1.0;  // before the second try; doubles
};

// A server that cannot be reached is not tried twice: the caller may have another source.
// Errors: not_found (the server does not have it), io (all else).
Status download(const DownloadRequest&);

}  // namespace transcribe
