#include "cli/vad_cmd.h"

#include "audio/decode.h"
#include "cli/model.h"
#include "cli/system.h"
#include "decode/speech_regions.h"
#include "engine/speech.h"

namespace transcribe::cli {

namespace {

// Prints what is found in one recording.
Status hear(const std::string& path, const VadArgs& args, Listener& listener, Console& console) {
    TRY_SET(auto file, AudioFile::open(path));
    TRY_SET(const auto track, listener.track(*file));
    for (const std::string& sentence : file->warnings()) console.warning(path, sentence);
    const auto regions = speech_regions(track, args.voice.options);
    if (args.files.size() > 1) console.note(path + ":");
    console.result(args.format->write({path, track.duration_ms(), regions}));
    return {};
}

}  // namespace

int run_vad(const VadArgs& args) {
    Console console(args.quiet ? Console::Talk::quiet : Console::Talk::normal,
                    stderr_is_terminal() ? Progress::Kind::bar : Progress::Kind::none);
    const auto detector = open_voice(args.voice.model, console);
    if (!detector) return fail(console, detector.error(), exit_model);
    const auto listener = Listener::make(*detector);
    if (!listener) return fail(console, listener.error(), exit_inference);
    console.result(args.format->head);
    size_t n_failed = 0;
    ExitCode code = exit_done;
    for (const std::string& path : args.files) {
        const Status heard = hear(path, args, **listener, console);
        if (console.broken()) return console.broken_code();
        if (heard) continue;
        console.error(path, heard.error().what);
        code = exit_code(heard.error(), exit_audio);
        n_failed++;
    }
    return n_failed > 0 && args.files.size() > 1 ? exit_some_failed : code;
}

}  // namespace transcribe::cli
