#!/usr/bin/env python3
"""Makes the reference twins of Whisper in tests/twins/data (what is in them: the README there).

    python3 -m venv VENV && VENV/bin/pip install openai-whisper==20250625 safetensors transformers
    VENV/bin/python tools/make_whisper_twin.py [NAME]     # writes over the committed files

Random models that are tiny in every size, in the layout that Hugging Face gives Whisper, and what
the original implementation computes with them in fp32 on the CPU. `whisper` is like the models up
to large-v2; `whisper-v3` is like a distilled large-v3: 128 mels, 100 languages, fewer layers in the
decoder than in the encoder. What bites:
  - it counts its limit of 1.00 s for the first timestamp in steps of 30 s / n_audio_ctx; the option
    is scaled here so that it means 50 steps of 0.02 s, as in a real model;
  - an arg-max that rounding could turn would make the twin worthless: NOISE on the logits must not
    change a token. Seeds were searched for that, and for outputs with text and several timestamps.
"""
import json
import math
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import regex
import tiktoken
import torch
import whisper.decoding
from safetensors.torch import save_file
from whisper.decoding import DecodingOptions, DecodingTask, detect_language
from whisper.model import ModelDimensions, Whisper
from whisper.timing import find_alignment
from whisper.tokenizer import LANGUAGES, Tokenizer

import whisper_reference as reference

DATA = Path(__file__).resolve().parents[1] / "tests/twins/data"
NOISE, D, N_HEADS, N_TEXT_CTX, N_MERGES = 0.003, 16, 2, 64, 48


@dataclass
class Twin:
    name: str
    seed: int
    n_mels: int
    n_audio_layer: int
    n_text_layer: int
    n_audio_ctx: int
    n_content_frames: int
    languages: list
    alignment_heads: list  # layer, head; none: all of the upper half of the layers

    @property
    def out(self):
        return DATA / self.name


TWINS = [Twin("whisper", 399, 80, 2, 2, 60, 80, ["en", "zh", "de"], [[0, 0], [1, 0]]),
         Twin("whisper-v3", 20, 128, 3, 1, 32, 40, list(LANGUAGES), [])]
SPLIT = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
TEXT = """The quick brown fox jumps over the lazy dog, and the dog answers nothing at all. What they
said there was heard again and again; then the others went on with their work in the winter rain."""


