#include "output/writers.h"

#include <fmt/format.h>

#include <algorithm>

#include "output/cues.h"
#include "output/events.h"

namespace transcribe {

namespace {

std::string write_txt(const Transcript& transcript, const WriteOptions&) {
    std::string out;
    for (const Cue& cue : make_cues(transcript)) out += cue.text + "\n";
    return out;
}

// The arrow of a time line must not stand in the text. A second round catches "--->".
std::string without_arrow(std::string text) {
    while (text.find("-->") != std::string::npos) text = replace_all(text, "-->", "->");
    return text;
}

// The text of a subtitle, each part escaped, the word that is being said underlined.
std::string marked_text(const Subtitle& subtitle, std::string (*escape)(std::string)) {
    const std::string& text = subtitle.text;
    const size_t begin = subtitle.mark_begin, end = subtitle.mark_end;
    if (begin == end) return escape(text);
    return fmt::format("{}<u>{}</u>{}", escape(text.substr(0, begin)),
                       escape(text.substr(begin, end - begin)), escape(text.substr(end)));
}

std::string write_srt(const Transcript& transcript, const WriteOptions& options) {
    std::string out;
    int number = 0;
    for (const Subtitle& subtitle : lay_out(transcript, options.layout)) {
        out += fmt::format("{}\n{} --> {}\n{}\n\n", ++number, srt_time(subtitle.t0_ms),
                           srt_time(subtitle.t1_ms), marked_text(subtitle, without_arrow));
    }
    return out;
}

// '&' and '<' begin an escape and a tag in WebVTT (W3C, section 4.2.2).
std::string without_markup(std::string text) {
    return without_arrow(replace_all(replace_all(text, "&", "&amp;"), "<", "&lt;"));
}

std::string write_vtt(const Transcript& transcript, const WriteOptions& options) {
    std::string out = "WEBVTT\n\n";
    for (const Subtitle& subtitle : lay_out(transcript, options.layout)) {
        out += fmt::format("{} --> {}\n{}\n\n", vtt_time(subtitle.t0_ms), vtt_time(subtitle.t1_ms),
                           marked_text(subtitle, without_markup));
    }
    return out;
}

std::string write_tsv(const Transcript& transcript, const WriteOptions&) {
    std::string out = "start\tend\ttext\n";
    for (const Cue& cue : make_cues(transcript)) {
        std::string text = replace_all(cue.text, "\t", " ");
        out += fmt::format("{}\t{}\t{}\n", cue.t0_ms, cue.t1_ms, text);
    }
    return out;
}

std::string write_csv(const Transcript& transcript, const WriteOptions&) {
    std::string out = "start,end,text\n";
    for (const Cue& cue : make_cues(transcript)) {
        std::string text = replace_all(cue.text, "\"", "\"\"");
        out += fmt::format("{},{},\"{}\"\n", cue.t0_ms, cue.t1_ms, text);
    }
    return out;
}

std::string write_lrc(const Transcript& transcript, const WriteOptions&) {
    std::string out;
    for (const Cue& cue : make_cues(transcript)) {
        out += fmt::format("[{}]{}\n", lrc_time(cue.t0_ms), cue.text);
    }
    return out;
}

std::string write_json(const Transcript& transcript, const WriteOptions&) {
    return transcript_json(transcript) + "\n";
}

std::string write_jsonl(const Transcript& transcript, const WriteOptions& options) {
    std::string out;
    for (const Segment& segment : transcript.segments) {
        out += segment_event(options.file, within(segment, transcript.duration_s)) + "\n";
    }
    return out + done_event(options.file, transcript) + "\n";
}

constexpr Writer table[] = {
    {"txt", true, write_txt},  {"srt", false, write_srt},  {"vtt", false, write_vtt},
    {"tsv", false, write_tsv}, {"json", true, write_json}, {"jsonl", true, write_jsonl},
    {"csv", false, write_csv}, {"lrc", false, write_lrc},
};

}  // namespace

std::span<const Writer> writers() {
    return table;
}

const Writer* find_writer(std::string_view name) {
    auto found = std::find_if(std::begin(table), std::end(table),
                              [&](const Writer& writer) { return name == writer.name; });
    return found == std::end(table) ? nullptr : found;
}

}  // namespace transcribe
