#!/usr/bin/env python3
"""Makes tests/twins/data/causal_lm: tiny random language models of the Llama and Qwen lineage, and
what `transformers` computes with them in fp32 on the CPU.

    python3 -m venv VENV && VENV/bin/pip install transformers==5.24.0 torch safetensors
    VENV/bin/python tools/make_lm_twin.py        # writes over the committed files

Each model is one file, NAME.safetensors: its weights, in BF16 and under our own names (so that the
test needs no mapping), and values inside, `golden.*`, in F32, slowest axis first. NAME.json has the
sizes, prompts and tokens. What bites: an arg-max that rounding could turn would make the twin
worthless, so seeds are searched until the two best logits of every step are MARGIN apart, and the
tokens of a text vary.
"""
import json
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import save_file
from transformers import LlamaConfig, LlamaForCausalLM, Qwen3Config, Qwen3ForCausalLM

OUT = Path(__file__).resolve().parents[1] / "tests/twins/data/causal_lm"
N_VOCAB, N_GREEDY, MARGIN, N_DIFFERENT = 96, 32, 0.01, 6
PROMPTS = [[5, 17, 80, 3, 44], [9, 1, 1, 62, 30, 77, 12, 90, 8, 51, 23], [71, 2]]


@dataclass
class Twin:
    name: str
    qwen: bool  # normalizes queries and keys
    tied: bool
    d: int
    n_heads: int
    n_kv_heads: int
    d_head: int
    rope_theta: float


TWINS = [Twin("qwen3", True, True, 64, 4, 2, 16, 1e6),
         Twin("llama", False, False, 48, 3, 1, 16, 5e5),
         Twin("wide-heads", True, False, 32, 6, 2, 32, 1e4)]

NAMES = {"input_layernorm": "norm_attn", "post_attention_layernorm": "norm_ffn",
         "self_attn.q_proj": "attn.q", "self_attn.k_proj": "attn.k", "self_attn.v_proj": "attn.v",
         "self_attn.o_proj": "attn.o", "self_attn.q_norm": "attn.q_norm",
         "self_attn.k_norm": "attn.k_norm", "mlp.gate_proj": "ffn.gate", "mlp.up_proj": "ffn.up",
         "mlp.down_proj": "ffn.down"}


def our_name(name):
    name = name.removesuffix(".weight").removeprefix("model.")
    if name.startswith("layers."):
        _, number, rest = name.split(".", 2)
        return f"dec.blocks.{number}.{NAMES[rest]}.weight"
    return {"embed_tokens": "dec.token_embd", "norm": "dec.output_norm",
            "lm_head": "dec.output"}[name] + ".weight"


def build(twin, seed):
    """A model whose weights BF16 holds exactly; norms near one."""
    config = (Qwen3Config if twin.qwen else LlamaConfig)(
        vocab_size=N_VOCAB, hidden_size=twin.d, intermediate_size=3 * twin.d // 2,
        num_hidden_layers=2, num_attention_heads=twin.n_heads,
        num_key_value_heads=twin.n_kv_heads, head_dim=twin.d_head, rms_norm_eps=1e-6,
        max_position_embeddings=128, tie_word_embeddings=twin.tied, attention_bias=False,
        rope_parameters={"rope_type": "default", "rope_theta": twin.rope_theta})
    torch.manual_seed(seed)
    model = (Qwen3ForCausalLM if twin.qwen else LlamaForCausalLM)(config).eval()
    with torch.no_grad():
        for name, p in model.named_parameters():
            if p.dim() == 1:
                std, mean = 0.3, 1
            elif "embed" in name:  # a tied head would say the last token again and again
                std, mean = 0.2 if twin.tied else 1, 0
            else:
                std, mean = 1.5 / p.shape[1] ** 0.5, 0
            p.copy_(mean + std * torch.randn_like(p))
            p.copy_(p.bfloat16().float())
    return model


@torch.no_grad()
def greedy(model, prompt):
    """-> tokens, the least distance of the two best logits."""
    ids, margin = list(prompt), float("inf")
    for _ in range(N_GREEDY):
        best = model(torch.tensor([ids])).logits[0, -1].topk(2)
        margin = min(margin, float(best.values[0] - best.values[1]))
        ids.append(int(best.indices[0]))
    return ids[len(prompt):], margin


def texts_of(model):
    """The tokens after each prompt, or None where one of them is close or they hardly vary."""
    texts = []
    for prompt in PROMPTS:
        text, margin = greedy(model, prompt)
        if margin < MARGIN or len(set(text)) < N_DIFFERENT:
            return None
        texts.append(text)
    return texts


def search(twin):
    for seed in range(1000):
        model = build(twin, seed)
        texts = texts_of(model)
        if texts:
            return seed, model, texts
    raise SystemExit(f"no seed for {twin.name}")


@torch.no_grad()
def goldens(model):
    """Logits of every token of the prompts; of the second prompt also the residual stream."""
    out = {}
    for i, prompt in enumerate(PROMPTS):
        run = model(torch.tensor([prompt]), output_hidden_states=True)
        out[f"golden.logits.{i}"] = run.logits[0]
        if i == 1:
            out["golden.block.0"] = run.hidden_states[1][0]
            out["golden.ln"] = run.hidden_states[-1][0]  # behind the last norm
    return {name: value.contiguous() for name, value in out.items()}


def main():
    torch.set_num_threads(1)
    OUT.mkdir(parents=True, exist_ok=True)
    for twin in TWINS:
        seed, model, texts = search(twin)
        tensors = {our_name(name): value.detach().bfloat16().clone()
                   for name, value in model.named_parameters()}
        save_file(tensors | goldens(model), OUT / f"{twin.name}.safetensors")
        facts = {"seed": seed, "n_layers": 2, "n_heads": twin.n_heads,
                 "n_kv_heads": twin.n_kv_heads, "d": twin.d, "d_head": twin.d_head,
                 "d_ff": 3 * twin.d // 2, "n_vocab": N_VOCAB, "rope_theta": twin.rope_theta,
                 "qk_norm": twin.qwen, "tied": twin.tied, "prompts": PROMPTS, "texts": texts}
        (OUT / f"{twin.name}.json").write_text(json.dumps(facts) + "\n")
        print(twin.name, "seed", seed, [len(set(text)) for text in texts])


main()
