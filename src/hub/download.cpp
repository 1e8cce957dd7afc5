#include "hub/download.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include "hub/sha256.h"

namespace fs = std::filesystem;

namespace transcribe {

namespace {

constexpr i64 n_bytes_unknown_max = 64 << 20;
constexpr long connect_timeout_s = 5;
constexpr long stall_timeout_s = 30;  // at less than stall_speed
constexpr long stall_speed = 1000;    // bytes a second

struct CurlDeleter {
    void operator()(CURL* curl) const { curl_easy_cleanup(curl); }
};
using CurlPtr = std::unique_ptr<CURL, CurlDeleter>;

enum class Verdict { done, again, failed };

struct Attempt {
    Verdict verdict = Verdict::failed;
    Error error{};
    bool moved = false;  // some bytes came
};

i64 size_or_zero(const std::string& path) {
    std::error_code missing;
    auto n = fs::file_size(path, missing);
    return missing ? 0 : static_cast<i64>(n);
}

bool is_good(long http_status) {
    return http_status == 200 || http_status == 206;
}

// One request for what is still missing of PATH.part.
class Transfer {
  public:
    explicit Transfer(const DownloadRequest& request)
        : request_(request), part_(request.path + ".part"), n_have_(size_or_zero(part_)) {
        if (request.n_bytes > 0 && n_have_ > request.n_bytes) n_have_ = 0;
    }
    Attempt run();

  private:
    static size_t on_data(char* data, size_t, size_t n, void* self) {
        return static_cast<Transfer*>(self)->take({data, n}) ? n : 0;
    }
    static int on_tick(void* self, curl_off_t total, curl_off_t, curl_off_t, curl_off_t) {
        static_cast<Transfer*>(self)->report(total);
        return 0;
    }
    void set_up();
    bool take(std::span<const char> bytes);
    bool open_part();
    void report(i64 n_announced) const;
    Attempt judge(CURLcode code);
    Attempt judge_refusal(long status);
    Attempt judge_break(CURLcode code) const;
    Attempt fail(Verdict verdict, Code code, const std::string& why) const {
        return {verdict,
                {code, fmt::format("download of {} failed: {}", request_.url, why)},
                n_new_ > 0};
    }
    i64 n_max() const { return request_.n_bytes > 0 ? request_.n_bytes : n_bytes_unknown_max; }

    const DownloadRequest& request_;
    std::string part_;
    i64 n_have_;     // bytes of the part that stand before this request
    i64 n_new_ = 0;  // bytes that this request added
    std::ofstream out_;
    std::string local_fault_;  // why take() refused
    CurlPtr curl_{curl_easy_init()};
    char message_[CURL_ERROR_SIZE] = "";
};

void Transfer::set_up() {
    CURL* curl = curl_.get();
    curl_easy_setopt(curl, CURLOPT_URL, request_.url.c_str());
    bool safe = request_.url.starts_with("https:");  // and stays so over redirects
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, safe ? "https" : "http,https");
    curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, safe ? "https" : "http,https");
    curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(curl, CURLOPT_MAXREDIRS, 10L);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, connect_timeout_s);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, stall_speed);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, stall_timeout_s);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "transcribe");
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, message_);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_data);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, this);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_tick);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, this);
    if (n_have_ > 0) {
        curl_easy_setopt(curl, CURLOPT_RANGE, fmt::format("{}-", n_have_).c_str());
    }
}

// At the first byte: 206 goes on with the part, 200 sends the file from its start.
bool Transfer::open_part() {
    long status = 0;
    curl_easy_getinfo(curl_.get(), CURLINFO_RESPONSE_CODE, &status);
    if (status != 206) n_have_ = 0;
    out_.open(part_, std::ios::binary | (n_have_ > 0 ? std::ios::app : std::ios::trunc));
    if (!out_) local_fault_ = fmt::format("cannot write {}", part_);
    return out_.is_open();
}

bool Transfer::take(std::span<const char> bytes) {
    long status = 0;
    curl_easy_getinfo(curl_.get(), CURLINFO_RESPONSE_CODE, &status);
    if (!is_good(status)) return false;  // the body of a refusal; judge() tells
    if (!out_.is_open() && !open_part()) return false;
    if (n_have_ + n_new_ + static_cast<i64>(bytes.size()) > n_max()) {
        local_fault_ = fmt::format("the server sends more than the {} bytes expected", n_max());
        return false;
    }
    out_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!out_) {
        local_fault_ = fmt::format("writing {} failed; is the disk full?", part_);
        return false;
    }
    n_new_ += static_cast<i64>(bytes.size());
    return true;
}

