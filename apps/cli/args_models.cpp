// The command lines of the commands about models.
#include <fmt/format.h>

#include "cli/arg_parser.h"
#include "cli/args.h"
#include "convert/dtype_policy.h"

namespace transcribe::cli {

namespace {

// What was expected where no file type has this name.
template <class Type>
std::string set_type(const std::string& name, Type& type) {
    const FileType* found = file_type_named(name);
    if (!found) return "one of " + file_type_names();
    type = found->dtype;
    return {};
}

}  // namespace

Expected<ConvertArgs> parse_convert(const std::vector<std::string>& words) {
    ConvertArgs args;
    ArgParser parser(
        "transcribe convert",
        "Makes a GGUF file of a checkpoint: a folder with safetensors as Hugging Face\n"
        "has them, or one in CTranslate2 format; or of whisper.cpp's .bin.");
    parser.argument("SOURCE", args.source, "the folder of the checkpoint, or the .bin file");
    parser.argument("OUT", args.out, "the GGUF file to write");
    parser.checked(
        "--type", "TYPE", [&args](const std::string& name) { return set_type(name, args.type); },
        "how matrices are stored: f32, f16, bf16, q8_0, q6_k,\n"
        "q5_k_m, q5_0, q4_k_m, q4_0 (default: as in the source)");
    parser.name("--lm", "DIR", args.lm,
                "for Canary-Qwen: the folder with configuration and\n"
                "tokenizer of its language model (Qwen3-1.7B)");
    parser.flag("-q,--quiet", args.quiet, "show no progress");
    TRY_SET(args.show, parser.parse(words));
    return args;
}

Expected<QuantizeArgs> parse_quantize(const std::vector<std::string>& words) {
    QuantizeArgs args;
    std::string type;
    ArgParser parser(
        "transcribe quantize",
        "Writes a model file with its matrices in another type, and tells what each\n"
        "tensor lost: the error is the root mean square of the difference over that of\n"
        "the values.");
    parser.argument("IN", args.model,
                    "a GGUF file or whisper.cpp's .bin with F32, F16 or BF16\n"
                    "matrices, or the name of a model in the cache");
    parser.argument("OUT", args.out, "the GGUF file to write");
    parser.argument("TYPE", type,
                    "f32, f16, bf16, q8_0, q6_k, q5_k_m, q5_0, q4_k_m or q4_0;\n"
                    "the smaller, the less exact");
    parser.flag("--json", args.json, "print the report as JSON, with all tensors");
    parser.flag("-q,--quiet", args.quiet, "show no progress and no report");
    TRY_SET(args.show, parser.parse(words));
    if (!args.show.empty()) return args;
    const std::string expected = set_type(type, args.type);
    if (expected.empty()) return args;
    return parser.fault(fmt::format("TYPE: '{}' is not {}", type, expected));
}

Expected<NameArgs> parse_inspect(const std::vector<std::string>& words) {
    NameArgs args;
    ArgParser parser("transcribe inspect", "Prints what the header of a model file says.");
    parser.argument("MODEL", args.name,
                    "a GGUF file, whisper.cpp's .bin, or the name of a model in\nthe cache");
    TRY_SET(args.show, parser.parse(words));
    return args;
}

Expected<NameArgs> parse_pull(const std::vector<std::string>& words) {
    NameArgs args;
    ArgParser parser("transcribe pull",
                     "Fetches a model by name, once, and prints where its file is.");
    parser.argument("NAME", args.name, "a name that 'transcribe models' lists");
    parser.flag("-q,--quiet", args.quiet, "show no progress");
    TRY_SET(args.show, parser.parse(words));
    return args;
}

Expected<std::string> parse_nothing(const std::string& command, const std::string& summary,
                                    const std::vector<std::string>& words) {
    ArgParser parser("transcribe " + command, summary);
    return parser.parse(words);
}

}  // namespace transcribe::cli
