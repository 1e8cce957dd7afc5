// Transcripts as C structs that point into them.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "api/edge.h"
#include "asr/types.h"

namespace transcribe::api {

transcribe_word word_view(const Word& word);

// A segment as C sees it. Points into the segment, which must outlive it.
struct SegmentView {
    explicit SegmentView(const Segment& segment);
    transcribe_segment c() const;  // without `size`

  private:
    const Segment& segment_;
    std::vector<transcribe_word> words_;
    std::vector<transcribe_token> tokens_;
};

class ResultObject {
  public:
    explicit ResultObject(Transcript transcript);
    // Of a recording that was refused.
    explicit ResultObject(Refusal refusal) : refusal_(std::move(refusal)) {}

    const Refusal& refusal() const { return refusal_; }
    transcribe_result_info info() const;         // without `size`
    transcribe_segment segment(size_t i) const;  // without `size`
    const char* formatted(const std::string& format);

  private:
    Refusal refusal_;
    Transcript transcript_;
    std::vector<SegmentView> segments_;
    std::mutex mutex_;
    std::map<std::string, std::string> formatted_;
};

}  // namespace transcribe::api