void Transfer::report(i64 n_announced) const {
    if (!request_.on_progress || !out_.is_open()) return;
    i64 n_total = request_.n_bytes;
    if (n_total == 0 && n_announced > 0) n_total = n_have_ + n_announced;
    request_.on_progress(n_have_ + n_new_, n_total);
}

Attempt Transfer::judge(CURLcode code) {
    long status = 0;
    curl_easy_getinfo(curl_.get(), CURLINFO_RESPONSE_CODE, &status);
    if (!local_fault_.empty()) return fail(Verdict::failed, Code::io, local_fault_);
    if (status != 0 && !is_good(status)) return judge_refusal(status);
    if (code != CURLE_OK) return judge_break(code);
    if (!out_.is_open() && !open_part()) return fail(Verdict::failed, Code::io, local_fault_);
    out_.close();
    if (!out_) return fail(Verdict::failed, Code::io, fmt::format("writing {} failed", part_));
    if (n_have_ + n_new_ < request_.n_bytes) {
        return fail(Verdict::again, Code::io,
                    fmt::format("{} of {} bytes came", n_have_ + n_new_, request_.n_bytes));
    }
    return {.verdict = Verdict::done};
}

// The server answered, and not with the file.
Attempt Transfer::judge_refusal(long status) {
    if (status == 416) {  // nothing lies beyond the part, so it is not the start of this file
        fs::remove(part_);
        return fail(Verdict::again, Code::io, "the part on disk does not fit the server's file");
    }
    if (status == 404 || status == 410) {
        return fail(Verdict::failed, Code::not_found,
                    fmt::format("the server does not have it (HTTP {})", status));
    }
    bool busy = status == 429 || status >= 500;
    return fail(busy ? Verdict::again : Verdict::failed, Code::io,
                fmt::format("the server answers HTTP {}", status));
}

// The connection did not stand, or broke.
Attempt Transfer::judge_break(CURLcode code) const {
    bool stood = n_new_ > 0 || code == CURLE_PARTIAL_FILE || code == CURLE_RECV_ERROR ||
                 code == CURLE_SEND_ERROR || code == CURLE_GOT_NOTHING || code == CURLE_HTTP2 ||
                 code == CURLE_HTTP2_STREAM;
    return fail(stood ? Verdict::again : Verdict::failed, Code::io,
                *message_ ? message_ : curl_easy_strerror(code));
}

Attempt Transfer::run() {
    if (request_.n_bytes > 0 && n_have_ == request_.n_bytes) return {.verdict = Verdict::done};
    if (!curl_) return fail(Verdict::failed, Code::out_of_memory, "libcurl gives no handle");
    set_up();
    return judge(curl_easy_perform(curl_.get()));
}

// Tries until the part is whole; a try that moved bytes does not count against the limit.
Status fetch_part(const DownloadRequest& request) {
    double wait_s = request.retry_wait_s;
    for (int n_tries = 1;; n_tries++) {
        Attempt attempt = Transfer(request).run();
        if (attempt.verdict == Verdict::done) return {};
        if (attempt.moved) n_tries = 1, wait_s = request.retry_wait_s;
        if (attempt.verdict == Verdict::failed || n_tries >= request.n_tries_max) {
            return attempt.error;
        }
        std::this_thread::sleep_for(std::chrono::duration<double>(wait_s));
        wait_s *= 2;
    }
}

Status check_sum(const DownloadRequest& request, const std::string& part) {
    if (request.sha256.empty()) return {};
    TRY_SET(std::string sum, sha256_of_file(part));
    if (sum == request.sha256) return {};
    fs::remove(part);
    return Error{Code::io, fmt::format("{} has the sha256 {} instead of {}: the download was "
                                       "damaged or changed, and was removed; try again",
                                       request.url, sum, request.sha256)};
}

}  // namespace

Status download(const DownloadRequest& request) try {
    static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
    if (started != CURLE_OK) return Error{Code::internal, "libcurl does not start"};
    std::string part = request.path + ".part";
    TRY(fetch_part(request));
    TRY(check_sum(request, part));
    fs::rename(part, request.path);
    return {};
} catch (const std::exception& fault) {
    return Error{Code::io, fmt::format("download of {} failed: {}", request.url, fault.what())};
}

}  // namespace transcribe
