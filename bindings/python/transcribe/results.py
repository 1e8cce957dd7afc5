"""What a run gives: values, independent of the model that made them."""
from __future__ import annotations

import ctypes as c
import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field

from . import _c
from .errors import TranscribeError, check, error_of

FORMATS = ("txt", "srt", "vtt", "tsv", "json", "jsonl", "csv", "lrc")


@dataclass(frozen=True)
class Word:
    """`text` has its leading space; times are seconds from the start of the recording."""

    text: str
    start: float
    end: float
    probability: float


@dataclass(frozen=True)
class Segment:
    """A line of the transcript. `words` is empty unless word_timestamps were asked for."""

    text: str
    start: float
    end: float
    words: tuple[Word, ...]
    tokens: tuple[int, ...]
    token_probabilities: tuple[float, ...]
    temperature: float
    avg_logprob: float
    compression_ratio: float
    no_speech_prob: float


class _Formats:
    """A result of the library, for its writers of files; pickled as what they write."""

    def __init__(self, handle: c.c_void_p) -> None:
        self._handle: c.c_void_p | None = handle
        self._known: dict[str, str] = {}
        weakref.finalize(self, _c.lib.transcribe_result_free, handle)

    def __getitem__(self, name: str) -> str:
        if name not in self._known:
            out = c.c_char_p()
            check(_c.lib.transcribe_result_format(self._handle, name.encode(), c.byref(out)))
            self._known[name] = _c.text(out.value)
        return self._known[name]

    def __getstate__(self) -> dict[str, object]:
        return {"_handle": None, "_known": {name: self[name] for name in FORMATS}}


@dataclass(frozen=True)
class Transcript:
    """The text of one recording. Iterating gives its segments.

    `error` is None, or why there is no text, or not all of it. `duration` is in seconds of sound,
    `seconds` what the run took.
    """

    text: str
    language: str
    language_probability: float
    duration: float
    segments: tuple[Segment, ...]
    note: str
    seconds: float
    error: TranscribeError | None
    _formats: _Formats = field(repr=False, compare=False)

    @property
    def words(self) -> list[Word]:
        """Those of all segments."""
        return [word for segment in self.segments for word in segment.words]

    def __iter__(self) -> Iterator[Segment]:
        return iter(self.segments)

    def to(self, name: str) -> str:
        """The text of a file: txt, srt, vtt, tsv, json, jsonl, csv or lrc."""
        return self._formats[name]

    def to_srt(self) -> str:
        return self.to("srt")

    def to_vtt(self) -> str:
        return self.to("vtt")

    def to_json(self) -> str:
        """In the schema of the `whisper` command."""
        return self.to("json")


def word_of(word: _c.Word) -> Word:
    return Word(_c.text(word.text), word.t0_ms / 1000, word.t1_ms / 1000, word.probability)


def segment_of(segment: _c.Segment) -> Segment:
    words = tuple(word_of(segment.words[i]) for i in range(segment.n_words))
    tokens = [segment.tokens[i] for i in range(segment.n_tokens)]
    return Segment(text=_c.text(segment.text), start=segment.t0_ms / 1000,
                   end=segment.t1_ms / 1000, words=words,
                   tokens=tuple(token.id for token in tokens),
                   token_probabilities=tuple(token.probability for token in tokens),
                   temperature=segment.temperature, avg_logprob=segment.avg_logprob,
                   compression_ratio=segment.compression_ratio,
                   no_speech_prob=segment.no_speech_prob)


def transcript_of(handle: c.c_void_p) -> Transcript:
    """Takes the handle over."""
    formats = _Formats(handle)
    info = _c.ResultInfo()
    check(_c.lib.transcribe_result_get_info(handle, c.byref(info)))
    segments = []
    for i in range(info.n_segments):
        segment = _c.Segment()
        check(_c.lib.transcribe_result_get_segment(handle, i, c.byref(segment)))
        segments.append(segment_of(segment))
    return Transcript(text=_c.text(info.text), language=_c.text(info.language),
                      language_probability=info.language_probability,
                      duration=info.duration_ms / 1000, segments=tuple(segments),
                      note=_c.text(info.note), seconds=info.total_ms / 1000,
                      error=error_of(info.status, _c.text(info.message)), _formats=formats)
