// AudioFile: passes of a Demuxer through a Downmix, and the account of what went wrong on the way.
#include "audio/decode.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "audio/av.h"
#include "audio/demux.h"
#include "audio/downmix.h"
#include "audio/file_input.h"

namespace transcribe {
namespace {

// Shorter than its header says by more than this, a file is called cut: encoders count their
// padding in different ways.
constexpr double cut_min_s = 0.5, cut_min_share = 0.01;
constexpr i64 cut_min_bytes = 4096;

class FfmpegFile : public AudioFile {
  public:
    FfmpegFile(std::string path, std::unique_ptr<FileInput> input)
        : path_(std::move(path)), input_(std::move(input)) {}

    Status start();
    Expected<size_t> read(std::span<float> out) override;
    Status rewind() override { return start(); }
    const std::vector<std::string>& warnings() const override { return warnings_; }
    double duration_hint() const override { return hint_s_; }

  private:
    Status decode_more();
    Status finish();
    void warn(const std::string& what);

    const std::string path_;
    const std::unique_ptr<FileInput> input_;
    std::unique_ptr<Demuxer> demuxer_;
    std::unique_ptr<Downmix> downmix_;
    std::vector<std::int16_t> ready_;  // decoded, not yet asked for, from at_ on
    size_t at_ = 0;
    i64 n_decoded_ = 0;
    bool ended_ = true;
    double hint_s_ = 0;
    std::vector<std::string> warnings_;
};

// A second pass meets the same faults; each is told once.
void FfmpegFile::warn(const std::string& what) {
    const std::string sentence = input_name(path_) + ": " + what;
    if (std::find(warnings_.begin(), warnings_.end(), sentence) == warnings_.end()) {
        warnings_.push_back(sentence);
    }
}

Status FfmpegFile::start() {
    ready_.clear();
    at_ = 0;
    n_decoded_ = 0;
    ended_ = true;     // until all below has succeeded
    demuxer_.reset();  // it reads from input_, as the next one will
    TRY_SET(demuxer_, Demuxer::open(*input_, path_));
    downmix_ = std::make_unique<Downmix>();
    hint_s_ = demuxer_->estimated_s();
    ended_ = false;
    return {};
}

Expected<size_t> FfmpegFile::read(std::span<float> out) {
    size_t n = 0;
    while (n < out.size()) {
        if (at_ == ready_.size()) {
            if (ended_) break;
            TRY(decode_more());
        }
        const size_t n_now = std::min(out.size() - n, ready_.size() - at_);
        for (size_t i = 0; i < n_now; i++) out[n + i] = float(ready_[at_ + i]) / 32768.0f;
        n += n_now;
        at_ += n_now;
    }
    return n;
}

// The next frame into ready_, which may stay empty.
Status FfmpegFile::decode_more() {
    ready_.clear();
    at_ = 0;
    AVFrame* frame = demuxer_->next();
    ended_ = frame == nullptr;
    auto mixed = frame ? downmix_->push(frame, ready_) : downmix_->drain(ready_);
    n_decoded_ += i64(ready_.size());
    if (!mixed) {
        ended_ = true;
        return Error{mixed.error().code, input_name(path_) + ": " + mixed.error().what};
    }
    return ended_ ? finish() : Status{};
}

// Weighs what came against what was promised.
Status FfmpegFile::finish() {
    const double decoded_s = double(n_decoded_) / sample_rate, promised_s = demuxer_->promised_s();
    const int n_damaged = demuxer_->n_damaged();
    const std::string& stopped_by = demuxer_->stopped_by();
    if (n_decoded_ == 0 && (n_damaged > 0 || promised_s > 0 || !stopped_by.empty())) {
        return Error{Code::bad_audio,
                     fmt::format("{}: looks like {}, but holds no sound that can be decoded "
                                 "({} damaged packets, {:.1f} s promised)",
                                 input_name(path_), demuxer_->format(), n_damaged, promised_s)};
    }
    if (promised_s - decoded_s > std::max(cut_min_s, cut_min_share * promised_s)) {
        warn(fmt::format("the file is cut: its header says {:.1f} s, it holds {:.1f} s", promised_s,
                         decoded_s));
    } else if (demuxer_->n_missing_bytes() > cut_min_bytes) {
        warn(fmt::format("the file is cut: {} bytes are missing by its header, it holds {:.1f} s",
                         demuxer_->n_missing_bytes(), decoded_s));
    }
    if (!stopped_by.empty()) {
        warn(fmt::format("reading stopped after {:.1f} s: {}", decoded_s, stopped_by));
    }
    if (n_damaged > 0) warn(fmt::format("damaged packets were skipped: {}", n_damaged));
    if (downmix_->cancelled()) {
        warn("its two channels are in opposite phase and would cancel out; the first was used");
    }
    return {};
}

}  // namespace

Expected<std::unique_ptr<AudioFile>> AudioFile::open(const std::string& path) {
    av::silence();
    TRY_SET(auto input, FileInput::open(path));
    auto file = std::make_unique<FfmpegFile>(path, std::move(input));
    TRY(file->start());
    return std::unique_ptr<AudioFile>(std::move(file));
}

}  // namespace transcribe
