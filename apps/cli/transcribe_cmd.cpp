#include "cli/transcribe_cmd.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>

#include "audio/decode.h"
#include "cli/clip.h"
#include "cli/delivery.h"
#include "cli/interrupt.h"
#include "cli/model.h"
#include "cli/stream_cmd.h"
#include "cli/system.h"
#include "cli/tally.h"

namespace transcribe::cli {

namespace {

Console::Talk talk(const TranscribeArgs& args) {
    if (args.quiet) return Console::Talk::quiet;
    return args.verbose ? Console::Talk::verbose : Console::Talk::normal;
}

Progress::Kind progress_kind(const TranscribeArgs& args) {
    const bool bar = stderr_is_terminal() && !args.quiet;
    if (args.progress == ShowProgress::never) return Progress::Kind::none;
    if (bar) return Progress::Kind::bar;
    return args.progress == ShowProgress::always ? Progress::Kind::lines : Progress::Kind::none;
}

// Seconds of the part that will be read, by the header: 0 where it does not say, and for what can
// be read only once; nothing for what cannot be opened.
std::optional<double> expected_s(const Job& job, const Clip& clip) {
    std::error_code ignored;
    if (job.fault) return std::nullopt;
    if (!std::filesystem::is_regular_file(job.input, ignored)) return 0;
    const auto file = AudioFile::open(job.input);
    if (!file) return std::nullopt;
    const double left_s = std::max((*file)->duration_hint() - clip.offset_s, 0.0);
    return clip.duration_s > 0 ? std::min(left_s, clip.duration_s) : left_s;
}

// One recording that could be opened.
struct Recording {
    const Job* job;
    std::unique_ptr<AudioFile> file;
    std::unique_ptr<ClipSource> clip;
};

class Run {
  public:
    Run(const TranscribeArgs& args, Console& console, Session& session,
        const std::vector<Job>& jobs)
        : args_(args),
          console_(console),
          session_(session),
          jobs_(jobs),
          delivery_(args, console, jobs.size()),
          tally_(jobs.size()) {}

    ExitCode operator()() {
        const std::vector<const Job*> left = not_skipped();
        if (left.size() > 1 && console_.progress().is_shown()) expect(left);
        console_.progress().start("", Unit::seconds);
        const auto n_group = static_cast<size_t>(std::max(1, args_.session.batch_size));
        for (size_t at = 0; at < left.size() && !stopped(); at += n_group) {
            group(std::span(left).subspan(at, std::min(n_group, left.size() - at)));
        }
        console_.progress().clear();
        sum_up();
        if (interrupted()) return exit_interrupted;
        return console_.broken() ? console_.broken_code() : tally_.code();
    }

  private:
    bool stopped() const { return interrupted() || console_.broken(); }
    size_t index_of(const Job& job) const { return static_cast<size_t>(&job - jobs_.data()); }

    std::vector<const Job*> not_skipped() {
        std::vector<const Job*> left;
        for (const Job& job : jobs_) {
            if (args_.skip_existing && is_done(job, args_)) {
                tally_.skip(index_of(job));
            } else {
                left.push_back(&job);
            }
        }
        return left;
    }

    // Asks the headers for the length of every recording, for the progress of the whole run.
    void expect(const std::vector<const Job*>& jobs) {
        constexpr size_t n_asked_max = 2000;  // more take too long
        if (jobs.size() > n_asked_max) return;
        for (const Job* job : jobs) tally_.expect(index_of(*job), expected_s(*job, args_.clip));
    }

    void sum_up() {
        if (interrupted()) {
            const std::string count = jobs_.size() > 1 ? fmt::format("{} of {} inputs are done",
                                                                     tally_.n_done(), jobs_.size())
                                                       : "this is what was decoded so far";
            console_.warning("", "interrupted; " + count);
        }
        if (const std::string skips = tally_.skips(); !skips.empty()) console_.note(skips);
        if (const std::string failures = tally_.failures(); !failures.empty()) {
            console_.error("", failures);
        }
    }

    void fail(const Job& job, const Error& error, ExitCode of_subject) {
        tally_.fail(index_of(job), job.input, exit_code(error, of_subject));
        delivery_.failed(job, error);
    }

    Expected<Recording> open(const Job& job) {
        TRY_SET(auto file, AudioFile::open(job.input));
        auto clip = std::make_unique<ClipSource>(*file, args_.clip);
        return Recording{.job = &job, .file = std::move(file), .clip = std::move(clip)};
    }