def byte_alphabet():
    """GPT-2's order of the bytes -> the letter that stands for each in a vocabulary."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    rest = [b for b in range(256) if b not in plain]
    return {b: chr(b) for b in plain} | {b: chr(256 + i) for i, b in enumerate(rest)}


def train_merges(text, n_merges):
    """Byte pair encoding, learned from a few sentences: the commonest pair first."""
    words = [[bytes([b]) for b in word.encode()] for word in regex.findall(SPLIT, text)]
    merges = []
    while len(merges) < n_merges:
        pairs = Counter(pair for word in words for pair in zip(word, word[1:]))
        best = max(sorted(pairs), key=pairs.get)
        merges.append(best)
        for word in words:
            i = 0
            while i + 1 < len(word):
                if (word[i], word[i + 1]) == best:
                    word[i:i + 2] = [best[0] + best[1]]
                i += 1
    return merges


class Vocabulary:
    def __init__(self, twin):
        self.n_languages = len(twin.languages)
        self.letters = byte_alphabet()
        self.merges = train_merges(TEXT, N_MERGES)
        pieces = [bytes([b]) for b in self.letters] + [a + b for a, b in self.merges]
        self.ranks = {piece: i for i, piece in enumerate(pieces)}
        assert len(self.ranks) == 256 + N_MERGES
        names = ["<|endoftext|>", "<|startoftranscript|>",
                 *(f"<|{code}|>" for code in twin.languages),
                 "<|translate|>", "<|transcribe|>", "<|startoflm|>", "<|startofprev|>",
                 "<|nospeech|>", "<|notimestamps|>",
                 *(f"<|{0.02 * i:.2f}|>" for i in range(twin.n_audio_ctx + 1))]
        self.special = {name: len(self.ranks) + i for i, name in enumerate(names)}
        self.size = len(self.ranks) + len(self.special)

    def spelled(self, piece):
        return "".join(self.letters[b] for b in piece)

    def tokenizer(self, language, task):
        encoding = tiktoken.Encoding("twin", pat_str=SPLIT, mergeable_ranks=self.ranks,
                                     special_tokens=self.special, explicit_n_vocab=self.size)
        return Tokenizer(encoding, self.n_languages, language, task)

    def json(self):
        byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True,
                      "use_regex": True}
        return {
            "version": "1.0", "truncation": None, "padding": None, "normalizer": None,
            "added_tokens": [{"id": i, "content": name, "single_word": False, "lstrip": False,
                              "rstrip": False, "normalized": False, "special": True}
                             for name, i in self.special.items()],
            "pre_tokenizer": byte_level, "post_processor": None, "decoder": byte_level,
            "model": {"type": "BPE", "dropout": None, "unk_token": None, "fuse_unk": False,
                      "continuing_subword_prefix": "", "end_of_word_suffix": "",
                      "byte_fallback": False,
                      "vocab": {self.spelled(p): i for p, i in self.ranks.items()},
                      "merges": [f"{self.spelled(a)} {self.spelled(b)}" for a, b in self.merges]}}


def make_model(twin, vocabulary):
    """Normal weights, wide enough that each part matters."""
    model = Whisper(ModelDimensions(twin.n_mels, twin.n_audio_ctx, D, N_HEADS, twin.n_audio_layer,
                                    vocabulary.size, N_TEXT_CTX, D, N_HEADS, twin.n_text_layer))
    random = torch.Generator().manual_seed(twin.seed)
    state = model.state_dict()
    for name in sorted(state):
        shape = state[name].shape
        noise = torch.randn(shape, generator=random)
        if name == "encoder.positional_embedding":
            continue  # sinusoids
        if len(shape) == 1:
            is_scale = name.endswith("weight")
            state[name] = is_scale + (0.2 if is_scale else 0.1) * noise
        elif "embedding" in name:
            state[name] = noise * (2 if "positional" in name else 1)
        else:  # what a block adds outweighs what it is given, or the tied head repeats its input
            gain = 4 if name.endswith(("out.weight", "mlp.2.weight")) else 2
            state[name] = noise * gain / math.sqrt(math.prod(shape[1:]))
    # Early times and the end of text are made likelier, so that outputs have several segments.
    rows, begin = state["decoder.token_embedding.weight"], vocabulary.special["<|0.00|>"]
    rows[begin:] *= torch.linspace(1.5, 0.7, len(rows) - begin)[:, None]
    rows[vocabulary.special["<|endoftext|>"]] *= 1.7
    rows[vocabulary.special["<|nospeech|>"]] *= 1.3
    model.load_state_dict(state)
    return model.eval()


def hf_names(twin):
    """openai-whisper's names by Hugging Face's: the map of the reading side, turned round."""
    from transformers import WhisperConfig, WhisperForConditionalGeneration
    config = WhisperConfig(d_model=D, encoder_layers=twin.n_audio_layer,
                           decoder_layers=twin.n_text_layer,
                           encoder_attention_heads=N_HEADS, decoder_attention_heads=N_HEADS)
    names = WhisperForConditionalGeneration(config).state_dict()
    return {reference.openai_name(n): n for n in names if n != "proj_out.weight"}


def configs(twin, v):
    special, eot = v.special, v.special["<|endoftext|>"]
    blank = v.ranks[b" "]
    control = [special[f"<|{n}|>"] for n in ("startoftranscript", "translate", "transcribe",
                                             "startoflm", "startofprev", "nospeech")]
    symbols = sorted(v.ranks[s.encode()] for s in '"#()*+/:;<=>@[]^_`{|}~')
    shared = {"bos_token_id": eot, "eos_token_id": eot, "pad_token_id": eot,
              "decoder_start_token_id": special["<|startoftranscript|>"],
              "begin_suppress_tokens": [blank, eot], "suppress_tokens": symbols + control}
    model = {"architectures": ["WhisperForConditionalGeneration"], "model_type": "whisper",
             "torch_dtype": "float32", "activation_function": "gelu", "d_model": D,
             "num_mel_bins": twin.n_mels, "vocab_size": v.size,
             "num_hidden_layers": twin.n_audio_layer,
             "max_source_positions": twin.n_audio_ctx, "max_target_positions": N_TEXT_CTX,
             "scale_embedding": False, "tie_word_embeddings": True, "is_encoder_decoder": True}
    for side, n_layers in (("encoder", twin.n_audio_layer), ("decoder", twin.n_text_layer)):
        model |= {f"{side}_layers": n_layers, f"{side}_attention_heads": N_HEADS,
                  f"{side}_ffn_dim": 4 * D}
    generation = {"is_multilingual": True, "max_length": N_TEXT_CTX,
                  "max_initial_timestamp_index": 50, "return_timestamps": False,
                  "no_timestamps_token_id": special["<|notimestamps|>"],
                  "prev_sot_token_id": special["<|startofprev|>"],
                  "lang_to_id": {f"<|{c}|>": special[f"<|{c}|>"] for c in twin.languages},
                  "task_to_id": {t: special[f"<|{t}|>"] for t in ("transcribe", "translate")}}
    n_frames = 2 * twin.n_audio_ctx
    features = {"feature_extractor_type": "WhisperFeatureExtractor", "feature_size": twin.n_mels,
                "sampling_rate": 16000, "n_fft": 400, "hop_length": 160, "chunk_length": 30,
                "n_samples": n_frames * 160, "nb_max_frames": n_frames, "padding_value": 0.0,
                "padding_side": "right", "return_attention_mask": False}
    if twin.alignment_heads:
        generation["alignment_heads"] = twin.alignment_heads
    return {"config": model | shared, "generation_config": generation | shared,
            "preprocessor_config": features, "tokenizer": v.json()}


def decode(model, audio, vocabulary, suppress, **options):
    """The reference's own decoding of one window."""
    options = DecodingOptions(fp16=False, temperature=0, suppress_tokens=list(suppress),
                              max_initial_timestamp=50 * 30 / model.dims.n_audio_ctx,
                              **options)
    whisper.decoding.get_tokenizer = (
        lambda *_, language, task, **__: vocabulary.tokenizer(language, task))
    task = DecodingTask(model, options)
    result = task.run(audio)[0]
    return {"prompt": list(task.initial_tokens), "ids": result.tokens, "text": result.text,
            "avg_logprob": result.avg_logprob, "no_speech_prob": result.no_speech_prob,
            "compression_ratio": result.compression_ratio}


