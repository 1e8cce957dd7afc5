// Text of a recording while it goes on, for any family.
//
//   feed -> window of recent sound -> Session, again and again -> words
//        -> what two decodings agree on is committed and never changes -> the window moves on
//
// What was committed before the window is the initial prompt of the next decoding, and what was
// committed of the window is the prefix of its text, which is so much less to decode. Between calls
// nothing runs: the caller says when to decode, and may feed more sound in between.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/session.h"

namespace transcribe {

struct StreamOptions {
    // Language, prompt, thresholds; callbacks, prefix and parts of a recording play no role. The
    // whole ladder of temperatures is climbed at the end only: a bad decoding is not believed, and
    // the next one comes soon.
    Options decoding;
    double step_s = 1;         // of new sound before the window is decoded again
    double window_s = 15;      // a longer window drops what was committed, at the end of a segment
    double window_s_max = 28;  // a longer one commits without agreement
};

struct StreamText {
    std::vector<Word> committed;  // new since the last time, in order; never taken back
    std::string partial;          // what follows them, for now
};

class Stream {
  public:
    // Transcribes one recording. Errors: those of Session::transcribe.
    using Decode = std::function<Expected<Transcript>(AudioSource&, const Options&)>;
    Stream(Decode decode, StreamOptions options);
    // By a session, which must outlive the stream.
    Stream(Session& session, StreamOptions options);

    void feed(std::span<const float> samples);  // 16 kHz mono
    // Has enough new sound come for another decoding?
    bool is_due() const;
    // Decodes the window. Errors: those of decoding, aborted among them; the stream is then as
    // before.
    Expected<StreamText> update();
    // The last decoding: all words are committed. Errors: as above.
    Expected<StreamText> finish();

    // All that was committed, in segments that end with a sentence or before a pause.
    Transcript transcript() const;

  private:
    struct Heard {  // one decoding
        bool believed = true;
        std::vector<Word> words;
        std::vector<i64> segment_ends_ms;
    };
    Expected<StreamText> advance(bool last);
    Expected<Heard> hear(bool last);
    Options options_now(bool last) const;
    size_t n_sure(std::span<const Word> agreed) const;
    void commit(std::span<const Word> words);
    void move_window(const Heard& heard);
    void drop_until(i64 time_ms);
    i64 window_end_ms() const;
    double window_s() const { return static_cast<double>(window_.size()) / sample_rate; }

    Decode decode_;
    StreamOptions options_;
    std::vector<float> window_;
    i64 window_start_ms_ = 0;
    size_t n_new_ = 0;          // samples that no decoding has seen
    std::vector<Word> said_;    // committed, in the window
    std::vector<Word> unsure_;  // of the last decoding, after what was committed
    size_t n_alike_ = 0;        // of them, as in the decoding before
    std::string prompt_;        // committed, before the window
    Transcript transcript_;
};

}  // namespace transcribe
