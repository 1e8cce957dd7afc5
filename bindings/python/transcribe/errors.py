"""One exception for each status of the library, all of them TranscribeError."""
from __future__ import annotations

from . import _c


class TranscribeError(Exception):
    """What could not be done, in a sentence; `status` is the library's name for it."""

    status = "INTERNAL"


class InvalidArgument(TranscribeError, ValueError):
    status = "INVALID_ARG"


class ModelNotFound(TranscribeError, FileNotFoundError):
    """A file, or a model's name, that does not exist."""

    status = "FILE_NOT_FOUND"


class BadModel(TranscribeError):
    status = "GGUF"


class UnsupportedArchitecture(TranscribeError):
    status = "UNSUPPORTED_ARCH"


class UnsupportedLanguage(TranscribeError, ValueError):
    status = "UNSUPPORTED_LANGUAGE"


class UnsupportedTask(TranscribeError, ValueError):
    status = "UNSUPPORTED_TASK"


class UnsupportedTimestamps(TranscribeError, ValueError):
    status = "UNSUPPORTED_TIMESTAMPS"


class OutOfMemory(TranscribeError, MemoryError):
    status = "OOM"


class BackendError(TranscribeError):
    status = "BACKEND"


class Cancelled(TranscribeError):
    status = "ABORTED"


class BadStructSize(TranscribeError):
    """Package and library are of different versions."""

    status = "BAD_STRUCT_SIZE"


class InputTooLong(TranscribeError, ValueError):
    status = "INPUT_TOO_LONG"


class OutputTruncated(TranscribeError):
    status = "OUTPUT_TRUNCATED"


class BadAudio(TranscribeError):
    status = "BAD_AUDIO"


class InputOutputError(TranscribeError, OSError):
    status = "IO"


_BY_NUMBER: list[type[TranscribeError] | None] = [
    None, InvalidArgument, ModelNotFound, BadModel, UnsupportedArchitecture, UnsupportedLanguage,
    UnsupportedTask, UnsupportedTimestamps, OutOfMemory, BackendError, Cancelled, BadStructSize,
    InputTooLong, OutputTruncated, BadAudio, InputOutputError, TranscribeError]


def error_of(status: int, sentence: str) -> TranscribeError | None:
    """None where the status is that all went well."""
    known = _BY_NUMBER[status] if 0 <= status < len(_BY_NUMBER) else TranscribeError
    return known(sentence) if known else None


def check(status: int) -> None:
    """Raises what a call of the library has just told."""
    error = error_of(status, _c.text(_c.lib.transcribe_last_error()))
    if error:
        raise error
