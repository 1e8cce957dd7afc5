#!/usr/bin/env python3
"""Makes tests/unit/data/bpe_gpt2.json and bpe_qwen2.json.

Trains two tiny byte-level vocabularies on the sentences below with the Python package `tokenizers`
and writes down the ids of these sentences and of random strings. `tiktoken`, which takes ids as
ranks and no merges, has to give the same. A case is [text, ids].

    pip install tokenizers tiktoken
    python tools/make_bpe_golden.py
"""
import json
import pathlib
import random
import unicodedata

import tiktoken
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

DATA = pathlib.Path(__file__).resolve().parent.parent / "tests" / "unit" / "data"
N_VOCAB = 520
N_RANDOM = 260

GPT2 = r"""'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""
QWEN2 = (
    r"""(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"""
    r"""|\s*[\r\n]+|\s+(?!\S)|\s+"""
)

SENTENCES = [
    "It's what the others said: they're here, we've won, I'm glad, she'll come, he'd rather not.",
    "IT'S, THEY'RE, WE'VE, I'M, SHE'LL, HE'D; 'tis the '90s, rock'n'roll",
    "The ship left the harbour at 7:45 with 1234 people, 56 goats and the captain's 3 cats.",
    "Die Straße führt über die Brücke; das kostet 3,14 €.",
    "Всё хорошо, приходите завтра в 10 часов.",
    "東京は大きい都市です。今日は天気がいい。",
    "한국어 문장 하나",
    "مرحبا بالعالم ٣٤",
    "नमस्ते दुनिया",
    "emoji 👩‍👩‍👧‍👦 and 🇩🇪 and 👍🏽!",
    "two  spaces   three\n\nlines\r\n\r\n  indented\t\ttabs \n end  ",
    "cafe\u0301 is café, \u212bngstro\u0308m is Ångström",
    "wide\u3000space, no\u00a0break, thin\u2009space, next\u0085line, line\u2028end",
    "def f(x):\n    return x**2  # ½ of Ⅷ\n",
    "long s: it'\u017f",
    "",
    " ",
    "   ",
    "\n",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
]


def random_strings(rng):
    ranges = [(0x20, 0x7E), (0xA1, 0x17F), (0x400, 0x45F), (0x300, 0x36F), (0x3040, 0x30FF),
              (0xAC00, 0xAFFF), (0x1F600, 0x1F64F), (0x2000, 0x2069), (0, 0x1F)]
    glue = [" ", "  ", "\n", "\r\n", "\t", "\u3000", "'s", "'LL", "'", " '", "1", "23"]
    words = [word for sentence in SENTENCES for word in sentence.split()]

    def char():
        while True:
            c = chr(rng.randint(*rng.choice(ranges)))
            if unicodedata.category(c) not in ("Cn", "Cs"):
                return c

    parts = [char, lambda: rng.choice(glue), lambda: rng.choice(words),
             lambda: " " + rng.choice(words)]
    return ["".join(rng.choice(parts)() for _ in range(rng.randint(1, 7)))
            for _ in range(N_RANDOM)]


def train(pattern, nfc):
    tokenizer = Tokenizer(models.BPE())
    if nfc:
        tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(pattern), behavior="isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
    ])
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=N_VOCAB, show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(SENTENCES * 3, trainer)
    return tokenizer


def bytes_of_pieces():
    """The byte of each character of the alphabet: the printable ones of Latin-1 are themselves."""
    own = [b for b in range(256) if 0x21 <= b <= 0x7E or (b >= 0xA1 and b != 0xAD)]
    others = [b for b in range(256) if b not in own]
    return {chr(b): b for b in own} | {chr(0x100 + i): b for i, b in enumerate(others)}


def golden(pre, pattern, nfc, rng):
    tokenizer = train(pattern, nfc)
    model = json.loads(tokenizer.to_str())["model"]
    tokens = sorted(model["vocab"], key=model["vocab"].get)
    alphabet = bytes_of_pieces()
    ranks = {bytes(alphabet[c] for c in piece): i for i, piece in enumerate(tokens)}
    by_rank = tiktoken.Encoding(pre, pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    cases = []
    for text in SENTENCES + random_strings(rng):
        ids = tokenizer.encode(text).ids
        rank_ids = by_rank.encode(unicodedata.normalize("NFC", text) if nfc else text)
        assert ids == rank_ids, (text, ids, rank_ids)
        cases.append([text, ids])
    merges = [m if isinstance(m, str) else " ".join(m) for m in model["merges"]]
    return {"made_by": "tools/make_bpe_golden.py", "pre": pre, "tokens": tokens, "merges": merges,
            "cases": cases}


def main():
    for pre, pattern, nfc in [("gpt2", GPT2, False), ("qwen2", QWEN2, True)]:
        data = golden(pre, pattern, nfc, random.Random(1))
        text = json.dumps(data, separators=(",", ":"))
        (DATA / f"bpe_{pre}.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
