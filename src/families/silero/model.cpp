#include "families/silero/model.h"

#include <algorithm>

#include "families/silero/chunks.h"
#include "tensor/compute.h"

namespace transcribe::silero {

namespace {

constexpr size_t n_at_once = 128;  // chunks of a graph: 4 s

NetConfig read_config(KvReader kv) {
    KvReader at = kv.at("stt.silero"), front = kv.at("stt.frontend");
    NetConfig c;
    c.n_fft = front.i32("n_fft", 16, 4096);
    c.hidden = at.i32("hidden_size", 1, 4096);
    std::vector<int> channels = at.ints("conv_channels");
    bool four = channels.size() == 4 && std::all_of(channels.begin(), channels.end(),
                                                    [](int n) { return n > 0 && n <= 4096; });
    kv.require(four, "conv_channels are four numbers from 1 to 4096");
    if (four) std::copy(channels.begin(), channels.end(), c.channels);
    front.i32("sample_rate", sample_rate, sample_rate);
    kv.require(c.n_fft % 8 == 0 && PowerSpectrum::supports(c.n_fft),  // a chunk is whole ms
               "n_fft is a multiple of 8 and a product of 2s and 5s");
    kv.require(front.i32("hop_length", 1, 4096) == c.hop(), "hop_length is half of n_fft");
    kv.require(at.i32("chunk_size", 1, 1 << 14) == c.n_chunk(), "chunk_size is twice n_fft");
    kv.require(at.i32("context_size", 1, 4096) == c.n_context(),
               "context_size is a quarter of n_fft");
    return c;
}

}  // namespace

Status SileroDetector::read(Loader& loader) {
    const std::string& path = loader.file->path();
    KvReader kv = loader.keys();
    config_ = read_config(kv);
    info_.arch = "silero-vad";
    info_.name = kv.str_or("general.name", info_.arch);
    info_.variant = kv.str_or("stt.variant", "");
    info_.license = kv.str_or("general.license", "");
    TRY(loader.problems.done(Code::bad_model, path));

    net_.bind(weights_.root(), config_);
    lstm_.hidden = static_cast<size_t>(config_.hidden);
    auto recurrent = weights_.host_copy("lstm.hh.weight", {config_.hidden, 4 * config_.hidden});
    lstm_.head = weights_.host_copy("head.weight", {config_.hidden});
    auto bias = weights_.host_copy("head.bias", {1});
    window_ = weights_.host_copy("frontend.window", {config_.n_fft});
    TRY(weights_.finish(loader.device));
    lstm_.set_recurrent(recurrent);
    lstm_.head_bias = bias[0];
    info_.n_params = weights_.n_params();
    info_.device = loader.device.name();
    return {};
}

Expected<SpeechTrack> SileroDetector::listen(AudioSource& audio, Compute& compute) const {
    Graph& graph = compute.begin();
    Tensor input = graph.input("power", Dtype::f32, {config_.n_input(), n_at_once});
    Tensor gates = graph.keep(net_(input));
    std::vector<float> power(static_cast<size_t>(config_.n_input()) * n_at_once);
    Chunks chunks(audio, config_, window_);
    Lstm lstm(lstm_);
    SpeechTrack track;
    track.chunk_ms = config_.n_chunk() * 1000 / sample_rate;
    for (size_t n = n_at_once; n == n_at_once;) {
        TRY_SET(n, chunks.next(power));
        if (n == 0) break;
        TRY(compute.run({{input, power}}));
        std::span<const float> values = compute.values(gates);
        const size_t n_gates = 4 * lstm_.hidden;
        for (size_t i = 0; i < n; i++) {
            track.probabilities.push_back(lstm.step(values.subspan(i * n_gates, n_gates)));
        }
    }
    track.n_samples = chunks.n_samples();
    return track;
}

Expected<std::shared_ptr<const VoiceDetector>> load(Loader& loader) {
    auto detector = std::make_shared<SileroDetector>(loader.file);
    TRY(detector->read(loader));
    return std::shared_ptr<const VoiceDetector>(std::move(detector));
}

}  // namespace transcribe::silero
