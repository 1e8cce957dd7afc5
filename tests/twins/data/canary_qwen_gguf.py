#!/usr/bin/env python3
"""Writes a GGUF file of a small Canary-Qwen checkpoint, as files of this family are published: from
the description of the format alone, with nothing but Python's own library, so that it shares no
line with the converter.

usage: canary_qwen_gguf.py CHECKPOINT OUT [PAD_MODE]
"""

import json
import re
import struct
import sys
from pathlib import Path

F32, F16, BF16 = 0, 1, 30
E = "perception.encoder."
RENAMES = [  # first match counts
    (r"perception\.preprocessor\.featurizer\.fb", "frontend.mel_filterbank"),
    (r"perception\.preprocessor\.featurizer\.window", "frontend.window"),
    (r"perception\.encoder\.pre_encode\.", "enc.pre_encode."),
    (r"perception\.encoder\.layers\.", "enc.blocks."),
    (r"perception\.proj\.", "enc.proj."),
    (r"embed_tokens\.", "dec.token_embd."),
    (r"llm\.base_model\.model\.model\.norm\.", "dec.output_norm."),
    (r"llm\.base_model\.model\.model\.layers\.", "dec.blocks."),
]
PARTS = {
    "norm_feed_forward1": "norm_ff1",
    "norm_self_att": "norm_attn",
    "norm_feed_forward2": "norm_ff2",
    "feed_forward1": "ff1",
    "feed_forward2": "ff2",
    "self_attn": "attn",
    "pointwise_conv1": "pointwise1",
    "pointwise_conv2": "pointwise2",
    "depthwise_conv": "depthwise",
    "batch_norm": "bn",
    "input_layernorm": "norm_attn",
    "post_attention_layernorm": "norm_ffn",
    "q_proj": "q",
    "k_proj": "k",
    "v_proj": "v",
    "o_proj": "o",
    "mlp": "ffn",
    "gate_proj": "gate",
    "up_proj": "up",
    "down_proj": "down",
}


def read_safetensors(path):
    raw = path.read_bytes()
    n = struct.unpack("<Q", raw[:8])[0]
    out = {}
    for name, entry in json.loads(raw[8 : 8 + n]).items():
        if name == "__metadata__" or entry["dtype"] != "BF16":
            continue
        begin, end = (8 + n + at for at in entry["data_offsets"])
        halves = struct.unpack(f"<{(end - begin) // 2}H", raw[begin:end])
        values = struct.unpack(
            f"<{len(halves)}f", struct.pack(f"<{len(halves)}I", *(h << 16 for h in halves))
        )
        out[name] = (entry["shape"], list(values))
    return out


def merged(tensors, scale):
    """W + scale * B A for each base layer."""
    out = {}
    for name, (shape, values) in tensors.items():
        if ".lora_" in name:
            continue
        if ".base_layer." in name:
            (rank, n_in), a = tensors[name.replace("base_layer", "lora_A.default")]
            _, b = tensors[name.replace("base_layer", "lora_B.default")]
            values = [
                values[o * n_in + i]
                + scale * sum(b[o * rank + r] * a[r * n_in + i] for r in range(rank))
                for o in range(shape[0])
                for i in range(n_in)
            ]
            name = name.replace(".base_layer", "")
        out[name] = (shape, values)
    return out


def our_name(name):
    for pattern, ours in RENAMES:
        name, n = re.subn("^" + pattern, ours, name)
        if n:
            break
    return ".".join(PARTS.get(part, part) for part in name.split("."))


def dtype_of(name):
    if not name.endswith(".weight") or re.search(r"\.norm_|norm\.weight$|\.bn\.", name):
        return F32
    return F16 if ".conv." in name else BF16


def packed(values, dtype):
    if dtype == F16:
        return struct.pack(f"<{len(values)}e", *values)
    raw = struct.pack(f"<{len(values)}f", *values)
    if dtype == F32:
        return raw
    bits = struct.unpack(f"<{len(values)}I", raw)
    return struct.pack(f"<{len(values)}H", *((b + 0x7FFF + (b >> 16 & 1)) >> 16 for b in bits))


def text(value):
    return struct.pack("<Q", len(value.encode())) + value.encode()


def key(name, value):
    out = text(name)
    if isinstance(value, bool):
        return out + struct.pack("<IB", 7, value)
    if isinstance(value, int):
        return out + struct.pack("<II", 4, value)
    if isinstance(value, float):
        return out + struct.pack("<If", 6, value)
    if isinstance(value, str):
        return out + struct.pack("<I", 8) + text(value)
    if value and isinstance(value[0], int):
        return out + struct.pack("<IIQ", 9, 5, len(value)) + struct.pack(f"<{len(value)}i", *value)
    return out + struct.pack("<IIQ", 9, 8, len(value)) + b"".join(text(v) for v in value)


