#!/usr/bin/env python3
"""Makes tests/unit/data/align.json and whisper_words.json from the reference's own code.

Alignment: find_alignment() of the Python package `openai-whisper` with a stand-in for the model,
whose heads give random scores; its median filter; its dynamic time warping on costs with ties.
Words: its transcribe() with word times and with a stand-in that "decodes" random tokens, whose
times and probabilities are random as well; written down are the windows it asked for and the
segments it gave.

    pip install openai-whisper
    python tools/make_whisper_words_golden.py
"""
import json
import pathlib
import random
import sys
from types import SimpleNamespace

import numpy as np
import torch
from whisper import timing
from whisper.decoding import DecodingResult
from whisper.tokenizer import get_tokenizer

TRANSCRIBE = sys.modules["whisper.transcribe"]  # the package hides the module behind a function
DATA = pathlib.Path(__file__).resolve().parent.parent / "tests" / "unit" / "data"

N_MAX_WINDOWS = 3


class Heads(torch.nn.Module):
    def __init__(self, scores):
        super().__init__()
        self.scores = scores

    def forward(self, x):
        return x, self.scores[None]


class Listener:
    """Stands in for a model of one layer whose heads look where `scores` [heads, tokens, frames]
    says."""

    def __init__(self, scores):
        self.device = torch.device("cpu")
        self.dims = SimpleNamespace(n_text_layer=1)
        self.heads = Heads(scores)
        self.decoder = SimpleNamespace(blocks=[SimpleNamespace(cross_attn=self.heads)])
        self.alignment_heads = torch.ones(1, scores.shape[0]).to_sparse()

    def __call__(self, mel, tokens):
        self.heads(mel)
        return torch.zeros(1, tokens.shape[1], TOKENIZER.eot + 1)


def align_case(rng):
    """-> scores * 8 [heads, tokens, frames], frames used, first frame of each of tokens 3 ... -1"""
    n, n_heads, n_positions = rng.randint(1, 6), rng.randint(1, 3), rng.choice([3, 4, 9, 24])
    eighths = [[[rng.randint(-16, 16) + (24 if abs(j * (n + 5) - i * n_positions) < 9 else 0)
                 for j in range(n_positions)] for i in range(n + 5)] for _ in range(n_heads)]
    n_used = rng.choice([n_positions, rng.randint(2, n_positions)])  # of one it makes NaN
    words = timing.find_alignment(Listener(torch.tensor(eighths) / 8), TOKENIZER, [WORD] * n,
                                  torch.zeros(80, 3000), 2 * n_used)
    starts = [word.start for word in words] + [words[-1].end]
    return [eighths, n_used, [round(t * 50) for t in starts]]


def median_case(rng):
    row = [rng.randint(-9, 9) for _ in range(rng.choice([1, 2, 3, 4, 5, 6, 7, 8, 13]))]
    return [row, timing.median_filter(torch.tensor([[row]]), 7)[0, 0].tolist()]


def path_case(rng):
    n_tokens, n_frames = rng.randint(1, 7), rng.randint(1, 12)
    cost = [[rng.randint(-2, 1) for _ in range(n_frames)] for _ in range(n_tokens)]
    tokens, frames = timing.dtw_cpu(np.array(cost, dtype=np.float64))
    first = [int(frames[tokens == i].min()) for i in range(n_tokens)]
    return [cost, first]


