#!/usr/bin/env python3
"""Prints what openai-whisper's beam search finds in a made-up language: the golden values of
tests/unit/search_test.cpp, which has the same language.

    python tools/search_reference.py        (needs openai-whisper and torch)
"""

import torch
from whisper.decoding import BeamSearchDecoder, MaximumLikelihoodRanker

N_VOCAB, EOT, N_STEPS_MAX = 17, 16, 12


def scores(seed, tokens):
    """Exact in 32-bit floats: multiples of 1/64."""
    state = seed
    for token in tokens:
        state = (state * 31 + token + 1) % 65521
    mixed = (state * (token + 7) * 2654435761 % 4294967296 for token in range(N_VOCAB))
    return [(value // 4194304) / 64 for value in mixed]


class NoCache:
    def rearrange_kv_cache(self, source_indices):
        pass


def search(seed, beam_size, patience, penalty):
    decoder = BeamSearchDecoder(beam_size, EOT, NoCache(), patience)
    tokens = torch.zeros((beam_size, 0), dtype=torch.long)
    sums = torch.zeros(beam_size)
    for _ in range(N_STEPS_MAX):
        logits = torch.tensor([scores(seed, row.tolist()) for row in tokens]) * 0.25
        if tokens.shape[1] == 0:
            logits[:, EOT] = -float("inf")
        tokens, completed = decoder.update(tokens, logits, sums)
        if completed:
            break
    found, sums = decoder.finalize(tokens.reshape(1, beam_size, -1), sums.reshape(1, beam_size))
    texts = [[t[: (t == EOT).nonzero()[0, 0]] for t in found[0]]]
    best = MaximumLikelihoodRanker(penalty).rank(texts, sums)[0]
    return texts[0][best].tolist(), sums[0][best]


CASES = [  # seed, beam size, patience, length penalty
    (1, 2, 1.0, None),
    (2, 5, 1.0, None),
    (3, 5, 2.0, None),
    (4, 5, 1.0, 1.0),
    (5, 3, 0.4, 0.0),
    (6, 8, 1.0, None),
]
for case in CASES:
    text, total = search(*case)
    print(case, text, round(total, 4))
