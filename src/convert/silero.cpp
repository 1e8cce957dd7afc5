// The table of Silero's tensors: our name, what the source calls it, and its shape.
//
// What bites: the sizes of the network stand nowhere but in its shapes. A transform of n samples
// gives n / 2 + 1 frequencies, real parts first; chunk, context and hop follow from n, in the
// published 16 kHz and 8 kHz networks alike. The gates of an LSTM are in ONNX's order (in, out,
// forget, cell), and stay so.
#include "convert/silero.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include "base/text.h"
#include "convert/onnx.h"

namespace transcribe {

namespace {

using Dims = std::vector<i64>;  // slowest first

struct Sizes {
    i64 n_fft = 0, hidden = 0;
    i64 channels[4] = {};  // of the convolutions' outputs
    i64 n_bins() const { return n_fft / 2 + 1; }
    bool are_sound() const {
        bool conv =
            std::all_of(std::begin(channels), std::end(channels), [](i64 n) { return n > 0; });
        return conv && hidden > 0 && n_fft > 0 && n_fft % 4 == 0;
    }
};

constexpr const char* basis_name = "stft.forward_basis_buffer";

// basis [2 * n_bins, n_fft], slowest first
bool is_windowed_transform(std::span<const float> basis, const Sizes& s) {
    constexpr double tolerance = 1e-5;
    for (i64 i = 0; i < static_cast<i64>(basis.size()); i++) {
        i64 row = i / s.n_fft, n = i % s.n_fft, k = row % s.n_bins();
        double angle = 2 * std::numbers::pi * static_cast<double>(k * n % s.n_fft) /
                       static_cast<double>(s.n_fft);
        double wave = row < s.n_bins() ? std::cos(angle) : -std::sin(angle);
        double want = static_cast<double>(basis[static_cast<size_t>(n)]) * wave;
        if (!(std::abs(basis[static_cast<size_t>(i)] - want) < tolerance)) return false;
    }
    return true;
}

// The dimension `at` of a source tensor; 0 where there is none.
i64 dim(const Checkpoint& from, const std::string& name, size_t at) {
    const SourceTensor* tensor = from.find(name);
    return tensor && at < tensor->shape.size() ? tensor->shape[at] : 0;
}

Sizes sizes_of(const Checkpoint& from) {
    Sizes s;
    s.n_fft = dim(from, basis_name, 2);
    s.hidden = dim(from, "lstm.R", 2);
    for (size_t i = 0; i < 4; i++) {
        s.channels[i] = dim(from, fmt::format("encoder.{}.weight", i), 0);
    }
    return s;
}

// Elements of the source that a tensor of ours is made of; n 0: all.
struct Part {
    i64 n = 0, first = 0;
};

class Planner {
  public:
    explicit Planner(const Checkpoint& from) : from_(from) {}

    Expected<std::vector<PlannedTensor>> plan(const Sizes& s) {
        add_window(s);
        i64 n_in = s.n_bins();
        for (size_t i = 0; i < 4; i++) {
            std::string ours = fmt::format("enc.conv.{}.", i),
                        theirs = fmt::format("encoder.{}.", i);
            add(ours + "weight", theirs + "weight", {s.channels[i], n_in, 3});
            add(ours + "bias", theirs + "bias", {s.channels[i]});
            n_in = s.channels[i];
        }
        const i64 n_gates = 4 * s.hidden;
        add("lstm.ih.weight", "lstm.W", {1, n_gates, n_in});
        add("lstm.hh.weight", "lstm.R", {1, n_gates, s.hidden});
        add("lstm.ih.bias", "lstm.B", {1, 2 * n_gates}, {n_gates, 0});
        add("lstm.hh.bias", "lstm.B", {1, 2 * n_gates}, {n_gates, n_gates});
        add("head.weight", "output.weight", {1, s.hidden, 1});
        add("head.bias", "output.bias", {1});
        for (const auto& [name, tensor] : from_.tensors) {
            if (used_.contains(name)) continue;
            problems_.add(
                fmt::format("the tensor {} is not one of Silero VAD's", printable(name, 80)));
        }
        TRY(problems_.done(Code::bad_model, printable(from_.directory, 1000)));
        return std::move(out_);
    }

  private:
    // The source multiplies with a matrix: cosines and sines, times a window. The window is enough.
    void add_window(const Sizes& s) {
        add("frontend.window", basis_name, {2 * s.n_bins(), 1, s.n_fft});
        if (out_.empty()) return;
        PlannedTensor& window = out_.back();
        std::vector<float> basis(static_cast<size_t>(window.source->n_elements()));
        window.source->read(0, basis);
        if (!is_windowed_transform(basis, s)) {
            problems_.add(fmt::format("{} is not a Fourier transform with a window", basis_name));
        }
        window.shape = {s.n_fft};  // the cosine of frequency 0 is 1
    }

    void add(std::string ours, const std::string& theirs, const Dims& shape, Part part = {}) {
        used_.insert(theirs);
        const SourceTensor* source = from_.find(theirs);
        if (!source) return problems_.add(fmt::format("the tensor {} is missing", theirs));
        if (source->shape != shape) {
            return problems_.add(fmt::format("the tensor {} has shape {}, expected {}", theirs,
                                             shape_text(source->shape), shape_text(shape)));
        }
        Dims kept = shape;
        if (kept.size() > 1) std::erase(kept, 1);
        out_.push_back({.name = std::move(ours),
                        .shape = part.n > 0 ? Dims{part.n} : kept,
                        .source = source,
                        .first = part.first,
                        .computed = {}});
    }

    const Checkpoint& from_;
    std::vector<PlannedTensor> out_;
    std::set<std::string, std::less<>> used_;
    Problems problems_;
};

std::vector<GgufKey> keys_of(const Sizes& s, const std::string& name) {
    auto number = [](i64 n) { return static_cast<std::uint32_t>(n); };
    std::vector<std::int32_t> channels(std::begin(s.channels), std::end(s.channels));
    return {
        {"general.architecture", std::string("silero-vad")},
        {"general.name", name},
        {"general.basename", std::string("silero-vad")},
        {"general.license", std::string("mit")},
        {"stt.variant", name},
        {"stt.frontend.type", std::string("stft")},
        {"stt.frontend.sample_rate", number(16000)},
        {"stt.frontend.n_fft", number(s.n_fft)},
        {"stt.frontend.hop_length", number(s.n_fft / 2)},
        {"stt.silero.chunk_size", number(2 * s.n_fft)},
        {"stt.silero.context_size", number(s.n_fft / 4)},
        {"stt.silero.conv_channels", channels},
        {"stt.silero.hidden_size", number(s.hidden)},
    };
}

}  // namespace

Expected<Checkpoint> open_silero(const std::string& directory) {
    Checkpoint checkpoint;
    checkpoint.format = Checkpoint::Format::bare;
    checkpoint.directory = directory;
    checkpoint.architecture = "silero-vad";
    TRY(read_onnx(checkpoint.path(silero_file), checkpoint));
    return checkpoint;
}

Expected<ModelPlan> plan_silero(const Checkpoint& from, const std::string&) {
    ModelPlan plan;
    plan.name = "silero-vad";
    Sizes sizes = sizes_of(from);
    if (!sizes.are_sound()) {
        return Error{Code::bad_model,
                     fmt::format("{}: the shapes of its tensors are not those of Silero VAD",
                                 printable(from.directory, 1000))};
    }
    TRY_SET(plan.tensors, Planner(from).plan(sizes));
    plan.keys = keys_of(sizes, plan.name);
    plan.reference = Dtype::f32;
    return plan;
}

}  // namespace transcribe
