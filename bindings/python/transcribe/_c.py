"""The C interface (transcribe.h) as ctypes sees it: structs, functions, nothing else.

ctypes and not an extension module: the library has a C interface anyway, one wheel serves every
Python, and ctypes releases the GIL during each call and takes it for callbacks.
"""
from __future__ import annotations

import ctypes as c
import ctypes.util
import os
import pathlib
import sys

Handle = c.c_void_p

Progress = c.CFUNCTYPE(None, c.c_void_p, c.c_size_t, c.c_double)


class Word(c.Structure):
    _fields_ = [("text", c.c_char_p), ("t0_ms", c.c_int64), ("t1_ms", c.c_int64),
                ("probability", c.c_float)]


class Token(c.Structure):
    _fields_ = [("id", c.c_int32), ("probability", c.c_float)]


class Sized(c.Structure):
    """A struct that begins with its size; made with it."""

    def __init__(self) -> None:
        super().__init__()
        self.size = c.sizeof(self)


class Segment(Sized):
    _fields_ = [("size", c.c_size_t), ("text", c.c_char_p), ("t0_ms", c.c_int64),
                ("t1_ms", c.c_int64), ("words", c.POINTER(Word)), ("n_words", c.c_size_t),
                ("tokens", c.POINTER(Token)), ("n_tokens", c.c_size_t), ("temperature", c.c_float),
                ("avg_logprob", c.c_float), ("compression_ratio", c.c_float),
                ("no_speech_prob", c.c_float)]


OnSegment = c.CFUNCTYPE(None, c.c_void_p, c.c_size_t, c.POINTER(Segment))


class FindOptions(Sized):
    _fields_ = [("size", c.c_size_t), ("offline", c.c_bool), ("on_progress", Progress),
                ("user", c.c_void_p)]


class ModelOptions(Sized):
    _fields_ = [("size", c.c_size_t), ("device", c.c_char_p), ("precision", c.c_char_p),
                ("on_progress", Progress), ("user", c.c_void_p)]


class ModelInfo(Sized):
    _fields_ = [("size", c.c_size_t), ("family", c.c_char_p), ("name", c.c_char_p),
                ("variant", c.c_char_p), ("license", c.c_char_p), ("device", c.c_char_p),
                ("languages", c.POINTER(c.c_char_p)), ("n_languages", c.c_size_t),
                ("detects_language", c.c_bool), ("translates", c.c_bool), ("streams", c.c_bool),
                ("timestamps", c.c_int), ("sample_rate_hz", c.c_int32), ("n_params", c.c_int64),
                ("max_audio_ms", c.c_int64)]


class SessionOptions(Sized):
    _fields_ = [("size", c.c_size_t), ("n_threads", c.c_int32), ("batch_size", c.c_int32),
                ("vad_model", c.c_char_p), ("n_ctx", c.c_int32)]


class Limits(Sized):
    _fields_ = [("size", c.c_size_t), ("max_audio_ms", c.c_int64),
                ("cache_bytes_max", c.c_size_t)]


class ResultInfo(Sized):
    _fields_ = [("size", c.c_size_t), ("status", c.c_int), ("message", c.c_char_p),
                ("text", c.c_char_p), ("language", c.c_char_p), ("language_probability", c.c_float),
                ("duration_ms", c.c_int64), ("n_segments", c.c_size_t), ("note", c.c_char_p),
                ("mel_ms", c.c_double), ("encode_ms", c.c_double), ("decode_ms", c.c_double),
                ("total_ms", c.c_double)]


class RunOptions(Sized):
    _fields_ = [("size", c.c_size_t), ("language", c.c_char_p), ("task", c.c_int),
                ("timestamps", c.c_int), ("initial_prompt", c.c_char_p), ("hotwords", c.c_char_p),
                ("prefix", c.c_char_p), ("carry_initial_prompt", c.c_bool),
                ("condition_on_previous_text", c.c_int32), ("vad", c.c_bool),
                ("vad_threshold", c.c_float), ("vad_min_speech_ms", c.c_int32),
                ("vad_min_silence_ms", c.c_int32), ("vad_speech_pad_ms", c.c_int32),
                ("beam_size", c.c_int32), ("best_of", c.c_int32), ("patience", c.c_float),
                ("temperature", c.c_float), ("temperature_increment", c.c_float),
                ("compression_ratio_threshold", c.c_float), ("logprob_threshold", c.c_float),
                ("no_speech_threshold", c.c_float), ("max_tokens", c.c_int32),
                ("seed", c.c_uint32), ("on_progress", Progress), ("on_segment", OnSegment),
                ("user", c.c_void_p)]


