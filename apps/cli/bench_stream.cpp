// The clock is that of the sound: it moves on by the time that each decoding really takes, and
// skips the waiting for sound. So an hour is measured in the time of its decodings.
#include "cli/bench_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "audio/decode.h"
#include "cli/interrupt.h"
#include "engine/agreement.h"
#include "engine/stream.h"
#include "output/graphemes.h"

namespace transcribe::cli {

namespace {

struct StreamReport {
    double duration_s = 0;
    std::string text, text_batch;  // as it came, and in one go
    size_t n_words = 0, n_words_batch = 0;
    double alike = 0;  // share of the words in one go
    std::vector<double> delays_s, decodings_ms;
    double lag_s = 0;  // from the end of the sound to the end of the text
};

Expected<std::vector<float>> all_samples(const std::string& path) {
    TRY_SET(auto file, AudioFile::open(path));
    std::vector<float> samples, block(1 << 16);
    for (size_t n = 1; n > 0;) {
        TRY_SET(n, file->read(block));
        samples.insert(samples.end(), block.begin(), block.begin() + static_cast<i64>(n));
    }
    return samples;
}

std::vector<Word> words_of(const std::string& text) {
    std::vector<Word> words;
    for (std::string_view part : line_parts(text)) words.push_back({.text = std::string(part)});
    return words;
}

class Rehearsal {
  public:
    Rehearsal(Session& session, const Options& options, std::span<const float> samples)
        : stream_(session, {.decoding = options}), samples_(samples) {}

    Expected<StreamReport> operator()(Console& console) {
        const double total_s = seconds(samples_.size());
        report_.duration_s = total_s;
        while (n_fed_ < samples_.size()) {
            hear_until(now_s_);
            if (!stream_.is_due() && n_fed_ < samples_.size()) {
                now_s_ = seconds(n_fed_) + step_s;
                continue;
            }
            TRY(timed([this] { return stream_.update(); }));
            console.progress().update(seconds(n_fed_), total_s);
        }
        TRY(timed([this] { return stream_.finish(); }));
        report_.lag_s = now_s_ - total_s;
        return std::move(report_);
    }

    Transcript transcript() const { return stream_.transcript(); }

  private:
    static constexpr double step_s = 0.1;

    static double seconds(size_t n_samples) { return static_cast<double>(n_samples) / sample_rate; }

    void hear_until(double time_s) {
        const auto n = std::min(samples_.size(), static_cast<size_t>(time_s * sample_rate));
        if (n <= n_fed_) return;
        stream_.feed(samples_.subspan(n_fed_, n - n_fed_));
        n_fed_ = n;
    }

    template <class Decode>
    Status timed(Decode decode) {
        const auto before = std::chrono::steady_clock::now();
        TRY_SET(const StreamText text, decode());
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - before;
        now_s_ += taken.count();
        report_.decodings_ms.push_back(taken.count() * 1000);
        for (const Word& word : text.committed) {
            report_.delays_s.push_back(now_s_ - static_cast<double>(word.t1_ms) / 1000);
        }
        return {};
    }

    Stream stream_;
    std::span<const float> samples_;
    size_t n_fed_ = 0;
    double now_s_ = 0;  // since the sound began
    StreamReport report_;
};

Expected<StreamReport> rehearse(const BenchArgs& args, Session& session, Console& console) {
    TRY_SET(const auto samples, all_samples(args.file));
    Options options;
    options.language = args.language;
    Rehearsal rehearsal(session, options, samples);
    TRY_SET(StreamReport report, rehearsal(console));
    MemorySource source(samples);
    AudioSource* whole = &source;
    TRY_SET(const auto batch, session.transcribe({&whole, 1}, options));
    if (batch[0].outcome != Outcome::complete) return batch[0].error;
    report.text = rehearsal.transcript().text;
    report.text_batch = batch[0].text;
    const auto ours = words_of(report.text), theirs = words_of(report.text_batch);
    const auto n_all = static_cast<double>(std::max<size_t>(theirs.size(), 1));
    report.n_words = ours.size();
    report.n_words_batch = theirs.size();
    report.alike = std::max(0.0, 1 - static_cast<double>(n_different(theirs, ours)) / n_all);
    return report;
}

void print_text(const BenchArgs& args, const StreamReport& report, Console& console) {
    console.result(fmt::format(
        "model       {}\naudio       {} ({:.2f} s), as it comes\n\n"
        "delay       median {:.2f} s, p90 {:.2f} s, from a word's end to its text\n"
        "text        {} words, {} in one go; {:.1f}% alike\n"
        "decodings   {}, median {:.0f} ms, p90 {:.0f} ms\n"
        "at the end  {:.2f} s from the last sound to the last text\n",
        args.model, args.file, report.duration_s, quantile(report.delays_s, 0.5),
        quantile(report.delays_s, 0.9), report.n_words, report.n_words_batch, report.alike * 100,
        report.decodings_ms.size(), quantile(report.decodings_ms, 0.5),
        quantile(report.decodings_ms, 0.9), report.lag_s));
}

void print_json(const BenchArgs& args, const StreamReport& report, Console& console) {
    const nlohmann::ordered_json value = {
        {"model", args.model},
        {"audio", args.file},
        {"duration_s", report.duration_s},
        {"delay_s",
         {{"median", quantile(report.delays_s, 0.5)}, {"p90", quantile(report.delays_s, 0.9)}}},
        {"words", report.n_words},
        {"words_in_one_go", report.n_words_batch},
        {"alike", report.alike},
        {"decodings", report.decodings_ms.size()},
        {"decoding_ms",
         {{"median", quantile(report.decodings_ms, 0.5)},
          {"p90", quantile(report.decodings_ms, 0.9)}}},
        {"lag_s", report.lag_s},
        {"text", report.text},
        {"text_in_one_go", report.text_batch}};
    console.result(value.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

}  // namespace

double quantile(std::vector<double> values, double share) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    const double at = share * static_cast<double>(values.size() - 1);
    const auto below = static_cast<size_t>(at);
    const size_t above = std::min(below + 1, values.size() - 1);
    return values[below] + (at - std::floor(at)) * (values[above] - values[below]);
}

int bench_stream(const BenchArgs& args, Machine& machine, Console& console) {
    console.progress().start("sound", Unit::seconds);
    CancelOnInterrupt scope(*machine.session);
    const auto report = rehearse(args, *machine.session, console);
    console.progress().clear();
    if (!report) return fail(console, report.error(), exit_audio);
    args.json ? print_json(args, *report, console) : print_text(args, *report, console);
    return console.broken() ? console.broken_code() : exit_done;
}

}  // namespace transcribe::cli