def keys_of(salm, qwen, tokenizer, n_heads, pad_mode):
    enc = salm["perception"]["encoder"]
    pieces = [f"<|unused_{i}|>" for i in range(qwen["vocab_size"])]
    types = [1] * len(pieces)
    for piece, i in tokenizer["model"]["vocab"].items():
        pieces[i] = piece
    for token in tokenizer["added_tokens"]:
        pieces[token["id"]], types[token["id"]] = token["content"], 3 if token["special"] else 4
    audio = max(token["id"] for token in tokenizer["added_tokens"]) + 1
    pieces[audio], types[audio] = salm["audio_locator_tag"], 3
    p = "stt.canary_qwen."
    yield from {
        "general.architecture": "canary_qwen",
        "general.name": "canary-qwen-tiny",
        "general.languages": ["en"],
        p + "encoder.n_layers": enc["n_layers"],
        p + "encoder.d_model": enc["d_model"],
        p + "encoder.n_heads": n_heads,
        p + "encoder.d_ff": enc["d_model"] * enc["ff_expansion_factor"],
        p + "encoder.conv_kernel": enc["conv_kernel_size"],
        p + "encoder.subsampling_factor": 8,
        p + "encoder.subsampling_channels": enc["subsampling_conv_channels"],
        p + "encoder.pos_emb_max_len": 5000,
        p + "perception.audio_locator_id": audio,
        p + "decoder.n_layers": qwen["num_hidden_layers"],
        p + "decoder.hidden_size": qwen["hidden_size"],
        p + "decoder.intermediate_size": qwen["intermediate_size"],
        p + "decoder.n_heads": qwen["num_attention_heads"],
        p + "decoder.n_kv_heads": qwen["num_key_value_heads"],
        p + "decoder.head_dim": qwen["head_dim"],
        p + "decoder.max_position_embeddings": qwen["max_position_embeddings"],
        p + "decoder.vocab_size": qwen["vocab_size"],
        p + "decoder.rms_norm_eps": float(qwen["rms_norm_eps"]),
        p + "decoder.rope_theta": float(qwen["rope_theta"]),
        "stt.frontend.sample_rate": 16000,
        "stt.frontend.num_mels": 128,
        "stt.frontend.n_fft": 512,
        "stt.frontend.win_length": 400,
        "stt.frontend.hop_length": 160,
        "stt.frontend.pre_emphasis": 0.97,
        "stt.frontend.f_min": 0.0,
        "stt.frontend.f_max": 8000.0,
        "stt.frontend.pad_mode": pad_mode,
        "stt.frontend.normalize": "per_feature",
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "qwen2",
        "tokenizer.ggml.eos_token_id": pieces.index("<|im_end|>"),
        "tokenizer.ggml.padding_token_id": pieces.index("<|endoftext|>"),
        "tokenizer.ggml.add_bos_token": False,
        "tokenizer.ggml.tokens": pieces,
        "tokenizer.ggml.token_type": types,
        "tokenizer.ggml.merges": [" ".join(merge) for merge in tokenizer["model"]["merges"]],
    }.items()


def main():
    source, out, pad_mode = Path(sys.argv[1]), Path(sys.argv[2]), (sys.argv[3:] or ["constant"])[0]
    salm, qwen, tokenizer = (
        json.loads((source / name).read_text())
        for name in ("config.json", "llm_backbone/config.json", "llm_backbone/tokenizer.json")
    )
    tensors = merged(
        read_safetensors(source / "model.safetensors"),
        salm["lora"]["lora_alpha"] / salm["lora"]["r"],
    )
    n_heads = tensors[E + "layers.0.self_attn.pos_bias_u"][0][0]
    keys = [key(*pair) for pair in keys_of(salm, qwen, tokenizer, n_heads, pad_mode)]
    infos, data = [], b""
    for source_name, (shape, values) in tensors.items():
        name = our_name(source_name)
        if name == "frontend.mel_filterbank":
            shape = shape[1:]
        dtype = dtype_of(name)
        dims = shape[::-1]
        infos.append(
            text(name) + struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims, dtype, len(data))
        )
        data += packed(values, dtype)
        data += b"\0" * (-len(data) % 32)
    header = (
        b"GGUF" + struct.pack("<IQQ", 3, len(infos), len(keys)) + b"".join(keys) + b"".join(infos)
    )
    out.write_bytes(header + b"\0" * (-len(header) % 32) + data)


if __name__ == "__main__":
    main()
