#!/usr/bin/env python3
"""Makes tests/twins/data/canary-qwen: a tiny random checkpoint in the layout of Canary-Qwen's own
(NeMo's SALM, LoRA not merged), and what its encoder gives for two clips.

NeMo is not asked: forward() below is written from its code as double-precision NumPy, layer for
layer, with the length masks, and gives NeMo's own numbers on larger checkpoints. Needs numpy, torch
(rounding to BF16) and safetensors.

usage: make_canary_qwen_twin.py OUT_DIR
"""

import json
import sys
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file

D, HEADS, LAYERS, CHANNELS, KERNEL = 16, 2, 2, 4, 5
LM = dict(
    hidden_size=24,
    num_attention_heads=2,
    num_key_value_heads=1,
    head_dim=16,
    num_hidden_layers=1,
    intermediate_size=32,
    vocab_size=288,
)
RANK, ALPHA = 2, 4
CLIPS = {"whole": 6400, "odd": 4390}  # samples: 40 frames, a multiple of 8, and 27
ENCODER = "perception.encoder."


def slaney_filters(n_mels=128, n_fft=512, rate=16000):
    def hz(mel):
        return np.where(mel < 15, mel * 200 / 3, 1000 * np.exp(np.log(6.4) / 27 * (mel - 15)))

    top = 15 + np.log(rate / 2 / 1000) / (np.log(6.4) / 27)
    edges = hz(np.linspace(0, top, n_mels + 2))
    bins = np.linspace(0, rate / 2, n_fft // 2 + 1)
    up = (bins - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    down = (edges[2:, None] - bins) / (edges[2:] - edges[1:-1])[:, None]
    return np.maximum(0, np.minimum(up, down)) * (2 / (edges[2:] - edges[:-2]))[:, None]


def checkpoint(rng):
    """Every tensor of the real file, by name, in its shape; values that BF16 holds."""
    out = {}

    def add(name, *shape, mean=0.0, std=None):
        fan = np.prod(shape[1:]) if len(shape) > 1 else 1
        std = std or (1 / np.sqrt(fan) if len(shape) > 1 else 0.1)
        out[name] = torch.from_numpy(rng.normal(mean, std, shape)).bfloat16()

    def linear(name, *shape, mean=0.0):
        add(name + ".weight", *shape, mean=mean)
        add(name + ".bias", shape[0])

    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(400) / 399)
    out["perception.preprocessor.featurizer.fb"] = torch.from_numpy(
        slaney_filters()[None]
    ).bfloat16()
    out["perception.preprocessor.featurizer.window"] = torch.from_numpy(window).bfloat16()
    for i in (0, 2, 5):
        linear(f"{ENCODER}pre_encode.conv.{i}", CHANNELS, 1, 3, 3)
    for i in (3, 6):
        linear(f"{ENCODER}pre_encode.conv.{i}", CHANNELS, CHANNELS, 1, 1)
    linear(ENCODER + "pre_encode.out", D, CHANNELS * 16)
    for layer in range(LAYERS):
        at = f"{ENCODER}layers.{layer}."
        for norm in ("feed_forward1", "self_att", "conv", "feed_forward2", "out"):
            linear(at + "norm_" + norm, D, mean=1.0)
        for ff in ("feed_forward1", "feed_forward2"):
            linear(at + ff + ".linear1", 4 * D, D)
            linear(at + ff + ".linear2", D, 4 * D)
        for part in "q", "k", "v", "out":
            linear(at + "self_attn.linear_" + part, D, D)
        add(at + "self_attn.linear_pos.weight", D, D)
        for bias in "uv":
            add(at + "self_attn.pos_bias_" + bias, HEADS, D // HEADS, std=0.5)
        linear(at + "conv.pointwise_conv1", 2 * D, D, 1)
        linear(at + "conv.depthwise_conv", D, 1, KERNEL)
        linear(at + "conv.pointwise_conv2", D, D, 1)
        linear(at + "conv.batch_norm", D, mean=1.0)
        add(at + "conv.batch_norm.running_mean", D)
        out[at + "conv.batch_norm.running_var"] = torch.from_numpy(
            rng.uniform(0.5, 1.5, D)
        ).bfloat16()
        out[at + "conv.batch_norm.num_batches_tracked"] = torch.tensor(7)
    linear("perception.proj", LM["hidden_size"], D)
    add_language_model(add)
    return out


def add_language_model(add):
    h, q = LM["hidden_size"], LM["num_attention_heads"] * LM["head_dim"]
    kv, f = LM["num_key_value_heads"] * LM["head_dim"], LM["intermediate_size"]
    add("embed_tokens.weight", LM["vocab_size"], h, std=0.3)
    add("llm.base_model.model.model.norm.weight", h, mean=1.0)
    for layer in range(LM["num_hidden_layers"]):
        at = f"llm.base_model.model.model.layers.{layer}."
        for name, n in (("q_proj", q), ("v_proj", kv)):
            add(f"{at}self_attn.{name}.base_layer.weight", n, h)
            add(f"{at}self_attn.{name}.lora_A.default.weight", RANK, h)
            add(f"{at}self_attn.{name}.lora_B.default.weight", n, RANK)
        add(at + "self_attn.k_proj.weight", kv, h)
        add(at + "self_attn.o_proj.weight", h, q)
        for norm in "q_norm", "k_norm":
            add(f"{at}self_attn.{norm}.weight", LM["head_dim"], mean=1.0)
        for norm in "input_layernorm", "post_attention_layernorm":
            add(f"{at}{norm}.weight", h, mean=1.0)
        for name, shape in (("gate_proj", (f, h)), ("up_proj", (f, h)), ("down_proj", (h, f))):
            add(f"{at}mlp.{name}.weight", *shape)


def forward(w, samples):
    """One clip through front end, encoder and projection -> {tap: array, time first}."""

    def norm(x, name):
        mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
        return (x - mean) / np.sqrt(var + 1e-5) * w[name + ".weight"] + w[name + ".bias"]

    def linear(x, name):
        matrix = w[name + ".weight"]
        return x @ matrix.reshape(len(matrix), -1).T + w.get(name + ".bias", 0)

    def sigmoid(x):
        return 1 / (1 + np.exp(-x))

    mel = log_mel(w, samples)
    n = len(mel)
    padded = np.concatenate([mel, np.zeros((1, 128))])  # the reference computes one frame more
    x, n = subsample(w, padded[None], n)  # [C, T', 16]
    rows = x.shape[1]
    x = linear(x.transpose(1, 0, 2).reshape(rows, -1), ENCODER + "pre_encode.out")
    taps = {"mel": mel, "enc.pre_encode.out": x[:n]}
    positions = np.arange(rows - 1, -rows, -1)[:, None] * np.exp(
        np.arange(0, D, 2) * -np.log(1e4) / D
    )
    table = np.stack([np.sin(positions), np.cos(positions)], -1).reshape(2 * rows - 1, D)
    for layer in range(LAYERS):
        at = f"{ENCODER}layers.{layer}."

        def feed_forward(x, i):
            y = linear(norm(x, f"{at}norm_feed_forward{i}"), f"{at}feed_forward{i}.linear1")
            return x + 0.5 * linear(y * sigmoid(y), f"{at}feed_forward{i}.linear2")

        x = feed_forward(x, 1)
        x = x + attend(w, norm(x, at + "norm_self_att"), table, n, at + "self_attn.", linear)
        y = linear(norm(x, at + "norm_conv"), at + "conv.pointwise_conv1")
        y = y[:, :D] * sigmoid(y[:, D:])
        y[n:] = 0
        y = np.pad(y, ((KERNEL // 2, KERNEL // 2), (0, 0)))
        kernel = w[at + "conv.depthwise_conv.weight"][:, 0].T
        y = (
            sum(y[k : k + rows] * kernel[k] for k in range(KERNEL))
            + w[at + "conv.depthwise_conv.bias"]
        )
        stats = {
            k: w[f"{at}conv.batch_norm.{k}"]
            for k in ("weight", "bias", "running_mean", "running_var")
        }
        y = (y - stats["running_mean"]) / np.sqrt(stats["running_var"] + 1e-5) * stats[
            "weight"
        ] + stats["bias"]
        x = x + linear(y * sigmoid(y), at + "conv.pointwise_conv2")
        x = norm(feed_forward(x, 2), at + "norm_out")
        taps[f"enc.block.{layer}.out"] = x[:n]
    taps["enc.proj.out"] = linear(x, "perception.proj")[:n]
    return taps


def log_mel(w, x):
    n = len(x) // 160
    y = np.append(x[0], x[1:] - np.float32(0.97) * x[:-1])
    y = np.pad(y, 256)
    window = np.pad(w["perception.preprocessor.featurizer.window"], 56)
    power = [np.abs(np.fft.rfft(y[t * 160 : t * 160 + 512] * window)) ** 2 for t in range(n)]
    mel = np.log(np.array(power) @ w["perception.preprocessor.featurizer.fb"][0].T + 2**-24)
    return (mel - mel.mean(0)) / (mel.std(0, ddof=1) + 1e-5)


def subsample(w, x, n):
    """[1, T, 128] of which n are its own -> [C, T', 16], and how many of those are."""

    def halve(x, i, n):
        x = np.where(np.arange(x.shape[1])[None, :, None] < n, x, 0)
        kernel, bias = (
            w[f"{ENCODER}pre_encode.conv.{i}.weight"][:, 0],
            w[f"{ENCODER}pre_encode.conv.{i}.bias"],
        )
        t, f = (x.shape[1] + 1) // 2, (x.shape[2] + 1) // 2
        p = np.pad(x, ((0, 0), (1, 2), (1, 2)))
        y = sum(
            p[:, a : a + 2 * t : 2, b : b + 2 * f : 2][:, :t, :f] * kernel[:, a, b][:, None, None]
            for a in range(3)
            for b in range(3)
        )
        return y + bias[:, None, None], (n + 1) // 2

    x, n = halve(x, 0, n)
    x = np.maximum(x, 0)
    for i in (2, 5):
        x, n = halve(x, i, n)
        name = f"{ENCODER}pre_encode.conv.{i + 1}"
        x = (
            np.einsum("oc,ctf->otf", w[name + ".weight"][:, :, 0, 0], x)
            + w[name + ".bias"][:, None, None]
        )
        x = np.maximum(x, 0)
    return x, n


def attend(w, x, table, n, at, linear):
    rows, width = len(x), D // HEADS
    q, k, v = (linear(x, at + "linear_" + part).reshape(rows, HEADS, width) for part in "qkv")
    p = linear(table, at + "linear_pos").reshape(-1, HEADS, width)
    content = np.einsum("ihc,jhc->hij", q + w[at + "pos_bias_u"], k)
    position = np.einsum("ihc,rhc->hir", q + w[at + "pos_bias_v"], p)
    index = rows - 1 - np.arange(rows)[:, None] + np.arange(rows)
    position = np.take_along_axis(position, np.broadcast_to(index, (HEADS, rows, rows)), 2)
    scores = (content + position) / np.sqrt(width)
    scores[:, :, n:] = -np.inf
    probs = np.exp(scores - scores.max(-1, keepdims=True))
    probs /= probs.sum(-1, keepdims=True)
    return linear(np.einsum("hij,jhc->ihc", probs, v).reshape(rows, D), at + "linear_out")


def byte_alphabet():
    """GPT-2's printable stand-ins for bytes."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in plain]
    return {b: chr(b if b in plain else 256 + others.index(b)) for b in range(256)}


def tokenizer():
    pieces = sorted(byte_alphabet().values())
    merges = ["Ġ t", "h e", "Ġt he", "u s", "e r", "us er", "i n", "a n"]
    pieces += [merge.replace(" ", "") for merge in merges]
    added = [
        ("<|endoftext|>", True),
        ("<|im_start|>", True),
        ("<|im_end|>", True),
        ("<|fim_middle|>", False),
        ("<think>", False),
    ]
    vocab = {piece: i for i, piece in enumerate(pieces)}
    return {
        "model": {"type": "BPE", "vocab": vocab, "merges": [merge.split() for merge in merges]},
        "added_tokens": [
            {"id": len(vocab) + i, "content": text, "special": special}
            for i, (text, special) in enumerate(added)
        ],
    }


def configs():
    encoder = dict(
        feat_in=128,
        n_layers=LAYERS,
        d_model=D,
        n_heads=HEADS,
        ff_expansion_factor=4,
        subsampling="dw_striding",
        subsampling_factor=8,
        subsampling_conv_channels=CHANNELS,
        conv_kernel_size=KERNEL,
        conv_norm_type="batch_norm",
        self_attention_model="rel_pos",
        untie_biases=True,
        xscaling=False,
        pos_emb_max_len=5000,
        att_context_size=[-1, -1],
    )
    front = dict(
        sample_rate=16000,
        normalize="per_feature",
        window_size=0.025,
        window_stride=0.01,
        window="hann",
        features=128,
        n_fft=512,
        log=True,
        dither=1e-5,
        pad_to=0,
    )
    adapter = {"_target_": "nemo.collections.speechlm2.modules.perception.IdentityConnector"}
    salm = dict(
        pretrained_llm="Qwen/Qwen3-1.7B",
        audio_locator_tag="<|audioplaceholder|>",
        prompt_format="qwen",
        lora=dict(r=RANK, lora_alpha=ALPHA, target_modules=["q_proj", "v_proj"]),
        perception=dict(
            encoder=encoder,
            preprocessor=front,
            modality_adapter=adapter,
            output_dim=LM["hidden_size"],
        ),
    )
    qwen = dict(
        LM,
        model_type="qwen3",
        hidden_act="silu",
        attention_bias=False,
        max_position_embeddings=512,
        rms_norm_eps=1e-6,
        rope_scaling=None,
        rope_theta=1000000,
        tie_word_embeddings=True,
    )
    return (
        salm,
        qwen,
        dict(eos_token="<|im_end|>", pad_token="<|endoftext|>", chat_template="{{ messages }}"),
    )


def main():
    out = Path(sys.argv[1])
    (out / "llm_backbone").mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(5)
    weights = checkpoint(rng)
    save_file(weights, out / "model.safetensors")
    salm, qwen, tokens = configs()
    for name, value in (
        ("config.json", salm),
        ("llm_backbone/config.json", qwen),
        ("llm_backbone/tokenizer.json", tokenizer()),
        ("llm_backbone/tokenizer_config.json", tokens),
    ):
        (out / name).write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n")
    doubles = {name: value.double().numpy() for name, value in weights.items()}
    golden = {}
    for clip, n in CLIPS.items():
        t = np.arange(n) / 16000
        sound = 0.4 * np.sin(2 * np.pi * (300 + 2000 * t) * t) * np.exp(-3 * t) + rng.normal(
            0, 0.02, n
        )
        samples = np.round(sound * 1024) / 1024  # as F16 holds it
        golden[clip + ".samples"] = torch.from_numpy(samples).half()
        for tap, values in forward(doubles, samples).items():
            golden[f"{clip}.{tap}"] = torch.from_numpy(np.ascontiguousarray(values, np.float32))
    save_file(golden, out / "golden.safetensors")


if __name__ == "__main__":
    main()
