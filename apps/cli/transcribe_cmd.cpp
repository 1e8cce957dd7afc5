#include "cli/transcribe_cmd.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <set>

#include "audio/decode.h"
#include "cli/clip.h"
#include "cli/delivery.h"
#include "cli/interrupt.h"
#include "cli/model.h"
#include "cli/system.h"

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

// One recording that could be opened.
struct Recording {
    const Job* job;
    std::unique_ptr<AudioFile> file;
    std::unique_ptr<ClipSource> clip;
    double done_s = 0, total_s = 0;
};

class Run {
  public:
    Run(const TranscribeArgs& args, Console& console, Session& session)
        : args_(args), console_(console), session_(session), delivery_(args, console) {}

    ExitCode operator()(const std::vector<Job>& jobs) {
        const auto n_group = static_cast<size_t>(args_.session.batch_size);
        for (size_t at = 0; at < jobs.size() && !stopped(); at += n_group) {
            const size_t n = std::min(n_group, jobs.size() - at);
            group(std::span(jobs).subspan(at, n), jobs.size());
        }
        console_.progress().clear();
        if (interrupted()) console_.warning("", "interrupted; this is what was decoded so far");
        return code();
    }

  private:
    bool stopped() const { return interrupted() || console_.broken(); }

    ExitCode code() const {
        if (interrupted()) return exit_interrupted;
        if (console_.broken()) return console_.broken_code();
        if (faults_.empty()) return exit_done;
        return n_done_ > 0 || faults_.size() > 1 ? exit_some_failed : *faults_.begin();
    }

    void fail(const Job& job, const Error& error, ExitCode of_subject) {
        faults_.insert(exit_code(error, of_subject));
        delivery_.failed(job, error);
    }

    Expected<Recording> open(const Job& job) {
        TRY_SET(auto file, AudioFile::open(job.input));
        auto clip = std::make_unique<ClipSource>(*file, args_.clip);
        return Recording{.job = &job, .file = std::move(file), .clip = std::move(clip)};
    }

    void group(std::span<const Job> jobs, size_t n_jobs) {
        std::vector<Recording> recordings;
        for (const Job& job : jobs) {
            if (Status names = check_outputs(job, args_); !names) {
                fail(job, names.error(), exit_some_failed);
                continue;
            }
            auto recording = open(job);
            if (recording) {
                recordings.push_back(*std::move(recording));
            } else {
                fail(job, recording.error(), exit_audio);
            }
        }
        if (recordings.empty()) return;
        if (n_jobs > 1) {
            for (const Recording& each : recordings) console_.note(each.job->input + ":");
        }
        const auto name = std::filesystem::path(recordings[0].job->input).filename();
        console_.progress().start(name.string(), Unit::seconds);
        decode(recordings);
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
            recordings[static_cast<size_t>(index)].done_s = done_s;
            recordings[static_cast<size_t>(index)].total_s = total_s;
            show_progress(recordings);
        };
        options.on_segment = [this, &recordings](int index, const Segment& segment) {
            if (delivery_.is_live()) live(*recordings[static_cast<size_t>(index)].job, segment);
        };
        return options;
    }

    void show_progress(const std::vector<Recording>& recordings) {
        double done_s = 0, total_s = 0;
        bool all_known = true;
        for (const Recording& each : recordings) {
            done_s += each.done_s;
            total_s += each.total_s;
            all_known = all_known && each.total_s > 0;
        }
        console_.progress().update(done_s, all_known ? total_s : 0);
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
        n_done_++;
        console_.detail(fmt::format("language {} ({:.0f}%), {:.2f} s of sound", transcript.language,
                                    transcript.language_probability * 100,
                                    transcript.duration_s - args_.clip.offset_s));
    }

    const TranscribeArgs& args_;
    Console& console_;
    Session& session_;
    Delivery delivery_;
    std::set<ExitCode> faults_;
    int n_done_ = 0;
};

}  // namespace

int run_transcribe(const TranscribeArgs& args) {
    Console console(talk(args), progress_kind(args));
    const auto jobs = plan(args);
    if (!jobs) return fail(console, jobs.error(), exit_usage);
    auto machine = open_machine({args.model, args.open, args.session}, console);
    if (!machine) return fail(console, machine.error(), exit_model);
    if (const auto language = machine->session->check(args.options); !language) {
        return fail(console, language.error(), exit_usage);
    }
    return Run(args, console, *machine->session)(*jobs);
}

}  // namespace transcribe::cli
