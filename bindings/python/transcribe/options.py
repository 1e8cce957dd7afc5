"""What a run may be asked for; the names are those of transcribe_run_options in transcribe.h."""
from __future__ import annotations

import ctypes as c
from typing import TypedDict

from . import _c
from .errors import InvalidArgument, check


class Options(TypedDict, total=False):
    """Keyword arguments of Model.transcribe and its kin; what is left out has its default."""

    language: str  # code or English name; left out: it is detected
    task: str  # "transcribe" or "translate" (into English)
    timestamps: bool  # default True
    word_timestamps: bool
    initial_prompt: str
    hotwords: str
    prefix: str
    carry_initial_prompt: bool
    condition_on_previous_text: bool
    vad: bool  # only what is speech is decoded; the model needs a vad_model
    vad_threshold: float
    vad_min_speech_ms: int
    vad_min_silence_ms: int
    vad_speech_pad_ms: int
    beam_size: int
    best_of: int
    patience: float
    temperature: float
    temperature_increment: float
    compression_ratio_threshold: float
    logprob_threshold: float
    no_speech_threshold: float
    max_tokens: int
    seed: int


_TASKS = {"transcribe": 0, "translate": 1}


def run_options(options: Options) -> _c.RunOptions:
    out = _c.RunOptions()
    check(_c.lib.transcribe_run_options_init(c.byref(out), c.sizeof(out)))
    for name, value in options.items():
        if name == "task":
            if value not in _TASKS:
                raise InvalidArgument(f"task is {value!r}; it is 'transcribe' or 'translate'")
            out.task = _TASKS[str(value)]
        elif name == "timestamps":
            out.timestamps = max(int(bool(value)), out.timestamps if out.timestamps == 2 else 0)
        elif name == "word_timestamps":
            out.timestamps = 2 if value else out.timestamps
        elif name in Options.__annotations__:
            setattr(out, name, value.encode() if isinstance(value, str) else value)
        else:
            raise TypeError(f"there is no option {name!r}")
    return out
