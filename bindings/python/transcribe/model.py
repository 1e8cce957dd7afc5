"""Models, and running them."""
from __future__ import annotations

import asyncio
import ctypes as c
import os
import queue
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Union

from . import _c
from .audio import SAMPLE_RATE, Audio, Samples, as_mono_16k, clip_of
from .errors import check
from .options import Options, run_options
from .results import Segment, Transcript, Word, segment_of, transcript_of, word_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

OnSegment = Callable[[int, Segment], None]
OnProgress = Callable[[int, float], None]
Path = Union[str, "os.PathLike[str]"]


@dataclass(frozen=True)
class ModelInfo:
    family: str
    name: str
    variant: str
    license: str
    device: str
    languages: tuple[str, ...]
    detects_language: bool
    translates: bool
    streams: bool
    timestamps: str  # the finest: "none", "segment", "word"
    sample_rate: int  # Hz
    n_params: int
    max_audio_ms: int  # that it hears at once; 0: any length. Longer recordings are cut in pauses


@dataclass(frozen=True)
class Limits:
    """Of one call, with the context that was chosen."""
    max_audio_ms: int  # of a recording, or of a piece where recordings are cut; 0: any length
    cache_bytes_max: int  # that keys and values can take


def find_model(name_or_path: Path, *, offline: bool = False,
               on_progress: Callable[[float], None] | None = None) -> str:
    """The path of a model's file, fetched once where it is a name ("tiny.en")."""
    options = _c.FindOptions()
    options.offline = offline
    if on_progress:
        told = on_progress
        options.on_progress = _c.Progress(lambda user, clip, done: told(done))
    path = c.c_char_p()
    check(_c.lib.transcribe_find_model(os.fsencode(os.fspath(name_or_path)), c.byref(options),
                                       c.byref(path)))
    return os.fsdecode(path.value or b"")


class _Session:
    """One run at a time; freed with its last reference."""

    def __init__(self, model: c.c_void_p, options: _c.SessionOptions) -> None:
        self.handle = c.c_void_p()
        check(_c.lib.transcribe_session_create(model, c.byref(options), c.byref(self.handle)))
        weakref.finalize(self, _c.lib.transcribe_session_free, self.handle)

    def cancel(self) -> None:
        check(_c.lib.transcribe_session_cancel(self.handle))


class _Callbacks:
    """Python functions as C callbacks; what they raise ends the run and comes out of it."""

    def __init__(self, session: _Session, options: _c.RunOptions, on_segment: OnSegment | None,
                 on_progress: OnProgress | None) -> None:
        self.fault: BaseException | None = None
        self._session = session
        if on_segment:
            told = on_segment
            options.on_segment = _c.OnSegment(lambda user, clip, segment: self._safely(
                lambda: told(clip, segment_of(segment.contents))))
        if on_progress:
            heard = on_progress
            options.on_progress = _c.Progress(
                lambda user, clip, done: self._safely(lambda: heard(clip, done)))

    def _safely(self, call: Callable[[], None]) -> None:
        try:
            if self.fault is None:
                call()
        except BaseException as fault:  # also KeyboardInterrupt: none may pass through C
            self.fault = fault
            self._session.cancel()


