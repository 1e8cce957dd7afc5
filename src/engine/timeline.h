// The map between a recording and what is left of it when long pauses are cut out.
//
// The parts that are kept lie one after another on the speech's own clock. Where two meet is a
// join: one instant of speech, two of the recording, with the cut-out pause between them.
#pragma once

#include <span>
#include <vector>

#include "asr/types.h"

namespace transcribe {

// What is kept of a recording: its regions of speech with enough of the pauses around them that no
// word is clipped and the voice does not run on without a breath. Pauses that would hardly get
// shorter are kept whole.
std::vector<TimeSpan> kept_parts(std::span<const TimeSpan> regions, i64 duration_ms);

// What lies in a part of both; each in order, its parts apart from each other or touching.
std::vector<TimeSpan> common_parts(std::span<const TimeSpan> a, std::span<const TimeSpan> b);

class Timeline {
  public:
    // Parts in order, apart from each other, none empty.
    explicit Timeline(std::vector<TimeSpan> kept);

    const std::vector<TimeSpan>& kept() const { return kept_; }
    // The same parts on the speech's clock.
    const std::vector<TimeSpan>& heard() const { return heard_; }
    i64 length_ms() const { return heard_.empty() ? 0 : heard_.back().t1_ms; }

    // A time of the speech in the recording. On a join a start belongs to the part after it and an
    // end to the part before. Nothing lies outside of the kept parts.
    i64 start_ms(i64 t_ms) const;
    i64 end_ms(i64 t_ms) const;
    // A time of the recording in the speech; one within a pause is its join.
    i64 heard_ms(i64 t_ms) const;

    // A segment in the recording's time. One with words that spans cut-out pauses is split at them;
    // its tokens stay with the first part. One without words keeps the part that holds most of it,
    // so that it does not swallow a pause.
    std::vector<Segment> restore(const Segment& segment) const;

  private:
    // The part that holds most of a span of speech.
    size_t part_of(i64 t0_ms, i64 t1_ms) const;
    void move_into(size_t part, i64& t0_ms, i64& t1_ms) const;
    Segment restored(const Segment& segment, size_t part, std::span<const Word> words) const;

    std::vector<TimeSpan> kept_, heard_;
};

}  // namespace transcribe
