#include "cli/stream_cmd.h"

#include <fmt/format.h>

#include "cli/captions.h"
#include "cli/delivery.h"
#include "cli/interrupt.h"
#include "cli/sound_reader.h"
#include "cli/system.h"
#include "engine/stream.h"
#include "output/cues.h"
#include "output/events.h"

namespace transcribe::cli {

namespace {

// More sound than this is not decoded at once, however far the machine lags behind.
constexpr size_t n_at_once_max = 5 * sample_rate;
// What may wait: of a pipe little, since its writer can wait; of a microphone all.
constexpr size_t n_pipe_waiting_max = 30 * sample_rate;
constexpr size_t n_live_waiting_max = size_t(3600) * sample_rate;

class StreamRun {
  public:
    StreamRun(const TranscribeArgs& args, const Job& job, Console& console, Session& session)
        : args_(args),
          job_(job),
          console_(console),
          session_(session),
          stream_(session, {.decoding = args.options}),
          delivery_(args, console, 1),
          captions_(stdout_columns()) {}

    ExitCode operator()() {
        auto sound = args_.stream.live ? LiveSound::open_device(args_.stream.device)
                                       : LiveSound::open_pipe(job_.input, args_.stream.raw);
        if (!sound) return failed(sound.error(), exit_audio);
        console_.detail(job_.input + ": " + (*sound)->format());
        if (args_.stream.live) console_.note("listening; Ctrl-C ends it");
        CancelOnInterrupt scope(session_);
        const Status heard = listen(**sound);
        const Status finished = finish();
        if (!heard) return failed(heard.error(), exit_audio);
        if (!finished) return failed(finished.error(), exit_inference);
        if (console_.broken()) return console_.broken_code();
        return interrupted() && !args_.stream.live ? exit_interrupted : exit_done;
    }

  private:
    using Style = Delivery::Style;

    // Errors: those of the sound. A fault of computing is met again by finish().
    Status listen(LiveSound& sound) {
        SoundReader reader(sound, args_.stream.live ? n_live_waiting_max : n_pipe_waiting_max);
        std::vector<float> samples;
        while (!interrupted() && !console_.broken()) {
            TRY_SET(const bool goes_on, reader.take(samples, n_at_once_max));
            if (!goes_on) break;
            stream_.feed(samples);
            if (!stream_.is_due()) continue;
            const auto text = stream_.update();
            if (!text) break;
            show(*text);
        }
        return {};
    }

    Status finish() {
        auto text = stream_.finish();
        // Ctrl-C between two decodings has cancelled this one.
        if (!text && text.error().code == Code::aborted) text = stream_.finish();
        if (!text) return text.error();
        show(*text);
        if (on_terminal()) console_.result(captions_.close());
        Transcript transcript = stream_.transcript();
        const bool whole = args_.stream.live || !interrupted();
        transcript.outcome = whole ? Outcome::complete : Outcome::truncated;
        return delivery_.finish(job_, transcript);
    }

    bool on_terminal() const { return delivery_.style() == Style::lines && stdout_is_terminal(); }

    void show(const StreamText& text) {
        if (on_terminal()) {
            console_.result(captions_.show(text.committed, text.partial));
        } else if (delivery_.style() == Style::lines) {
            if (!text.committed.empty()) console_.result(line(text.committed));
        } else if (delivery_.style() == Style::events) {
            if (!text.committed.empty()) {
                console_.result(commit_event(job_.input, text.committed) + "\n");
            }
            if (text.partial != partial_) {
                console_.result(partial_event(job_.input, text.partial) + "\n");
            }
            partial_ = text.partial;
        }
    }

    std::string line(const std::vector<Word>& words) const {
        Segment segment;
        segment.t0_ms = words.front().t0_ms;
        segment.t1_ms = words.back().t1_ms;
        for (const Word& word : words) segment.text += word.text;
        const auto cue = make_cue(segment, 0);
        if (!cue) return {};
        return (args_.show_times ? cue_line(*cue) : cue->text) + "\n";
    }

    ExitCode failed(const Error& error, ExitCode of_subject) {
        delivery_.failed(job_, error);
        return exit_code(error, of_subject);
    }

    const TranscribeArgs& args_;
    const Job& job_;
    Console& console_;
    Session& session_;
    Stream stream_;
    Delivery delivery_;
    Captions captions_;
    std::string partial_;  // as the last event told it
};

}  // namespace

ExitCode run_stream(const TranscribeArgs& args, const Job& job, Console& console,
                    Session& session) {
    return StreamRun(args, job, console, session)();
}

}  // namespace transcribe::cli
