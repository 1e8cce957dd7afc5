#include "families/whisper/segments.h"

#include <algorithm>

#include "base/text.h"

namespace transcribe {

namespace {

constexpr i64 frames_per_timestamp = 2;  // steps of 20 ms

class Cutter {
  public:
    Cutter(std::span<const int> tokens, int timestamp_begin, const Window& window)
        : tokens_(tokens), begin_(timestamp_begin), window_(window) {}

    Cut cut() const {
        std::vector<size_t> ends = ends_of_pairs();
        Cut out;
        out.ends_in_single_timestamp = ends_in_single();
        if (ends.empty()) {
            out.slices = {{0, tokens_.size(), window_.seek_frames, window_.seek_frames + length()}};
            out.advance_frames = window_.n_frames;
        } else {
            // After a single timestamp there is no more speech; after a pair some was cut off.
            if (keeps_rest(ends.back())) out.ends_in_single_timestamp = true;
            if (out.ends_in_single_timestamp) ends.push_back(tokens_.size());
            out.slices = slices_up_to(ends);
            out.advance_frames = out.ends_in_single_timestamp ? window_.n_frames
                                                              : frames_of(tokens_[ends.back() - 1]);
        }
        // The reference would decode the same window forever.
        if (out.advance_frames <= 0) out.advance_frames = std::max<i64>(window_.n_frames, 1);
        return out;
    }

  private:
    bool is_timestamp(size_t i) const { return tokens_[i] >= begin_; }
    i64 frames_of(int token) const {
        return (static_cast<i64>(token) - begin_) * frames_per_timestamp;
    }

    bool ends_in_single() const {
        size_t n = tokens_.size();
        return n >= 2 && is_timestamp(n - 1) && !is_timestamp(n - 2);
    }

    // Is there text after the last pair that is to stay?
    bool keeps_rest(size_t rest) const { return window_.is_last && tokens_.size() > rest + 1; }

    // One past the first timestamp of each pair.
    std::vector<size_t> ends_of_pairs() const {
        std::vector<size_t> ends;
        for (size_t i = 1; i < tokens_.size(); i++) {
            if (is_timestamp(i - 1) && is_timestamp(i)) ends.push_back(i);
        }
        return ends;
    }

    std::vector<Slice> slices_up_to(const std::vector<size_t>& ends) const {
        std::vector<Slice> slices;
        size_t first = 0;
        for (size_t last : ends) {
            // Text before any timestamp starts with the window (the reference takes its id for a
            // time).
            i64 t0 = is_timestamp(first) ? frames_of(tokens_[first]) : 0;
            i64 t1 = is_timestamp(last - 1) ? frames_of(tokens_[last - 1]) : window_.n_frames;
            slices.push_back({first, last, window_.seek_frames + t0, window_.seek_frames + t1});
            first = last;
        }
        return slices;
    }

    // Of a window that is one segment: up to its last timestamp, if that is not 0.00.
    i64 length() const {
        for (size_t i = tokens_.size(); i-- > 0;) {
            if (is_timestamp(i))
                return tokens_[i] == begin_ ? window_.n_frames : frames_of(tokens_[i]);
        }
        return window_.n_frames;
    }

    std::span<const int> tokens_;
    int begin_;
    Window window_;
};

}  // namespace

Cut cut_window(std::span<const int> tokens, int timestamp_begin, const Window& window) {
    return Cutter(tokens, timestamp_begin, window).cut();
}

bool has_speech(i64 t0, i64 t1, std::string_view text) {
    return t0 != t1 && !trim(text).empty();
}

}  // namespace transcribe
