#include "engine/stream.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "engine/agreement.h"

namespace transcribe {

namespace {

// Of the text before the window the decoder sees this much: enough for names and style.
constexpr size_t n_prompt_bytes_max = 400;
// More words than this may be more tokens than a decoder takes as given.
constexpr size_t n_prefix_words_max = 60;
// Where a window must be cut without agreement, words this close to its end may go on.
constexpr i64 unsafe_end_ms = 2000;
// Sound without words is kept this long: a word may have begun.
constexpr i64 silence_kept_ms = 2000;
// And this much of what was said: without speech before it, noise is taken for words.
constexpr i64 speech_kept_ms = 5000;
constexpr i64 pause_ms = 2000;  // ends a segment of the transcript
// A word less likely than this is committed when three decodings agree on it, not two.
constexpr float sure_probability = 0.5f;

i64 ms_of(size_t n_samples) {
    return static_cast<i64>(n_samples) * 1000 / sample_rate;
}

bool ends_sentence(std::string_view word) {
    for (const char* sign : {".", "?", "!", "\u3002", "\uff1f", "\uff01"}) {
        if (trim(word).ends_with(sign)) return true;
    }
    return false;
}

std::string joined(std::span<const Word> words) {
    std::string text;
    for (const Word& word : words) text += word.text;
    return text;
}

// The end of `text`, from a blank or at least from a whole character on.
std::string tail(std::string_view text, size_t n_bytes_max) {
    if (text.size() <= n_bytes_max) return std::string(text);
    text.remove_prefix(text.size() - n_bytes_max);
    const size_t blank = text.find(' ');
    if (blank != text.npos) return std::string(text.substr(blank));
    while (!text.empty() && (static_cast<unsigned char>(text[0]) & 0xC0) == 0x80) {
        text.remove_prefix(1);
    }
    return std::string(text);
}

}  // namespace

Stream::Stream(Decode decode, StreamOptions options)
    : decode_(std::move(decode)), options_(std::move(options)) {}

Stream::Stream(Session& session, StreamOptions options)
    : Stream(
          [&session](AudioSource& source, const Options& decoding) -> Expected<Transcript> {
              AudioSource* recording = &source;
              TRY_SET(auto transcripts, session.transcribe({&recording, 1}, decoding));
              return std::move(transcripts[0]);
          },
          std::move(options)) {}

void Stream::feed(std::span<const float> samples) {
    window_.insert(window_.end(), samples.begin(), samples.end());
    n_new_ += samples.size();
    transcript_.duration_s += static_cast<double>(samples.size()) / sample_rate;
}

bool Stream::is_due() const {
    return static_cast<double>(n_new_) >= options_.step_s * sample_rate;
}

Expected<StreamText> Stream::update() {
    return advance(false);
}

Expected<StreamText> Stream::finish() {
    return window_.empty() ? StreamText() : advance(true);
}

Transcript Stream::transcript() const {
    Transcript transcript = transcript_;
    transcript.text = std::string(trim(transcript.text));
    return transcript;
}

i64 Stream::window_end_ms() const {
    return window_start_ms_ + ms_of(window_.size());
}

Options Stream::options_now(bool last) const {
    Options options = options_.decoding;
    options.on_segment = nullptr;
    options.on_progress = nullptr;
    options.clips.clear();
    options.word_timestamps = true;
    options.prefix = said_.size() <= n_prefix_words_max ? joined(said_) : "";
    if (!last) {
        options.one_window = true;
        options.best_of = 1;
        options.temperature_increment = std::min(options.temperature_increment * 2, 1.0f);
    }
    const std::string_view asked = trim(options.initial_prompt);
    options.initial_prompt = asked.empty() ? prompt_ : std::string(asked) + prompt_;
    // Once heard, the language of the first words is that of all.
    if (!transcript_.language.empty() && !options.detect_language_per_window) {
        options.language = transcript_.language;
    }
    return options;
}

Expected<Stream::Heard> Stream::hear(bool last) {
    MemorySource source(window_);
    const Options options = options_now(last);
    TRY_SET(const Transcript transcript, decode_(source, options));
    if (transcript.outcome != Outcome::complete) return transcript.error;
    Heard heard;
    for (const Segment& segment : transcript.segments) {
        // Noise behind speech is often taken for "Thank you", with much confidence in the words.
        if (segment.no_speech_prob > options.no_speech_threshold) continue;
        const bool doubtful = segment.compression_ratio > options.compression_ratio_threshold ||
                              segment.avg_logprob < options.logprob_threshold;
        if (doubtful && !last) {
            heard.believed = false;
            break;
        }
        if (segment.words.empty()) {  // whole segments then have to agree
            heard.words.push_back({segment.text, segment.t0_ms, segment.t1_ms, 1});
        }
        heard.words.insert(heard.words.end(), segment.words.begin(), segment.words.end());
        heard.segment_ends_ms.push_back(window_start_ms_ + heard.words.back().t1_ms);
    }
    for (Word& word : heard.words) {
        word.t0_ms += window_start_ms_;
        word.t1_ms += window_start_ms_;
    }
    if (!heard.words.empty() && transcript_.language.empty()) {
        transcript_.language = transcript.language;
        transcript_.language_probability = transcript.language_probability;
    }
    return heard;
}

Expected<StreamText> Stream::advance(bool last) {
    const bool full = window_s() > options_.window_s_max;
    TRY_SET(const Heard heard, hear(last || full));
    n_new_ = 0;
    if (!heard.believed) return StreamText{{}, joined(unsure_)};
    const std::span<const Word> words = heard.words;
    const std::span<const Word> rest = words.subspan(n_repeated(said_, words));
    const size_t n_alike = n_agreed(unsure_, rest);
    size_t n = n_sure(rest.first(n_alike));
    if (full) {
        const i64 safe_ms = window_end_ms() - unsafe_end_ms;
        while (n < rest.size() && rest[n].t1_ms <= safe_ms) n++;
    }
    if (last) n = rest.size();
    StreamText text;
    text.committed.assign(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(n));
    commit(text.committed);
    unsure_.assign(rest.begin() + static_cast<std::ptrdiff_t>(n), rest.end());
    n_alike_ = n_alike - std::min(n, n_alike);
    text.partial = joined(unsure_);
    move_window(heard);
    return text;
}

// How many of the words on which two decodings agree are to be committed.
size_t Stream::n_sure(std::span<const Word> agreed) const {
    size_t n = std::min(n_alike_, agreed.size());
    while (n < agreed.size() && agreed[n].probability >= sure_probability) n++;
    return n;
}

void Stream::commit(std::span<const Word> words) {
    for (const Word& word : words) {
        auto& segments = transcript_.segments;
        const bool begins = segments.empty() || ends_sentence(segments.back().text) ||
                            word.t0_ms - segments.back().t1_ms > pause_ms;
        if (begins) {
            segments.emplace_back();
            segments.back().id = static_cast<int>(segments.size()) - 1;
            segments.back().t0_ms = word.t0_ms;
        }
        Segment& segment = segments.back();
        segment.t1_ms = std::max(segment.t0_ms, word.t1_ms);
        segment.text += word.text;
        segment.words.push_back(word);
        transcript_.text += word.text;
        said_.push_back(word);
    }
}

// Drops sound whose words are committed, or that holds none.
void Stream::move_window(const Heard& heard) {
    if (window_s() <= options_.window_s) return;
    if (heard.words.empty()) return drop_until(window_end_ms() - silence_kept_ms);
    const i64 last_ms = window_end_ms() - speech_kept_ms;
    i64 said_ms = 0, cut_ms = 0;
    for (const Word& word : said_) {
        if (word.t1_ms <= last_ms) said_ms = word.t1_ms;
    }
    for (i64 end_ms : heard.segment_ends_ms) {
        if (end_ms <= said_ms) cut_ms = end_ms;
    }
    // A long sentence: rather cut inside it than let the window grow to its limit.
    const double middle_s = (options_.window_s + options_.window_s_max) / 2;
    if (cut_ms <= window_start_ms_ && window_s() > middle_s) cut_ms = said_ms;
    drop_until(cut_ms);
}

void Stream::drop_until(i64 time_ms) {
    const i64 dropped_ms = std::min(time_ms, window_end_ms()) - window_start_ms_;
    if (dropped_ms <= 0) return;
    const auto n_samples = dropped_ms * sample_rate / 1000;
    window_.erase(window_.begin(), window_.begin() + n_samples);
    window_start_ms_ += dropped_ms;
    const auto still = std::find_if(said_.begin(), said_.end(), [this](const Word& word) {
        return word.t1_ms > window_start_ms_;
    });
    prompt_ = tail(prompt_ + joined({said_.begin(), still}), n_prompt_bytes_max);
    said_.erase(said_.begin(), still);
}

}  // namespace transcribe