def assert_clear(model, decode_ids):
    """Noise on the logits, far above any rounding, must not change a token."""
    ids = decode_ids()
    random = torch.Generator().manual_seed(1)

    def shake(_, __, logits):
        return logits + NOISE * (2 * torch.rand(logits.shape, generator=random) - 1)

    hook = model.decoder.register_forward_hook(shake)
    assert all(decode_ids() == ids for _ in range(20)), "a choice is too close: another seed"
    hook.remove()


def make_mel(twin):
    """Smooth bands that move, in the range that a normalized log mel has."""
    t, f = np.arange(2 * twin.n_audio_ctx)[None], np.arange(twin.n_mels)[:, None]
    bands = np.sin(0.11 * t + 0.3 * f) * np.cos(0.05 * t - 0.17 * f) + 0.3 * np.sin(1.7 * t * f)
    mel = torch.from_numpy((0.2 + 0.6 * bands).astype(np.float32))
    mel[:, twin.n_content_frames:] = 0  # after the end of the recording, as `transcribe` pads
    return mel


def align(twin, model, vocabulary, mel):
    """When each token of a text was spoken; of Chinese, where a token of ASCII is a word."""
    tokenizer = vocabulary.tokenizer("zh", "transcribe")
    if twin.alignment_heads:
        heads = torch.zeros(twin.n_text_layer, N_HEADS, dtype=torch.bool)
        for layer, head in twin.alignment_heads:
            heads[layer, head] = True
        model.register_buffer("alignment_heads", heads.to_sparse(), persistent=False)
    heads = [torch.nonzero(layer)[:, 0].tolist() for layer in model.alignment_heads.to_dense()]
    text = tokenizer.encode(" the quick brown fox jumps over the lazy dog")
    words = find_alignment(model, tokenizer, text, mel, twin.n_content_frames)
    assert [t for word in words for t in word.tokens] == text and len(words) == len(text)
    return {"heads": heads, "n_frames": twin.n_content_frames,
            "before": list(tokenizer.sot_sequence_including_notimestamps), "text": text,
            "frames": [round(50 * t) for t in [w.start for w in words] + [words[-1].end]],
            "probabilities": [w.probability for w in words]}


