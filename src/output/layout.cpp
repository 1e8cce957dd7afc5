#include "output/layout.h"

#include <algorithm>

#include "base/text.h"
#include "output/cues.h"
#include "output/graphemes.h"

namespace transcribe {

namespace {

// A pause after which a new subtitle begins, where subtitles may span segments.
constexpr i64 pause_ms = 3000;

struct Piece {  // a word, with the blank (or later the line break) in front
    std::string text;
    i64 t0_ms, t1_ms;
};
using Pieces = std::vector<Piece>;

// Appends `text` in parts that take the shares of the time which they have of the characters.
void append_parts(std::string_view text, i64 t0_ms, i64 t1_ms, Pieces& pieces) {
    const auto n_all = static_cast<i64>(n_graphemes(text));
    i64 n_before = 0, start_ms = t0_ms;
    for (std::string_view part : line_parts(text)) {
        n_before += static_cast<i64>(n_graphemes(part));
        const i64 end_ms = t0_ms + (t1_ms - t0_ms) * n_before / n_all;
        pieces.push_back({std::string(part), start_ms, end_ms});
        start_ms = end_ms;
    }
}

// Words that divide a cluster become one.
Pieces whole_words(const std::vector<Word>& words) {
    std::string all;
    for (const Word& word : words) all += one_line(word.text);
    const std::vector<size_t> bounds = grapheme_bounds(all);
    Pieces pieces;
    size_t at = 0;
    for (const Word& word : words) {
        const std::string text = one_line(word.text);
        if (pieces.empty() || std::binary_search(bounds.begin(), bounds.end(), at)) {
            pieces.push_back({text, word.t0_ms, word.t1_ms});
        } else {
            pieces.back().text += text;
            pieces.back().t1_ms = word.t1_ms;
        }
        at += text.size();
    }
    return pieces;
}

Pieces pieces_of(const Segment& segment, int n_max) {
    Pieces pieces;
    if (trim(segment.text).empty()) return pieces;
    if (segment.words.empty()) {
        // The blank in front stays: the segment may go on the line of the one before.
        const std::string text = one_line(segment.text);
        const std::string_view trimmed = trim(text);
        const auto n_bytes = static_cast<size_t>(trimmed.data() + trimmed.size() - text.data());
        append_parts(std::string_view(text).substr(0, n_bytes), segment.t0_ms, segment.t1_ms,
                     pieces);
        return pieces;
    }
    for (Piece& word : whole_words(segment.words)) {
        const bool too_wide =
            n_max > 0 && n_graphemes(trim(word.text)) > static_cast<size_t>(n_max);
        if (too_wide) {
            append_parts(word.text, word.t0_ms, word.t1_ms, pieces);
        } else {
            pieces.push_back(std::move(word));
        }
    }
    return pieces;
}

// Gathers pieces to subtitles. In the reference: iterate_subtitles().
class Composer {
  public:
    explicit Composer(const Layout& layout)
        : layout_(layout),
          keeps_segments_(layout.max_line_count == 0 || layout.max_line_width == 0) {}

    void add(Pieces pieces) {
        const auto n_max = static_cast<size_t>(layout_.max_words_per_line);
        for (size_t i = 0; i < pieces.size(); i++) {
            const bool begins = n_max > 0 ? i % n_max == 0 : i == 0;
            add(std::move(pieces[i]), begins);
        }
    }

    std::vector<Pieces> take() {
        close();
        return std::move(done_);
    }

  private:
    void add(Piece piece, bool begins) {
        const bool pause = !keeps_segments_ && started_ && piece.t0_ms - last_ms_ > pause_ms;
        const auto n_max = static_cast<size_t>(layout_.max_line_width);
        const bool fits = n_max == 0 || n_line_ + n_graphemes(piece.text) <= n_max;
        const bool segment_ends = begins && keeps_segments_ && !subtitle_.empty();
        if (n_line_ > 0 && fits && !pause && !segment_ends) {
            n_line_ += n_graphemes(piece.text);
        } else {
            piece.text = std::string(trim(piece.text));
            const size_t n_piece = n_graphemes(piece.text);
            const bool full =
                layout_.max_line_count > 0 && (pause || n_lines_ >= layout_.max_line_count);
            if (segment_ends || (full && !subtitle_.empty())) {
                close();
            } else if (n_line_ > 0) {
                n_lines_++;
                piece.text = "\n" + piece.text;
            }
            n_line_ = n_piece;
        }
        last_ms_ = piece.t0_ms;
        started_ = true;
        subtitle_.push_back(std::move(piece));
    }

    void close() {
        if (!subtitle_.empty()) done_.push_back(std::move(subtitle_));
        subtitle_.clear();
        n_lines_ = 1;
    }

    const Layout& layout_;
    const bool keeps_segments_;
    std::vector<Pieces> done_;
    Pieces subtitle_;
    size_t n_line_ = 0;  // characters of the line that is being filled
    int n_lines_ = 1;
    i64 last_ms_ = 0;  // start of the piece before
    bool started_ = false;
};

void append_plain(const Pieces& pieces, std::vector<Subtitle>& out) {
    Subtitle subtitle{pieces.front().t0_ms, pieces.back().t1_ms, {}};
    for (const Piece& piece : pieces) subtitle.text += piece.text;
    subtitle.t1_ms = std::max(subtitle.t0_ms, subtitle.t1_ms);
    out.push_back(std::move(subtitle));
}

// One subtitle a word, and one without a mark for each gap between them.
void append_highlighted(const Pieces& pieces, std::vector<Subtitle>& out) {
    std::string text;
    for (const Piece& piece : pieces) text += piece.text;
    i64 last_ms = pieces.front().t0_ms;
    size_t at = 0;
    for (const Piece& piece : pieces) {
        if (last_ms < piece.t0_ms) out.push_back({last_ms, piece.t0_ms, text});
        last_ms = std::max(piece.t0_ms, piece.t1_ms);
        const size_t n_blank = piece.text.find_first_not_of(" \n");
        const size_t begin = at + std::min(n_blank, piece.text.size());
        at += piece.text.size();
        out.push_back({piece.t0_ms, last_ms, text, begin, at});
    }
}

}  // namespace

std::vector<Subtitle> lay_out(const Transcript& transcript, const Layout& layout) {
    Composer composer(layout);
    std::vector<Subtitle> out;
    for (const Segment& each : transcript.segments) {
        composer.add(pieces_of(within(each, transcript.duration_s), layout.max_line_width));
    }
    for (const Pieces& pieces : composer.take()) {
        layout.highlight_words ? append_highlighted(pieces, out) : append_plain(pieces, out);
    }
    return out;
}

}  // namespace transcribe
