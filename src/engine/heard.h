// One recording on its way through a session: what of it the recognizer hears, and its transcript
// back in the recording's own time.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "asr/types.h"
#include "asr/voice.h"
#include "engine/speech.h"
#include "engine/timeline.h"

namespace transcribe {

class Heard {
  public:
    explicit Heard(AudioSource& whole) : whole_(whole) {}

    // Keeps only what is speech, and of that what the clips of the options hold. Errors: those of
    // the recording, aborted, out_of_memory, backend.
    Status find_speech(Listener& listener, const Options& options);
    // Cuts what is heard into pieces to decode independently, none longer than `ms_max`, if it is
    // longer than `uncut_ms`. Errors: those of the recording.
    Status cut(i64 ms_max, i64 uncut_ms);

    // Nobody speaks: there is nothing to decode.
    bool is_silent() const { return timeline_ && timeline_->length_ms() == 0; }
    Recording recording();
    double duration_s() const;  // of the recording, once its speech was looked for

    // A time of what was heard, in seconds, as one of the recording.
    double time_s(double heard_s) const;
    // One segment, as it comes: see Timeline::restore. Numbered anew, since some are split.
    std::vector<Segment> restore(Segment segment, const Options& options);
    void restore(Transcript& transcript, const Options& options);

  private:
    AudioSource& whole_;
    std::vector<TimeSpan> pieces_;
    // Where speech was looked for:
    SpeechTrack track_;
    std::vector<TimeSpan> regions_;
    std::optional<Timeline> timeline_;
    std::unique_ptr<SpeechSource> speech_;
    int n_segments_ = 0;
};

}  // namespace transcribe