    void group(std::span<const Job* const> jobs) {
        std::vector<Recording> recordings;
        for (const Job* job : jobs) {
            if (Status ready = check_job(*job, args_); !ready) {
                fail(*job, ready.error(), exit_some_failed);
                continue;
            }
            auto recording = open(*job);
            if (recording) {
                recordings.push_back(*std::move(recording));
            } else {
                fail(*job, recording.error(), exit_audio);
            }
        }
        if (recordings.empty()) return;
        if (jobs_.size() > 1) {
            for (const Recording& each : recordings) console_.note(each.job->input + ":");
        }
        console_.progress().label(label(*recordings[0].job));
        decode(recordings);
    }

    // "3 of 12: talk.wav"
    std::string label(const Job& job) const {
        const std::string name = std::filesystem::path(job.input).filename().string();
        if (jobs_.size() == 1) return name;
        return fmt::format("{} of {}: {}", index_of(job) + 1, jobs_.size(), name);
    }

    void decode(std::vector<Recording>& recordings) {
        std::vector<AudioSource*> sources;
        for (Recording& each : recordings) sources.push_back(each.clip.get());
        const auto before = std::chrono::steady_clock::now();
        CancelOnInterrupt scope(session_);
        auto transcripts = session_.transcribe(sources, options_for(recordings));
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - before;
        for (size_t i = 0; i < recordings.size(); i++) {
            warn(recordings[i]);
            if (transcripts) {
                deliver(*recordings[i].job, (*transcripts)[i]);
            } else if (transcripts.error().code != Code::aborted) {
                fail(*recordings[i].job, transcripts.error(), exit_inference);
            }
        }
        console_.detail(fmt::format("{:.2f} s taken", taken.count()));
    }

    Options options_for(std::vector<Recording>& recordings) {
        Options options = args_.options;
        options.on_progress = [this, &recordings](int index, double done_s, double total_s) {
            const Job& job = *recordings[static_cast<size_t>(index)].job;
            tally_.progress(index_of(job), done_s, total_s);
            console_.progress().update(tally_.done_s(), tally_.total_s());
        };
        options.on_segment = [this, &recordings](int index, const Segment& segment) {
            if (delivery_.is_live()) live(*recordings[static_cast<size_t>(index)].job, segment);
        };
        return options;
    }

    void live(const Job& job, Segment segment) {
        shift(segment, args_.clip);
        delivery_.segment(job, segment);
        if (console_.broken()) session_.cancel();  // nobody reads on
    }

    void warn(const Recording& recording) {
        for (const std::string& sentence : recording.file->warnings()) {
            console_.warning(recording.job->input, sentence);
        }
    }

    void deliver(const Job& job, Transcript& transcript) {
        if (!transcript.note.empty()) console_.warning(job.input, transcript.note);
        const bool failed =
            transcript.outcome == Outcome::invalid || transcript.outcome == Outcome::too_long;
        if (failed) return fail(job, transcript.error, exit_audio);
        shift(transcript, args_.clip);
        const Status delivered = delivery_.finish(job, transcript);
        if (!delivered) return fail(job, delivered.error(), exit_some_failed);
        if (transcript.error.what.empty()) tally_.done(index_of(job));
        console_.detail(fmt::format("language {} ({:.0f}%), {:.2f} s of sound", transcript.language,
                                    transcript.language_probability * 100,
                                    transcript.duration_s - args_.clip.offset_s));
    }

    const TranscribeArgs& args_;
    Console& console_;
    Session& session_;
    const std::vector<Job>& jobs_;
    Delivery delivery_;
    Tally tally_;
};

}  // namespace

int run_transcribe(const TranscribeArgs& args) {
    Console console(talk(args), progress_kind(args));
    for (const std::string& sentence : args.warnings) console.warning("", sentence);
    const auto jobs = plan(args);
    if (!jobs) return fail(console, jobs.error(), exit_usage);
    SessionOptions session = args.session;
    if (args.options.vad) {
        auto voice = open_voice(args.voice.model, console);
        if (!voice) return fail(console, voice.error(), exit_model);
        session.voice = *std::move(voice);
    }
    auto machine = open_machine({args.model, args.open, session}, console);
    if (!machine) return fail(console, machine.error(), exit_model);
    if (const auto language = machine->session->check(args.options); !language) {
        return fail(console, language.error(), exit_usage);
    }
    if (args.stream.on || args.stream.live) {
        return run_stream(args, jobs->at(0), console, *machine->session);
    }
    return Run(args, console, *machine->session, *jobs)();
}

}  // namespace transcribe::cli
