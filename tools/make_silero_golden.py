#!/usr/bin/env python3
"""Makes what the tests of voice detection compare with: tests/twins/data/silero (what is in it: the
README there) and tests/unit/data/speech_regions.json.

    python3 -m venv VENV && VENV/bin/pip install silero-vad==6.2.3 torch
    VENV/bin/python tools/make_silero_golden.py           # writes over the committed files

The published network is too big to commit, so there is a random one that is tiny in every size.
Its numbers come from the few lines of PyTorch below, which are first held to the package's own
model on the sample of this repository. Needs ffmpeg.

What bites: the weights in the package's .safetensors are older than those that it runs, which are
in its .jit and .onnx files alike.
"""
import json
import struct
import subprocess
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from silero_vad import get_speech_timestamps_from_probs, load_silero_vad

ROOT = Path(__file__).resolve().parents[1]
TWIN, REGIONS = ROOT / "tests/twins/data/silero", ROOT / "tests/unit/data/speech_regions.json"
SAMPLE = ROOT / "samples/hello.flac"
N_FFT, CHANNELS, HIDDEN = 16, (8, 6, 6, 8), 8


def probabilities(w, samples):
    """Of each chunk, as silero_vad/tinygrad_model.py computes them. samples [n]"""
    w = {name: value.double() for name, value in w.items()}
    n_fft, n_bins = w["stft"].shape[2], w["stft"].shape[0] // 2
    n_chunk, n_context = 2 * n_fft, n_fft // 4
    samples = F.pad(samples.double(), (n_context, -len(samples) % n_chunk))
    hidden = cell = torch.zeros(1, w["lstm.hh"].shape[1], dtype=torch.double)
    found = []
    for at in range(n_context, len(samples), n_chunk):
        x = samples[None, None, at - n_context:at + n_chunk]
        x = F.conv1d(F.pad(x, (0, n_fft // 4), mode="reflect"), w["stft"], stride=n_fft // 2)
        x = (x[:, :n_bins] ** 2 + x[:, n_bins:] ** 2).sqrt()
        for i, stride in enumerate((1, 2, 2, 1)):
            x = F.conv1d(x, w[f"conv.{i}.weight"], w[f"conv.{i}.bias"], stride, padding=1).relu()
        hidden, cell = torch.lstm_cell(x[:, :, 0], (hidden, cell), w["lstm.ih"], w["lstm.hh"],
                                       w["lstm.ih.bias"], w["lstm.hh.bias"])
        x = F.conv1d(hidden.relu()[:, :, None], w["head.weight"], w["head.bias"])
        found.append(x.sigmoid().item())
    return found


def read_sample():
    command = ["ffmpeg", "-v", "error", "-i", SAMPLE, "-f", "s16le", "-ac", "1", "-ar", "16000"]
    command.append("-")
    raw = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    return torch.from_numpy(np.frombuffer(raw, "<i2").astype(np.float32) / 32768)


def published():
    """The package's own model on the sample; and the mirror above held to it."""
    samples, model = read_sample(), load_silero_vad()
    with torch.no_grad():
        values = model.audio_forward(samples[None], 16000)[0].tolist()
    names = {"stft": "stft.forward_basis_buffer", "head.weight": "decoder.decoder.2.weight",
             "head.bias": "decoder.decoder.2.bias", "lstm.ih": "decoder.rnn.weight_ih",
             "lstm.hh": "decoder.rnn.weight_hh", "lstm.ih.bias": "decoder.rnn.bias_ih",
             "lstm.hh.bias": "decoder.rnn.bias_hh"}
    for i in range(4):
        names |= {f"conv.{i}.{leaf}": f"encoder.{i}.reparam_conv.{leaf}"
                  for leaf in ("weight", "bias")}
    stored = model.state_dict()
    mirrored = probabilities({k: stored["_model." + v] for k, v in names.items()}, samples)
    assert max(abs(a - b) for a, b in zip(values, mirrored, strict=True)) < 1e-5
    return values


def tiny_weights():
    torch.manual_seed(11)
    n_bins = N_FFT // 2 + 1
    shapes = {"head.weight": (1, HIDDEN, 1), "head.bias": (1,),
              "lstm.ih": (4 * HIDDEN, CHANNELS[3]), "lstm.hh": (4 * HIDDEN, HIDDEN),
              "lstm.ih.bias": (4 * HIDDEN,), "lstm.hh.bias": (4 * HIDDEN,)}
    for i, (n_in, n_out) in enumerate(zip((n_bins, *CHANNELS), CHANNELS)):
        shapes |= {f"conv.{i}.weight": (n_out, n_in, 3), f"conv.{i}.bias": (n_out,)}
    weights = {name: torch.randn(shape) * 0.6 for name, shape in shapes.items()}
    angle = 2 * torch.pi / N_FFT * torch.outer(torch.arange(n_bins), torch.arange(N_FFT))
    basis = torch.cat([angle.cos(), -angle.sin()]) * torch.hann_window(N_FFT)
    return weights | {"stft": basis[:, None]}


def field(number, value):
    """Of a Protocol Buffers message: an int, or bytes."""
    def varint(n):
        return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def onnx(w):
    """The weights as the package's silero_vad_16k_sequence.onnx has them, without its graph."""
    def gates(x):  # PyTorch's in, forget, cell, out
        i, f, c, o = x.chunk(4)
        return torch.cat([i, o, f, c])[None]
    tensors = {"stft.forward_basis_buffer": w["stft"], "output.weight": w["head.weight"],
               "output.bias": w["head.bias"], "onnx::LSTM_1": gates(w["lstm.ih"]),
               "onnx::LSTM_2": gates(w["lstm.hh"]),
               "onnx::LSTM_3": torch.cat([gates(w["lstm.ih.bias"]), gates(w["lstm.hh.bias"])], 1)}
    for i in range(4):
        tensors |= {f"encoder.{i}.{x}": w[f"conv.{i}.{x}"] for x in ("weight", "bias")}
    inputs = ("x", "onnx::LSTM_1", "onnx::LSTM_2", "onnx::LSTM_3", "", "h", "c")
    graph = field(1, b"".join(field(1, x.encode()) for x in inputs) + field(4, b"LSTM"))
    for name, value in tensors.items():
        data = struct.pack(f"<{value.numel()}f", *value.flatten().tolist())
        dims = b"".join(field(1, n) for n in value.shape)
        graph += field(5, dims + field(2, 1) + field(8, name.encode()) + field(9, data))
    return field(1, 8) + field(7, graph)


def tiny_sound():
    """100 chunks and a bit, swelling and fading; the test computes the same."""
    i = np.arange(100 * 2 * N_FFT + 13, dtype=np.float64)
    return torch.from_numpy((0.5 * np.sin(0.05 * i) * np.sin(0.002 * i)).astype(np.float32))


def random_track(random, n):
    """Probabilities that stay high or low for a while, as real ones do."""
    level = np.repeat(random.random(n), random.integers(1, 12, n))[:n]
    return np.clip(np.round(level + random.normal(0, 0.1, n), 3), 0, 1)


def region_cases():
    random = np.random.default_rng(3)
    options = [{}, {"min_silence_ms": 200}, {"threshold": 0.7, "speech_pad_ms": 200},
               {"min_speech_ms": 0, "min_silence_ms": 0, "speech_pad_ms": 0},
               {"max_speech_s": 2}, {"max_speech_s": 1, "speech_pad_ms": 100, "threshold": 0.2},
               {"min_silence_ms": 2000, "speech_pad_ms": 400, "min_speech_ms": 0},
               {"max_speech_s": 1.5, "min_silence_ms": 1000, "threshold": 0.1}]
    for each in options * 2:
        each = {"threshold": 0.5, "min_speech_ms": 250, "min_silence_ms": 100, "speech_pad_ms": 30,
                "max_speech_s": 0} | each
        track = random_track(random, 250).astype(np.float32)
        n_samples = 512 * len(track) - int(random.integers(0, 31)) * 16
        found = get_speech_timestamps_from_probs(
            track.tolist(), threshold=each["threshold"],
            min_speech_duration_ms=each["min_speech_ms"],
            min_silence_duration_ms=each["min_silence_ms"], speech_pad_ms=each["speech_pad_ms"],
            max_speech_duration_s=each["max_speech_s"] or float("inf"),
            audio_length_samples=n_samples)
        yield {"options": each, "duration_ms": n_samples // 16,
               "probabilities": [float(f"{p:.3f}") for p in track],
               "regions": [[x["start"] / 16, x["end"] / 16] for x in found]}


def main():
    TWIN.mkdir(exist_ok=True)
    weights = tiny_weights()
    (TWIN / "silero_vad_16k_sequence.onnx").write_bytes(onnx(weights))
    golden = {"tiny": [round(p, 7) for p in probabilities(weights, tiny_sound())],
              "hello.flac": [round(p, 7) for p in published()]}
    print("tiny: from", min(golden["tiny"]), "to", max(golden["tiny"]))
    (TWIN / "golden.json").write_text(json.dumps(golden) + "\n")
    REGIONS.write_text(json.dumps(list(region_cases())) + "\n")


main()