class Clip(c.Structure):
    _fields_ = [("pcm", c.c_void_p), ("n_samples", c.c_size_t), ("path", c.c_char_p)]


class PcmFormat(c.Structure):
    _fields_ = [("rate_hz", c.c_int32), ("n_channels", c.c_int32)]


class StreamText(Sized):
    _fields_ = [("size", c.c_size_t), ("committed", c.c_char_p), ("words", c.POINTER(Word)),
                ("n_words", c.c_size_t), ("partial", c.c_char_p)]


_P = c.POINTER
_STATUS_FUNCTIONS: dict[str, list[object]] = {
    "find_options_init": [_P(FindOptions), c.c_size_t],
    "find_model": [c.c_char_p, _P(FindOptions), _P(c.c_char_p)],
    "model_options_init": [_P(ModelOptions), c.c_size_t],
    "model_load": [c.c_char_p, _P(ModelOptions), _P(Handle)],
    "model_load_from_memory": [c.c_char_p, c.c_size_t, _P(ModelOptions), _P(Handle)],
    "model_get_info": [Handle, _P(ModelInfo)],
    "model_free": [Handle],
    "session_options_init": [_P(SessionOptions), c.c_size_t],
    "session_create": [Handle, _P(SessionOptions), _P(Handle)],
    "session_get_limits": [Handle, _P(Limits)],
    "session_cancel": [Handle],
    "session_free": [Handle],
    "run_options_init": [_P(RunOptions), c.c_size_t],
    "run_batch": [Handle, _P(Clip), c.c_size_t, _P(RunOptions), _P(Handle)],
    "result_get_info": [Handle, _P(ResultInfo)],
    "result_get_segment": [Handle, c.c_size_t, _P(Segment)],
    "result_format": [Handle, c.c_char_p, _P(c.c_char_p)],
    "result_free": [Handle],
    "resample": [PcmFormat, c.c_void_p, c.c_size_t, c.c_void_p, c.c_size_t, _P(c.c_size_t)],
    "stream_open": [Handle, _P(RunOptions), _P(Handle)],
    "stream_feed": [Handle, c.c_void_p, c.c_size_t, _P(StreamText)],
    "stream_finish": [Handle, _P(StreamText)],
    "stream_get_result": [Handle, _P(Handle)],
    "stream_free": [Handle],
}


def _path() -> str:
    """The library of TRANSCRIBE_LIBRARY, else the one in this package, else the system's."""
    chosen = os.environ.get("TRANSCRIBE_LIBRARY")
    if chosen:
        return chosen
    name = {"win32": "transcribe.dll", "darwin": "libtranscribe.dylib"}.get(
        sys.platform, "libtranscribe.so")
    bundled = pathlib.Path(__file__).parent / "lib" / name
    if bundled.is_file():
        return str(bundled)
    found = ctypes.util.find_library("transcribe")
    if not found:
        raise ImportError(f"there is neither {bundled} nor a libtranscribe in the system; install "
                          "this package with pip, or set TRANSCRIBE_LIBRARY to the library's path")
    return found


def _load() -> c.CDLL:
    library = c.CDLL(_path())
    for name, arguments in _STATUS_FUNCTIONS.items():
        function = getattr(library, f"transcribe_{name}")
        function.argtypes, function.restype = arguments, c.c_int
    for name in ("version", "last_error"):
        getattr(library, f"transcribe_{name}").argtypes = []
        getattr(library, f"transcribe_{name}").restype = c.c_char_p
    return library


lib = _load()


def text(value: bytes | None) -> str:
    return (value or b"").decode("utf-8", "replace")
