// Subtitles out of segments, as the `whisper` command lays them out (whisper/utils.py,
// SubtitlesWriter): lines of limited width, subtitles of limited lines or words, one subtitle for
// each word that is said.
//
// Times come from the words of a segment. A segment without words is cut where a line may be
// broken, and each part takes the share of the time that it has of the characters. A character is a
// grapheme cluster, which is never cut; the reference counts code points, which is the same for
// most scripts.
#pragma once

#include <string>
#include <vector>

#include "asr/types.h"

namespace transcribe {

struct Layout {                  // 0: no limit
    int max_line_width = 0;      // characters; a longer word stands alone in its line
    int max_line_count = 0;      // of a subtitle; with a width, subtitles may span segments
    int max_words_per_line = 0;  // words of a subtitle; no effect with width and count
    bool highlight_words = false;
    bool asked() const {
        return max_line_width > 0 || max_line_count > 0 || max_words_per_line > 0 ||
               highlight_words;
    }
};

struct Subtitle {
    i64 t0_ms = 0, t1_ms = 0;
    std::string text;                     // lines, with '\n' between them
    size_t mark_begin = 0, mark_end = 0;  // bytes of the word that is being said; equal: none
};

// In order, each with 0 <= t0 <= t1 <= duration.
std::vector<Subtitle> lay_out(const Transcript& transcript, const Layout& layout);

}  // namespace transcribe
