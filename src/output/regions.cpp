#include "output/regions.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "output/cues.h"

namespace transcribe {

namespace {

std::string lines(const SpeechReport& report) {
    std::string out;
    for (const TimeSpan& span : report.regions) {
        out += fmt::format("[{} --> {}]\n", vtt_time(span.t0_ms), vtt_time(span.t1_ms));
    }
    return out;
}

std::string tsv(const SpeechReport& report) {
    std::string out, file = utf8_repair(report.file);
    std::replace(file.begin(), file.end(), '\t', ' ');
    std::replace(file.begin(), file.end(), '\n', ' ');
    for (const TimeSpan& span : report.regions) {
        out += fmt::format("{}\t{}\t{}\n", span.t0_ms, span.t1_ms, file);
    }
    return out;
}

std::string json(const SpeechReport& report) {
    using Json = nlohmann::ordered_json;
    auto seconds = [](i64 ms) { return static_cast<double>(ms) / 1000; };
    Json regions = Json::array();
    i64 speech_ms = 0;
    for (const TimeSpan& span : report.regions) {
        regions.push_back({{"start", seconds(span.t0_ms)}, {"end", seconds(span.t1_ms)}});
        speech_ms += span.t1_ms - span.t0_ms;
    }
    Json value = {{"file", utf8_repair(report.file)},
                  {"duration", seconds(report.duration_ms)},
                  {"speech_duration", seconds(speech_ms)},
                  {"regions", std::move(regions)}};
    return value.dump() + "\n";
}

}  // namespace

std::span<const RegionWriter> region_writers() {
    static constexpr RegionWriter table[] = {
        {"lines", "", lines},
        {"tsv", "start\tend\tfile\n", tsv},
        {"json", "", json},
    };
    return table;
}

}  // namespace transcribe