class Speaker:
    """Stands in for the model: says random tokens in the first windows, nothing in the others."""

    def __init__(self, rng, language):
        self.dims = SimpleNamespace(n_mels=80, n_audio_ctx=1500, n_text_ctx=448)
        self.device = torch.device("cpu")
        self.is_multilingual, self.num_languages = True, 99
        self.rng, self.language = rng, language
        self.windows = []  # seek, tokens, frames, probabilities
        self.end = None    # the seek after them

    def decode(self, mel, options):
        seek, silent = int(mel[0, 0]), len(self.windows) == N_MAX_WINDOWS
        tokens = [] if silent else spoken_tokens(self.rng, self.language)
        if not silent:
            self.windows.append([seek, tokens, [], []])
        elif self.end is None:
            self.end = seek
        return DecodingResult(
            audio_features=None, language=self.language, tokens=tokens,
            avg_logprob=-9.0 if silent else -0.1, no_speech_prob=0.9 if silent else 0.0,
            temperature=0.0, compression_ratio=1.0)

    def align(self, model, tokenizer, text_tokens, mel, num_frames, **_):
        """The end of find_alignment(), with random times."""
        rng, at = self.rng, 0
        lengths = rng.choice([[0, 2, 5, 9], [5, 9, 15, 15, 15, 40, 120], [15, 16, 200], [2, 3]])
        frames = [0]
        for _ in text_tokens:
            at = min(at + rng.choice(lengths), num_frames // 2 - 1)
            frames.append(at)
        probs = [rng.choice([1, 10, 50, 90]) / 100 for _ in text_tokens]
        self.windows[-1][2:] = [frames, probs]
        words, tokens = tokenizer.split_to_word_tokens(text_tokens + [tokenizer.eot])
        ends = np.cumsum([len(t) for t in tokens[:-1]])
        return [timing.WordTiming(w, t, np.float64(frames[end - len(t)] / 50),
                                  np.float64(frames[end] / 50), np.mean(probs[end - len(t):end]))
                for w, t, end in zip(words, tokens, ends)]


TOKENIZER = get_tokenizer(True, language="en", task="transcribe")
WORD = TOKENIZER.encode(" hello")[0]
STARTS = [TOKENIZER.encode(text) for text in (" hello", " the", " I", " 20", " 🎵", " été")]
PARTS = [TOKENIZER.encode(text) for text in ("world", "'s", ",", ".", "...", "?", "!", "-", " (",
                                             ")", ' "', '"', " -", "1", "é", "ș", "🎶")]
SIGNS = [TOKENIZER.encode(text) for text in ("今日", "は", "龘", "。", "、", "「", "々", "😀")]


def text_of(rng, language):
    """Text that shares no word with the segments before and after."""
    starts, parts = ([SIGNS[:3], SIGNS] if language == "ja" else [STARTS, STARTS + PARTS])
    inside = [rng.choice(parts) for _ in range(rng.randint(0, 5))]
    return rng.choice(starts) + sum(inside, []) + rng.choice(starts)


def spoken_tokens(rng, language):
    begin, tokens, time = TOKENIZER.timestamp_begin, [], rng.choice([0, 0, 10])
    for _ in range(rng.randint(1, 3)):
        tokens += [begin + time] + text_of(rng, language)
        time = min(time + rng.choice([1, 50, 99, 333]), 1500)
        tokens.append(begin + time)
        time = min(time + rng.choice([0, 0, 7, 200]), 1500)
    tail = rng.random()
    if tail < 0.3:
        tokens += [begin + time] + text_of(rng, language)
    elif tail < 0.6:
        tokens += [begin + time]
    return tokens


def is_fair(segments, windows):
    """False where we want to differ: words over two segments, words that overlap, no progress."""
    last = 0
    for segment in segments:
        if "".join(w["word"] for w in segment["words"]) != segment["text"]:
            return False
        for word in segment["words"]:
            if word["start"] < last or word["end"] < word["start"]:
                return False
            last = word["end"]
    return all(a[0] < b[0] for a, b in zip(windows, windows[1:]))


def words_case(rng):
    language = rng.choice(["en", "en", "ja"])
    n_content = rng.choice([rng.randint(400, 2999), 3000, rng.randint(3001, 12000)])
    mel = torch.arange(n_content + 3000).repeat(80, 1).float()
    TRANSCRIBE.log_mel_spectrogram = lambda *args, **kwargs: mel
    speaker = Speaker(rng, language)
    timing.find_alignment = speaker.align
    threshold = rng.choice([None, None, 0.5, 2.0])
    result = TRANSCRIBE.transcribe(
        speaker, np.zeros(1, dtype=np.float32), language=language, fp16=False,
        word_timestamps=True, hallucination_silence_threshold=threshold)
    said = [s for s in result["segments"] if s["text"]]
    if not is_fair(said, speaker.windows):
        return words_case(rng)
    segments = [[s["seek"], s["start"], s["end"], s["tokens"],
                 [[w["word"], w["start"], w["end"], round(w["probability"], 4)]
                  for w in s["words"]]] for s in said]
    return [language, threshold or 0, n_content, speaker.windows, speaker.end, segments]


def lines(cases):
    return "[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases) + "\n]"


def write(name, head, lists):
    fields = [f"{json.dumps(k)}:{json.dumps(v)}" for k, v in head.items()]
    fields += [f"{json.dumps(k)}:{lines(v)}" for k, v in lists.items()]
    (DATA / name).write_text("{" + ",\n".join(fields) + "}\n")


def main():
    rng = random.Random(5)
    write("align.json", {
        "made_by": "tools/make_whisper_words_golden.py",
        "aligned": "scores * 8 [heads, tokens, frames], frames used, first frame of each token "
                   "from the fourth to the last but one",
        "medians": "row, filtered", "paths": "cost [tokens, frames], first frame of each token",
    }, {
        "aligned_cases": [align_case(rng) for _ in range(40)],
        "median_cases": [median_case(rng) for _ in range(40)],
        "path_cases": [path_case(rng) for _ in range(60)],
    })
    cases = [words_case(rng) for _ in range(100)]
    used = {t for case in cases for window in case[3] for t in window[1] if t < TOKENIZER.eot}
    write("whisper_words.json", {
        "made_by": "tools/make_whisper_words_golden.py",
        "case": "language, threshold of silence, frames of the recording, windows [seek, tokens, "
                "frames of the text's tokens, their probabilities], seek after them where it is "
                "known, segments [seek, start, end, tokens, words]",
        "timestamp_begin": TOKENIZER.timestamp_begin, "eot": TOKENIZER.eot,
        "bytes": [[t, TOKENIZER.encoding.decode_single_token_bytes(t).hex()] for t in sorted(used)],
    }, {"cases": cases})


if __name__ == "__main__":
    main()
