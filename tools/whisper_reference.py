"""openai-whisper as the reference: weights from a Hugging Face or CTranslate2 directory, and taps.

For reference_taps.py and make_whisper_twin.py. Needs openai-whisper and safetensors (README.md).
Arrays are NumPy's, slowest axis first; a batch axis of 1 is dropped.
"""
import json
import re
import struct
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file
from whisper.model import ModelDimensions, Whisper

# Hugging Face name -> openai-whisper name, tried in this order.
FROM_HF = [(re.compile(a), b) for a, b in [
    (r"^model\.", ""),
    (r"^(en|de)coder\.embed_positions\.weight$", r"\1coder.positional_embedding"),
    (r"\.embed_tokens\.", ".token_embedding."),
    (r"\.layers\.", ".blocks."),
    (r"\.self_attn_layer_norm\.", ".attn_ln."),
    (r"\.encoder_attn_layer_norm\.", ".cross_attn_ln."),
    (r"\.final_layer_norm\.", ".mlp_ln."),
    (r"\.self_attn\.", ".attn."),
    (r"\.encoder_attn\.", ".cross_attn."),
    (r"\.q_proj\.", ".query."), (r"\.k_proj\.", ".key."), (r"\.v_proj\.", ".value."),
    (r"\.out_proj\.", ".out."), (r"\.fc1\.", ".mlp.0."), (r"\.fc2\.", ".mlp.2."),
    (r"^encoder\.layer_norm\.", "encoder.ln_post."), (r"^decoder\.layer_norm\.", "decoder.ln."),
]]


def openai_name(name):
    for pattern, replacement in FROM_HF:
        name = pattern.sub(replacement, name)
    return name


def read_hf(folder):
    """-> ({openai name: fp32 tensor}, number of heads)"""
    state = {}
    for file in sorted(folder.glob("*.safetensors")):
        state |= {openai_name(k): v.float() for k, v in load_file(file).items()
                  if k != "proj_out.weight"}
    return state, json.loads((folder / "config.json").read_text())["encoder_attention_heads"]


def read_ct2_variables(file):
    """CTranslate2's model.bin, binary version 6 -> {name: array}; int8 rows are scaled back."""
    dtypes = [np.float32, np.int8, np.int16, np.int32, np.float16]

    def number(form):
        return struct.unpack("<" + form, file.read(struct.calcsize("<" + form)))[0]

    def string():
        return file.read(number("H"))[:-1].decode()

    if number("I") != 6:
        raise SystemExit("model.bin is not of binary version 6")
    string(), number("I")
    out = {}
    for _ in range(number("I")):
        name, rank = string(), number("B")
        shape = [number("I") for _ in range(rank)]
        dtype, n_bytes = dtypes[number("B")], number("I")
        out[name] = np.frombuffer(file.read(n_bytes), dtype).reshape(shape).astype(np.float32)
    for name in [n for n in out if n.endswith("_scale")]:
        out[name.removesuffix("_scale")] /= out[name].reshape(-1, 1)
    return out