@torch.no_grad()
def golden(twin, model, vocabulary, suppress):
    mel = make_mel(twin)[None]
    tokenizer = vocabulary.tokenizer("en", "transcribe")
    prompt = list(tokenizer.sot_sequence_including_notimestamps)
    with reference.taps(model) as arrays:
        audio = model.encoder(mel)
        model.decoder(torch.tensor([prompt]), audio)
    context = vocabulary.tokenizer("en", "transcribe").encode(" the dog answers")

    def run(**options):
        assert_clear(model, lambda: decode(model, audio, vocabulary, suppress, **options)["ids"])
        return decode(model, audio, vocabulary, suppress, **options)

    assert_clear(model, lambda: reference.raw_greedy(model, audio, prompt, 20))
    facts = {
        "reference": f"openai-whisper {whisper.__version__}, torch {torch.__version__}, fp32, CPU",
        "prompt": prompt, "raw_greedy_ids": reference.raw_greedy(model, audio, prompt, 20),
        "language_probs": detect_language(model, audio, tokenizer)[1][0],
        "greedy_nots": run(language="en", without_timestamps=True),
        "greedy_ts": run(language="en"),
        "greedy_ts_context": run(language="de", prompt=context),
        "translate_nots": run(language="zh", task="translate", without_timestamps=True),
    }
    facts["align"] = align(twin, model, vocabulary, mel[0])
    arrays = {"mel": mel[0, :, :twin.n_content_frames],
              **{name: torch.from_numpy(value) for name, value in arrays.items()}}
    return arrays, facts


def check_with_transformers(twin, arrays, facts):
    """The second implementation reads the files that were written and has to agree."""
    from transformers import WhisperForConditionalGeneration, WhisperTokenizerFast
    model = WhisperForConditionalGeneration.from_pretrained(twin.out).eval()
    with torch.no_grad():
        logits = model(make_mel(twin)[None],
                       decoder_input_ids=torch.tensor([facts["prompt"]])).logits[0]
    nmse = ((logits - arrays["dec.logits"]) ** 2).sum() / (logits ** 2).sum()
    assert nmse < 1e-10, nmse
    from tokenizers import Tokenizer as Fast
    ids = Fast.from_file(str(twin.out / "tokenizer.json")).encode(TEXT).ids
    assert ids == Vocabulary(twin).tokenizer("en", "transcribe").encode(TEXT)


def make(twin):
    twin.out.mkdir(parents=True, exist_ok=True)
    vocabulary = Vocabulary(twin)
    model = make_model(twin, vocabulary)
    files = configs(twin, vocabulary)
    arrays, facts = golden(twin, model, vocabulary, files["config"]["suppress_tokens"])
    names = hf_names(twin)
    weights = {names[k]: v.contiguous() for k, v in model.state_dict().items()}
    save_file(weights, twin.out / "model.safetensors", {"format": "pt"})
    save_file({k: v.contiguous() for k, v in arrays.items()}, twin.out / "golden.safetensors",
              {"order": "slowest axis first", "about": "see README.md"})
    for name, value in (*files.items(), ("golden", facts)):
        indent = None if name == "tokenizer" else 1
        text = json.dumps(value, ensure_ascii=False, indent=indent)
        (twin.out / f"{name}.json").write_text(text + "\n")
    check_with_transformers(twin, arrays, facts)
    for file in sorted(twin.out.iterdir()):
        print(f"{file.stat().st_size:8} {file.name}")
    print(json.dumps(facts, indent=1))


def main():
    torch.set_num_threads(1)  # sums in one order, whatever the machine
    for twin in TWINS:
        if sys.argv[1:] in ([], [twin.name]):
            make(twin)


if __name__ == "__main__":
    main()
