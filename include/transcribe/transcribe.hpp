// transcribe: speech to text. A thin C++20 layer over transcribe.h: owners, spans, string views,
// exceptions. What functions and fields mean, and which threads may do what, is told there.
//
//     transcribe::Model model(transcribe::find_model("tiny.en"));
//     transcribe::Session session(model);
//     std::cout << session.run_file("talk.mp3").text() << "\n";
#ifndef TRANSCRIBE_TRANSCRIBE_HPP
#define TRANSCRIBE_TRANSCRIBE_HPP

#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "transcribe/transcribe.h"

namespace transcribe {
inline namespace v0 {

// Any status but TRANSCRIBE_OK, with its sentence.
class Failure : public std::runtime_error {
  public:
    explicit Failure(transcribe_status status)
        : std::runtime_error(transcribe_last_error()), status_(status) {}
    transcribe_status status() const { return status_; }

  private:
    transcribe_status status_;
};

inline void check(transcribe_status status) {
    if (status != TRANSCRIBE_OK) throw Failure(status);
}

// A C struct of options with its defaults.
template <class Options, auto init>
struct Defaults : Options {
    Defaults() : Options{} { check(init(this, sizeof(Options))); }
};
using FindOptions = Defaults<transcribe_find_options, transcribe_find_options_init>;
using ModelOptions = Defaults<transcribe_model_options, transcribe_model_options_init>;
using SessionOptions = Defaults<transcribe_session_options, transcribe_session_options_init>;

// Functions in the place of the C struct's callbacks; what they throw ends the run and comes out of
// it.
struct RunOptions : Defaults<transcribe_run_options, transcribe_run_options_init> {
    std::function<void(size_t clip, const transcribe_segment&)> on_segment;
    std::function<void(size_t clip, double fraction)> on_progress;
};

template <auto free>
struct FreeBy {
    template <class T>
    void operator()(T* handle) const {
        free(handle);
    }
};

inline std::string find_model(const std::string& name_or_path, const FindOptions& options = {}) {
    const char* path = nullptr;
    check(transcribe_find_model(name_or_path.c_str(), &options, &path));
    return path;
}

class Model {
  public:
    explicit Model(const std::string& path, const ModelOptions& options = {}) {
        transcribe_model* model = nullptr;
        check(transcribe_model_load(path.c_str(), &options, &model));
        handle_.reset(model);
    }
    // The bytes of a model file; they are copied.
    explicit Model(std::span<const std::byte> bytes, const ModelOptions& options = {}) {
        transcribe_model* model = nullptr;
        check(transcribe_model_load_from_memory(bytes.data(), bytes.size(), &options, &model));
        handle_.reset(model);
    }
    transcribe_model_info info() const {
        transcribe_model_info info{};
        info.size = sizeof info;
        check(transcribe_model_get_info(handle_.get(), &info));
        return info;
    }
    const transcribe_model* handle() const { return handle_.get(); }

  private:
    std::unique_ptr<transcribe_model, FreeBy<transcribe_model_free>> handle_;
};

// Views of a Result, which must outlive them.
struct Segment {
    explicit Segment(const transcribe_segment& c)
        : text(c.text),
          t0_ms(c.t0_ms),
          t1_ms(c.t1_ms),
          words(c.words, c.n_words),
          tokens(c.tokens, c.n_tokens) {}
    std::string_view text;
    int64_t t0_ms, t1_ms;
    std::span<const transcribe_word> words;
    std::span<const transcribe_token> tokens;
};

class Result {
  public:
    explicit Result(transcribe_result* handle) : handle_(handle) {}
    transcribe_result_info info() const {
        transcribe_result_info info{};
        info.size = sizeof info;
        check(transcribe_result_get_info(handle_.get(), &info));
        return info;
    }
    std::string_view text() const { return info().text; }
    std::string_view language() const { return info().language; }
    std::vector<Segment> segments() const {
        std::vector<Segment> all;
        size_t n = info().n_segments;
        for (size_t i = 0; i < n; i++) {
            transcribe_segment segment{};
            segment.size = sizeof segment;
            check(transcribe_result_get_segment(handle_.get(), i, &segment));
            all.emplace_back(segment);
        }
        return all;
    }
    std::string_view format(const char* name) const {  // "srt"
        const char* text = nullptr;
        check(transcribe_result_format(handle_.get(), name, &text));
        return text;
    }

  private:
    std::unique_ptr<transcribe_result, FreeBy<transcribe_result_free>> handle_;
};

class Session {
  public:
    explicit Session(const Model& model, const SessionOptions& options = {}) {
        transcribe_session* session = nullptr;
        check(transcribe_session_create(model.handle(), &options, &session));
        handle_.reset(session);
    }
    transcribe_limits limits() const {
        transcribe_limits limits{};
        limits.size = sizeof limits;
        check(transcribe_session_get_limits(handle_.get(), &limits));
        return limits;
    }
    // Throw where there is no whole transcript; of one that was cut there is none here
    // (transcribe_run has it).
    Result run(std::span<const float> pcm, const RunOptions& options = {}) {
        return call(options, [&](const transcribe_run_options& c, transcribe_result** out) {
            return transcribe_run(handle_.get(), pcm.data(), pcm.size(), &c, out);
        });
    }
    Result run_file(const std::string& path, const RunOptions& options = {}) {
        return call(options, [&](const transcribe_run_options& c, transcribe_result** out) {
            return transcribe_run_file(handle_.get(), path.c_str(), &c, out);
        });
    }
    // One result each, with a status of its own (Result::info).
    std::vector<Result> run_batch(std::span<const transcribe_clip> clips,
                                  const RunOptions& options = {}) {
        std::vector<transcribe_result*> out(clips.size());
        Calls calls{options, handle_.get(), {}};
        transcribe_run_options c = calls.c();
        transcribe_status status =
            transcribe_run_batch(handle_.get(), clips.data(), clips.size(), &c, out.data());
        std::vector<Result> results;
        for (transcribe_result* handle : out) results.emplace_back(handle);
        calls.finish(status);
        return results;
    }
    void cancel() { check(transcribe_session_cancel(handle_.get())); }
    transcribe_session* handle() const { return handle_.get(); }

  private:
    // No exception may pass through C.
    struct Calls {
        const RunOptions& options;
        transcribe_session* session;
        std::exception_ptr fault;

        transcribe_run_options c() {
            transcribe_run_options out = options;
            out.user = this;
            out.on_segment = nullptr;
            out.on_progress = nullptr;
            if (options.on_segment) {
                out.on_segment = [](void* user, size_t clip, const transcribe_segment* segment) {
                    auto& self = *static_cast<Calls*>(user);
                    self.safely([&] { self.options.on_segment(clip, *segment); });
                };
            }
            if (options.on_progress) {
                out.on_progress = [](void* user, size_t clip, double fraction) {
                    auto& self = *static_cast<Calls*>(user);
                    self.safely([&] { self.options.on_progress(clip, fraction); });
                };
            }
            return out;
        }
        template <class Work>
        void safely(const Work& work) noexcept {
            try {
                if (!fault) work();
            } catch (...) {
                fault = std::current_exception();
                transcribe_session_cancel(session);
            }
        }
        void finish(transcribe_status status) const {
            if (fault) std::rethrow_exception(fault);
            check(status);
        }
    };

    template <class Run>
    Result call(const RunOptions& options, const Run& run) {
        Calls calls{options, handle_.get(), {}};
        transcribe_result* out = nullptr;
        transcribe_status status = run(calls.c(), &out);
        Result result(out);
        calls.finish(status);
        return result;
    }

    std::unique_ptr<transcribe_session, FreeBy<transcribe_session_free>> handle_;
};

// Text of a recording while it goes on.
class Stream {
  public:
    explicit Stream(Session& session, const RunOptions& options = {}) {
        transcribe_stream* stream = nullptr;
        check(transcribe_stream_open(session.handle(), &options, &stream));
        handle_.reset(stream);
    }
    // What they give is valid until the next call.
    transcribe_stream_text feed(std::span<const float> pcm) {
        transcribe_stream_text text{};
        text.size = sizeof text;
        check(transcribe_stream_feed(handle_.get(), pcm.data(), pcm.size(), &text));
        return text;
    }
    transcribe_stream_text finish() {
        transcribe_stream_text text{};
        text.size = sizeof text;
        check(transcribe_stream_finish(handle_.get(), &text));
        return text;
    }
    Result result() const {
        transcribe_result* out = nullptr;
        check(transcribe_stream_get_result(handle_.get(), &out));
        return Result(out);
    }

  private:
    std::unique_ptr<transcribe_stream, FreeBy<transcribe_stream_free>> handle_;
};

}  // namespace v0
}  // namespace transcribe
#endif