def read_ct2(folder):
    """-> ({openai name: fp32 tensor}, number of heads)"""
    with open(folder / "model.bin", "rb") as file:
        v = read_ct2_variables(file)
    state = {}

    def put(ours, theirs, kind=("weight", "bias")):
        for leaf, source in zip(("weight", "bias"), kind):
            state[f"{ours}.{leaf}"] = v[f"{theirs}/{source}"]

    def norm(ours, theirs):
        put(ours, theirs + "/layer_norm", ("gamma", "beta"))

    def split(names, theirs):
        for i, name in enumerate(names):
            for leaf in ("weight", "bias")[:1 if name.endswith("key") else 2]:
                state[f"{name}.{leaf}"] = np.split(v[f"{theirs}/{leaf}"], len(names))[i]

    for side, last in (("encoder", "ln_post"), ("decoder", "ln")):
        state[f"{side}.positional_embedding"] = v[f"{side}/position_encodings/encodings"]
        norm(f"{side}.{last}", side)
        for i in sorted({int(m[1]) for n in v if (m := re.match(rf"{side}/layer_(\d+)/", n))}):
            a, b = f"{side}.blocks.{i}", f"{side}/layer_{i}"
            split([f"{a}.attn.query", f"{a}.attn.key", f"{a}.attn.value"],
                  f"{b}/self_attention/linear_0")
            put(f"{a}.attn.out", f"{b}/self_attention/linear_1")
            norm(f"{a}.attn_ln", f"{b}/self_attention")
            put(f"{a}.mlp.0", f"{b}/ffn/linear_0")
            put(f"{a}.mlp.2", f"{b}/ffn/linear_1")
            norm(f"{a}.mlp_ln", f"{b}/ffn")
            if side == "decoder":
                put(f"{a}.cross_attn.query", f"{b}/attention/linear_0")
                split([f"{a}.cross_attn.key", f"{a}.cross_attn.value"], f"{b}/attention/linear_1")
                put(f"{a}.cross_attn.out", f"{b}/attention/linear_2")
                norm(f"{a}.cross_attn_ln", f"{b}/attention")
    for i in (1, 2):
        put(f"encoder.conv{i}", f"encoder/conv{i}")
    state["decoder.token_embedding.weight"] = v["decoder/embeddings/weight"]
    state = {k: torch.from_numpy(np.ascontiguousarray(x)) for k, x in state.items()}
    return state, int(v["encoder/num_heads"])


def dimensions(state, n_heads):
    n_text_layer = len({k for k in state if re.match(r"decoder\.blocks\.\d+\.mlp\.0\.bias", k)})
    n_audio_layer = len({k for k in state if re.match(r"encoder\.blocks\.\d+\.mlp\.0\.bias", k)})
    n_audio_ctx, d = state["encoder.positional_embedding"].shape
    n_text_ctx = state["decoder.positional_embedding"].shape[0]
    n_vocab = state["decoder.token_embedding.weight"].shape[0]
    n_mels = state["encoder.conv1.weight"].shape[1]
    return ModelDimensions(n_mels, n_audio_ctx, d, n_heads, n_audio_layer,
                           n_vocab, n_text_ctx, d, n_heads, n_text_layer)


def load_model(folder):
    """A Hugging Face directory, or a CTranslate2 one (known by its model.bin)."""
    folder = Path(folder)
    state, n_heads = (read_ct2 if (folder / "model.bin").exists() else read_hf)(folder)
    model = Whisper(dimensions(state, n_heads))
    model.load_state_dict(state)
    return model.float().eval()


@contextmanager
def taps(model):
    """Within the block every forward adds its values; a name that comes again gets .1, .2 ..."""
    out, counts, hooks = {}, {}, []

    def listen(module, name):
        def take(_, __, y):
            n = counts[name] = counts.get(name, -1) + 1
            out[f"{name}.{n}" if n else name] = y.detach().float().squeeze(0).numpy().copy()
        hooks.append(module.register_forward_hook(take))

    listen(model.encoder.conv1, "enc.conv1.pre_gelu")
    listen(model.encoder.conv2, "enc.conv2.pre_gelu")
    listen(model.encoder.ln_post, "enc.out")
    listen(model.decoder.ln, "dec.ln")
    listen(model.decoder, "dec.logits")
    for side, blocks in (("enc", model.encoder.blocks), ("dec", model.decoder.blocks)):
        for i, block in enumerate(blocks):
            listen(block, f"{side}.block.{i}.out")
    try:
        yield out
    finally:
        for hook in hooks:
            hook.remove()


@torch.no_grad()
def raw_greedy(model, audio, prompt, n_steps):
    """Arg-max without any rule -> ids"""
    tokens = list(prompt)
    for _ in range(n_steps):
        tokens.append(int(model.decoder(torch.tensor([tokens]), audio)[0, -1].argmax()))
    return tokens[len(prompt):]
