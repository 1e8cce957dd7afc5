#!/usr/bin/env python3
"""Makes tests/unit/data/whisper_rules.json and whisper_segments.json from the reference's own code.

Rules: the three logit filters of the Python package `openai-whisper` on random scores over a
vocabulary of 40 tokens. Segments: its transcribe() with a stand-in for the model, which "decodes"
random tokens; written down are the segments of one window, the context that the next one gets and
how far the seek moved (as far as the progress bar shows it: not beyond the recording).

    pip install openai-whisper
    python tools/make_whisper_rules_golden.py
"""
import json
import pathlib
import random
import sys
from types import SimpleNamespace

import numpy as np
import torch
from whisper.decoding import ApplyTimestampRules, DecodingResult, SuppressBlank, SuppressTokens
from whisper.tokenizer import get_tokenizer

REFERENCE = sys.modules["whisper.transcribe"]  # the package hides the module behind a function
DATA = pathlib.Path(__file__).resolve().parent.parent / "tests" / "unit" / "data"

N_VOCAB, EOT, NO_TIMESTAMPS, BEGIN, MAX_INITIAL = 40, 18, 24, 25, 6
SUPPRESS, BLANK = [2, 5, 19, 20, 21, 22, 23], 1


def sampled_tokens(rng):
    """What a model may have said so far: mostly by the rules, sometimes anything."""
    if rng.random() < 0.2:
        return [rng.randrange(N_VOCAB) for _ in range(rng.randint(0, 4))]
    tokens, time = [], BEGIN
    for _ in range(rng.randint(0, 3)):
        time = min(time + rng.randint(0, 3), N_VOCAB - 1)
        tokens.append(time)
        tokens += [rng.randrange(EOT) for _ in range(rng.randint(0, 2))]
        time = min(time + rng.randint(0, 3), N_VOCAB - 1)
        tokens.append(time)
    return tokens[: rng.randint(0, len(tokens))]


def rules_case(rng):
    tokenizer = SimpleNamespace(eot=EOT, no_timestamps=NO_TIMESTAMPS, timestamp_begin=BEGIN,
                                encode=lambda text: [BLANK])
    timestamps = rng.random() < 0.85
    filters = [SuppressBlank(tokenizer, 0), SuppressTokens(SUPPRESS)]
    if timestamps:
        filters.append(ApplyTimestampRules(tokenizer, 0, MAX_INITIAL))
    sampled = sampled_tokens(rng)
    quarters = [rng.randint(-9, 9) for _ in range(N_VOCAB)]
    logits = torch.tensor([quarters], dtype=torch.float32) / 4
    for f in filters:
        f.apply(logits, torch.tensor([sampled], dtype=torch.long).reshape(1, -1))
    allowed = [i for i, x in enumerate(logits[0].tolist()) if x > -np.inf]
    return [int(timestamps), sampled, quarters, allowed]


class Progress:
    """Stands in for tqdm, to learn how far the seek moved."""

    moves = []

    def __init__(self, *args, **kwargs):
        Progress.moves = []

    def __enter__(self):
        return self

    def __exit__(self, *args):
        pass

    def update(self, n):
        Progress.moves.append(n)


class Speaker:
    """Stands in for the model: says `tokens` in the first window, notes the second's context."""

    def __init__(self, tokens):
        self.dims = SimpleNamespace(n_mels=80, n_audio_ctx=1500, n_text_ctx=448)
        self.device = torch.device("cpu")
        self.is_multilingual, self.num_languages = True, 99
        self.tokens, self.context = tokens, None

    def decode(self, mel, options):
        if self.tokens is None:
            if self.context is None:
                self.context = list(options.prompt)
            tokens = [TOKENIZER.timestamp_begin, WORDS[1]]
        else:
            tokens, self.tokens = self.tokens, None
        return DecodingResult(audio_features=None, language="en", tokens=tokens, avg_logprob=-0.1,
                              no_speech_prob=0.0, temperature=0.0, compression_ratio=1.0)


TOKENIZER = get_tokenizer(True, language="en", task="transcribe")
WORDS = [TOKENIZER.encode(text)[0] for text in (" ", " hello", "world", ",", "\u3000")]


def spoken_tokens(rng):
    begin, tokens, time = TOKENIZER.timestamp_begin, [], rng.choice([0, 0, 10])
    words = lambda: [rng.choice(WORDS[: rng.choice([1, 4, 5])]) for _ in range(rng.randint(0, 3))]
    for _ in range(rng.randint(0, 4)):
        tokens += [begin + time] + words()
        time = min(time + rng.choice([0, 1, 50, 333]), 1500)
        tokens.append(begin + time)
        time = min(time + rng.choice([0, 0, 7]), 1500)
    tail = rng.random()
    if tail < 0.3:
        tokens += [begin + time] + words()
    elif tail < 0.45:
        tokens += [begin + time]
    elif tail < 0.6:
        tokens += words()
    return tokens


def is_fair(tokens):
    """False where the reference fails: it takes a word's id for a time, or never moves on."""
    begin = TOKENIZER.timestamp_begin
    pairs = [i for i in range(1, len(tokens)) if tokens[i - 1] >= begin and tokens[i] >= begin]
    single = len(tokens) > 1 and tokens[-1] >= begin > tokens[-2]
    stuck = pairs and not single and tokens[pairs[-1] - 1] == begin
    return not stuck and (not tokens or tokens[0] >= begin)


def segments_case(rng):
    while not is_fair(tokens := spoken_tokens(rng)):
        pass
    seek = rng.choice([0, 0, rng.randint(1, 90000)])
    n_content = seek + rng.choice([rng.randint(1, 2999), 3000, rng.randint(3001, 9000)])
    mel = torch.zeros(80, n_content + 3000)
    REFERENCE.log_mel_spectrogram = lambda *args, **kwargs: mel
    speaker = Speaker(list(tokens))
    result = REFERENCE.transcribe(speaker, np.zeros(1, dtype=np.float32), language="en",
                                  clip_timestamps=str(seek / 100), fp16=False)
    first = [s for s in result["segments"] if s["seek"] == seek]
    segments = [[round(s["start"] * 100), round(s["end"] * 100), s["tokens"]] for s in first]
    return [tokens, seek, n_content, segments, speaker.context, Progress.moves[0]]


def write(name, data):
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in data.pop("cases"))
    head = json.dumps(data, separators=(",", ":"))
    (DATA / name).write_text(head[:-1] + ',"cases":[\n' + lines + "\n]}\n")


def main():
    REFERENCE.tqdm.tqdm = Progress
    rng = random.Random(3)
    write("whisper_rules.json", {
        "made_by": "tools/make_whisper_rules_golden.py",
        "case": "timestamps, sampled, scores * 4, allowed",
        "n_vocab": N_VOCAB, "eot": EOT, "no_timestamps": NO_TIMESTAMPS, "timestamp_begin": BEGIN,
        "max_initial": MAX_INITIAL, "suppress": SUPPRESS, "suppress_at_start": [BLANK, EOT],
        "cases": [rules_case(rng) for _ in range(300)],
    })
    write("whisper_segments.json", {
        "made_by": "tools/make_whisper_rules_golden.py",
        "case": "tokens, seek, frames of the recording, [start, end, tokens], "
                "context of the next window (null: none follows), move of the seek",
        "timestamp_begin": TOKENIZER.timestamp_begin,
        "words": [[w, TOKENIZER.decode([w])] for w in WORDS],
        "cases": [segments_case(rng) for _ in range(300)],
    })


if __name__ == "__main__":
    main()
