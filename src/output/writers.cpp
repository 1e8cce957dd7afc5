#include "output/writers.h"

#include <fmt/format.h>

#include <algorithm>

#include "output/cues.h"
#include "output/events.h"

namespace transcribe {

namespace {

std::string write_txt(const Transcript& transcript, std::string_view) {
    std::string out;
    for (const Cue& cue : make_cues(transcript)) out += cue.text + "\n";
    return out;
}

// The arrow of a time line must not stand in the text. A second round catches "--->".
std::string without_arrow(std::string text) {
    while (text.find("-->") != std::string::npos) text = replace_all(text, "-->", "->");
    return text;
}

std::string write_srt(const Transcript& transcript, std::string_view) {
    std::string out;
    int number = 0;
    for (const Cue& cue : make_cues(transcript)) {
        out += fmt::format("{}\n{} --> {}\n{}\n\n", ++number, srt_time(cue.t0_ms),
                           srt_time(cue.t1_ms), without_arrow(cue.text));
    }
    return out;
}

// '&' and '<' begin an escape and a tag in WebVTT (W3C, section 4.2.2).
std::string write_vtt(const Transcript& transcript, std::string_view) {
    std::string out = "WEBVTT\n\n";
    for (const Cue& cue : make_cues(transcript)) {
        std::string text = replace_all(replace_all(cue.text, "&", "&amp;"), "<", "&lt;");
        out += fmt::format("{} --> {}\n{}\n\n", vtt_time(cue.t0_ms), vtt_time(cue.t1_ms),
                           without_arrow(text));
    }
    return out;
}

std::string write_tsv(const Transcript& transcript, std::string_view) {
    std::string out = "start\tend\ttext\n";
    for (const Cue& cue : make_cues(transcript)) {
        std::string text = replace_all(cue.text, "\t", " ");
        out += fmt::format("{}\t{}\t{}\n", cue.t0_ms, cue.t1_ms, text);
    }
    return out;
}

std::string write_csv(const Transcript& transcript, std::string_view) {
    std::string out = "start,end,text\n";
    for (const Cue& cue : make_cues(transcript)) {
        std::string text = replace_all(cue.text, "\"", "\"\"");
        out += fmt::format("{},{},\"{}\"\n", cue.t0_ms, cue.t1_ms, text);
    }
    return out;
}

std::string write_lrc(const Transcript& transcript, std::string_view) {
    std::string out;
    for (const Cue& cue : make_cues(transcript)) {
        out += fmt::format("[{}]{}\n", lrc_time(cue.t0_ms), cue.text);
    }
    return out;
}

std::string write_json(const Transcript& transcript, std::string_view) {
    return transcript_json(transcript) + "\n";
}

std::string write_jsonl(const Transcript& transcript, std::string_view file) {
    std::string out;
    for (const Segment& segment : transcript.segments) {
        out += segment_event(file, within(segment, transcript.duration_s)) + "\n";
    }
    return out + done_event(file, transcript) + "\n";
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
