// The command lines of `transcribe` and its commands, checked before any work begins.
//
// Each parse_* gives the values, or in `show` the text that --help or --version asks for. Errors:
// invalid_argument, one line that names the option, its value and what is allowed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "asr/types.h"
#include "audio/live.h"
#include "base/error.h"
#include "engine/open.h"
#include "engine/session.h"
#include "hub/manifest.h"
#include "output/regions.h"
#include "output/writers.h"
#include "tensor/dtype.h"

namespace transcribe::cli {

// The part of each recording that is read, in seconds.
struct Clip {
    double offset_s = 0;
    double duration_s = 0;  // 0: to the end
};

enum class ShowProgress { on_terminal, always, never };

// How speech is told from other sound.
struct VoiceChoice {
    std::string model{default_vad_model};
    VadOptions options;
};

// Sound that is transcribed as it comes.
struct StreamArgs {
    bool on = false;
    bool live = false;   // a capture device instead of AUDIO
    std::string device;  // of it; empty: the default
    std::optional<RawFormat> raw;
};

struct TranscribeArgs {
    std::string show;
    std::vector<std::string> files;
    std::string files_from;  // a list of more; empty: none
    std::string model;
    OpenOptions open;
    SessionOptions session;
    Options options;
    VoiceChoice voice;  // where options.vad is set
    Clip clip;
    std::vector<const Writer*> formats;  // empty: lines as they are decoded
    Layout layout;                       // of srt and vtt
    std::string output_dir;              // empty: standard output
    bool skip_existing = false;
    bool show_times = true;  // in front of the lines
    bool quiet = false;
    bool verbose = false;
    ShowProgress progress = ShowProgress::on_terminal;
    StreamArgs stream;
    std::vector<std::string> warnings;  // about options, for the start of the run
};

struct BenchArgs {
    std::string show;
    std::string file, model;
    OpenOptions open;
    SessionOptions session;
    std::string language;
    int n_runs = 3;
    bool stream = false;  // as sound that comes, in place of stages
    bool json = false;
};

struct ConvertArgs {
    std::string show;
    std::string source, out;
    std::optional<Dtype> type;  // that of the source
    std::string lm;             // the folder of the language model
    bool quiet = false;
};

struct QuantizeArgs {
    std::string show;
    std::string model, out;
    Dtype type{};
    bool json = false, quiet = false;
};

struct AskArgs {
    std::string show;
    std::string question, about;  // a file, or "-"; empty: the question is all
    std::string model;
    OpenOptions open;
    SessionOptions session;
    Options options;
    bool quiet = false;
};

struct VadArgs {
    std::string show;
    std::vector<std::string> files;
    VoiceChoice voice;
    const RegionWriter* format = nullptr;
    bool quiet = false;
};

struct NameArgs {  // of inspect and pull
    std::string show;
    std::string name;
    bool quiet = false;
};

Expected<TranscribeArgs> parse_transcribe(const std::vector<std::string>& args);
Expected<BenchArgs> parse_bench(const std::vector<std::string>& args);
Expected<ConvertArgs> parse_convert(const std::vector<std::string>& args);
Expected<QuantizeArgs> parse_quantize(const std::vector<std::string>& args);
Expected<AskArgs> parse_ask(const std::vector<std::string>& args);
Expected<VadArgs> parse_vad(const std::vector<std::string>& args);
Expected<NameArgs> parse_inspect(const std::vector<std::string>& args);
Expected<NameArgs> parse_pull(const std::vector<std::string>& args);
// devices and models take nothing; gives `show`.
Expected<std::string> parse_nothing(const std::string& command, const std::string& summary,
                                    const std::vector<std::string>& args);

}  // namespace transcribe::cli