class Model:
    """A speech recognizer, shared by any number of threads.

    `model` is a name that `transcribe models` lists, fetched once, a GGUF file, or the bytes of
    one, which are copied. Each concurrent call works in a session of its own, with `n_threads`
    threads (0: all processors). `batch_size` windows are decoded at once (0: as is best).
    `precision` is what is multiplied on the CPU: "f32", "bf16", "int8", or "auto", the fastest that
    costs no accuracy. `n_ctx` tokens of sound and text fit a language model for each recording (0:
    as many as it was made for). `vad_model` (such as "silero-vad") makes the option `vad` possible.
    Raises TranscribeError.
    """

    def __init__(self, model: Path | bytes, *, device: str = "auto", precision: str = "auto",
                 n_threads: int = 0, batch_size: int = 0, n_ctx: int = 0,
                 vad_model: Path | None = None, offline: bool = False) -> None:
        self._options = _c.SessionOptions()
        self._options.n_threads, self._options.batch_size = n_threads, batch_size
        self._options.n_ctx = n_ctx
        if vad_model is not None:
            self._options.vad_model = os.fsencode(find_model(vad_model, offline=offline))
        options = _c.ModelOptions()
        options.device, options.precision = device.encode(), precision.encode()
        self._handle = c.c_void_p()
        if isinstance(model, bytes):
            check(_c.lib.transcribe_model_load_from_memory(model, len(model), c.byref(options),
                                                           c.byref(self._handle)))
        else:
            path = find_model(model, offline=offline)
            check(_c.lib.transcribe_model_load(os.fsencode(path), c.byref(options),
                                               c.byref(self._handle)))
        weakref.finalize(self, _c.lib.transcribe_model_free, self._handle)
        self._idle: list[_Session] = []
        self._lock = threading.Lock()

    @property
    def info(self) -> ModelInfo:
        info = _c.ModelInfo()
        check(_c.lib.transcribe_model_get_info(self._handle, c.byref(info)))
        languages = tuple(_c.text(info.languages[i]) for i in range(info.n_languages))
        return ModelInfo(family=_c.text(info.family), name=_c.text(info.name),
                         variant=_c.text(info.variant), license=_c.text(info.license),
                         device=_c.text(info.device), languages=languages,
                         detects_language=info.detects_language, translates=info.translates,
                         streams=info.streams,
                         timestamps=("none", "segment", "word")[info.timestamps],
                         sample_rate=info.sample_rate_hz, n_params=info.n_params,
                         max_audio_ms=info.max_audio_ms)

    @property
    def limits(self) -> Limits:
        limits = _c.Limits()
        with self._session() as session:
            check(_c.lib.transcribe_session_get_limits(session.handle, c.byref(limits)))
        return Limits(limits.max_audio_ms, limits.cache_bytes_max)

    @contextmanager
    def _session(self) -> Iterator[_Session]:
        """One that nobody uses; a new one where there is none.

        After a fault it is not used again: a cancel that came too late would end its next run.
        """
        with self._lock:
            session = self._idle.pop() if self._idle else None
        session = session or _Session(self._handle, self._options)
        yield session
        with self._lock:
            self._idle.append(session)

    def transcribe(self, audio: Audio, *, rate: int = SAMPLE_RATE,
                   on_segment: Callable[[Segment], None] | None = None,
                   on_progress: Callable[[float], None] | None = None,
                   **options: Unpack[Options]) -> Transcript:
        """The text of a file, or of samples, [n] or [n, channels] of any type, at `rate` Hz.

        The GIL is released meanwhile; the callbacks are called with segments as they become final,
        and with the part that is done, from 0 to 1. Raises TranscribeError.
        """
        told, heard = on_segment, on_progress
        with self._session() as session:
            transcript = self._run(session, [audio], rate,
                                   (lambda clip, segment: told(segment)) if told else None,
                                   (lambda clip, done: heard(done)) if heard else None,
                                   options)[0]
        if transcript.error:
            raise transcript.error
        return transcript

    def transcribe_batch(self, audios: Sequence[Audio], *, rate: int = SAMPLE_RATE,
                         on_segment: OnSegment | None = None,
                         on_progress: OnProgress | None = None,
                         **options: Unpack[Options]) -> list[Transcript]:
        """One Transcript each, in order; a fault of one recording is its Transcript.error."""
        with self._session() as session:
            return self._run(session, audios, rate, on_segment, on_progress, options)

    def segments(self, audio: Audio, *, rate: int = SAMPLE_RATE,
                 **options: Unpack[Options]) -> Iterator[Segment]:
        """Segments as they come. Leaving the loop early ends the run."""
        come: queue.SimpleQueue[Segment | BaseException | None] = queue.SimpleQueue()

        def work(session: _Session) -> None:
            try:
                transcript = self._run(session, [audio], rate,
                                       lambda clip, segment: come.put(segment), None, options)[0]
                come.put(transcript.error)
            except BaseException as fault:
                come.put(fault)

        with self._session() as session:
            thread = threading.Thread(target=work, args=(session,), daemon=True)
            thread.start()
            try:
                while isinstance(item := come.get(), Segment):
                    yield item
            except GeneratorExit:  # the loop was left
                session.cancel()
                raise
            finally:
                thread.join()
            if item is not None:
                raise item

    async def transcribe_async(self, audio: Audio, *, rate: int = SAMPLE_RATE,
                               **options: Unpack[Options]) -> Transcript:
        """transcribe() in a thread; cancelling the task ends the run."""
        with self._session() as session:
            run = asyncio.to_thread(self._run, session, [audio], rate, None, None, options)
            task = asyncio.ensure_future(run)
            try:
                transcript = (await asyncio.shield(task))[0]
            except asyncio.CancelledError:
                session.cancel()
                await asyncio.wait([task])
                raise
        if transcript.error:
            raise transcript.error
        return transcript

    def stream(self, **options: Unpack[Options]) -> Stream:
        """Text of a recording while it goes on."""
        return Stream(_Session(self._handle, self._options), options)

    def _run(self, session: _Session, audios: Sequence[Audio], rate: int,
             on_segment: OnSegment | None, on_progress: OnProgress | None,
             options: Options) -> list[Transcript]:
        given = run_options(options)
        callbacks = _Callbacks(session, given, on_segment, on_progress)
        made = [clip_of(audio, rate) for audio in audios]  # its second halves must stay alive
        clips = (_c.Clip * len(made))(*[clip for clip, _ in made])
        handles = (c.c_void_p * len(made))()
        check(_c.lib.transcribe_run_batch(session.handle, clips, len(made), c.byref(given),
                                          handles))
        transcripts = [transcript_of(c.c_void_p(handle)) for handle in handles]
        if callbacks.fault is not None:
            raise callbacks.fault
        return transcripts


@dataclass(frozen=True)
class StreamText:
    """`committed` never changes after; `partial` is what follows it, for now."""

    committed: str
    words: tuple[Word, ...]
    partial: str


class Stream:
    """Made by Model.stream. One thread at a time."""

    def __init__(self, session: _Session, options: Options) -> None:
        self._handle = c.c_void_p()
        given = run_options(options)
        check(_c.lib.transcribe_stream_open(session.handle, c.byref(given),
                                            c.byref(self._handle)))
        weakref.finalize(self, _c.lib.transcribe_stream_free, self._handle)

    def feed(self, samples: Samples) -> StreamText:
        """Takes samples at 16 kHz, [n] or [n, channels], and decodes when a second is new."""
        values = as_mono_16k(samples)
        text = _c.StreamText()
        check(_c.lib.transcribe_stream_feed(self._handle, values.ctypes.data, len(values),
                                            c.byref(text)))
        return _text_of(text)

    def finish(self) -> StreamText:
        """The end: all that was heard is committed."""
        text = _c.StreamText()
        check(_c.lib.transcribe_stream_finish(self._handle, c.byref(text)))
        return _text_of(text)

    def transcript(self) -> Transcript:
        """All that was committed so far."""
        handle = c.c_void_p()
        check(_c.lib.transcribe_stream_get_result(self._handle, c.byref(handle)))
        return transcript_of(handle)


def _text_of(text: _c.StreamText) -> StreamText:
    words = tuple(word_of(text.words[i]) for i in range(text.n_words))
    return StreamText(_c.text(text.committed), words, _c.text(text.partial))
