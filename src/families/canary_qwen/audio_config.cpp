#include "families/canary_qwen/audio_config.h"

#include <fmt/format.h>

#include <algorithm>

#include "audio/clip_mel.h"

namespace transcribe::canary_qwen {

namespace {

constexpr int n_window = 400;
constexpr int n_layers_max = 256, n_heads_max = 256, d_max = 1 << 14, n_channels_max = 1 << 12;

MelSpec::Padding read_padding(KvReader kv) {
    std::string mode = kv.str_or("pad_mode", "constant");
    kv.require(mode == "constant" || mode == "reflect", "pad_mode is constant or reflect");
    return mode == "reflect" ? MelSpec::Padding::mirror : MelSpec::Padding::zeros;
}

MelSpec read_mel(KvReader kv) {
    MelSpec spec;
    spec.n_mels = kv.i32("num_mels", 128, 128);
    spec.n_fft = kv.i32("n_fft", 512, 512);
    spec.hop = kv.i32("hop_length", 160, 160);
    spec.level = MelSpec::Level::ln_guarded;
    spec.padding = read_padding(kv);
    spec.pre_emphasis = kv.f32_or("pre_emphasis", 0.97f);
    kv.i32("sample_rate", sample_rate, sample_rate);
    kv.i32("win_length", n_window, n_window);
    kv.require(spec.pre_emphasis >= 0 && spec.pre_emphasis < 1,
               "pre_emphasis is from 0 to below 1");
    kv.require(kv.str_or("type", "mel") == "mel", "type is mel");
    kv.require(kv.str_or("normalize", "per_feature") == "per_feature", "normalize is per_feature");
    kv.require(kv.f32_or("dither", 0) == 0, "dither is 0");
    kv.require(kv.flag_or("center", true), "center is true");
    kv.require(kv.flag_or("log", true), "log is true");
    return spec;
}

ConformerSpec read_encoder(KvReader kv, int n_mels) {
    ConformerSpec spec;
    spec.n_layers = kv.i32("n_layers", 1, n_layers_max);
    spec.n_heads = kv.i32("n_heads", 1, n_heads_max);
    spec.d = kv.i32("d_model", 2, d_max);
    spec.d_ff = kv.i32("d_ff", 1, 8 * d_max);
    spec.kernel = kv.i32("conv_kernel", 1, 127);
    spec.n_channels = kv.i32("subsampling_channels", 1, n_channels_max);
    spec.n_mels = n_mels;
    kv.require(kv.i32("subsampling_factor", 1, 1024) == ConformerSpec::factor,
               "subsampling_factor is 8");
    kv.require(spec.d % spec.n_heads == 0 && spec.d % 2 == 0,
               "d_model is even and a multiple of n_heads");
    kv.require(spec.kernel % 2 == 1, "conv_kernel is odd");
    return spec;
}

}  // namespace

AudioConfig read_audio_config(KvReader kv) {
    KvReader at = kv.at("stt.canary_qwen");
    AudioConfig c;
    c.mel = read_mel(kv.at("stt.frontend"));
    c.encoder = read_encoder(at.at("encoder"), c.mel.n_mels);
    c.d_out = at.at("decoder").i32("hidden_size", 1, d_max);
    int stated = at.at("perception").i32_or("output_dim", 0);
    at.require(stated == 0 || stated == c.d_out,
               fmt::format("perception.output_dim {} is decoder.hidden_size {}", stated, c.d_out));
    return c;
}

// The window stands in the middle of the transform.
void read_mel_tables(Weights& weights, MelSpec& spec) {
    spec.filters = weights.host_copy("frontend.mel_filterbank", {spec.n_fft / 2 + 1, spec.n_mels});
    std::vector<float> window = weights.host_copy("frontend.window", {n_window});
    spec.window.assign(static_cast<size_t>(spec.n_fft), 0.0f);
    std::ranges::copy(window, spec.window.begin() + (spec.n_fft - n_window) / 2);
}

i64 n_audio_frames(const AudioConfig& c, i64 n_samples) {
    return halved(n_clip_frames(c.mel, n_samples), ConformerSpec::n_halvings);
}

}  // namespace transcribe::canary_qwen
