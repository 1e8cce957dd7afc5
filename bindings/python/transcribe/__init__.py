"""Speech to text on your own machine.

    import transcribe

    model = transcribe.Model("tiny.en")
    print(model.transcribe("talk.mp3").text)
    for segment in model.segments("talk.mp3"):
        print(f"{segment.start:7.2f} {segment.text}")
"""
from __future__ import annotations

from . import _c
from .audio import SAMPLE_RATE, Audio
from .errors import (BackendError, BadAudio, BadModel, BadStructSize, Cancelled, InputOutputError,
                     InputTooLong, InvalidArgument, ModelNotFound, OutOfMemory, OutputTruncated,
                     TranscribeError, UnsupportedArchitecture, UnsupportedLanguage,
                     UnsupportedTask, UnsupportedTimestamps)
from .model import Limits, Model, ModelInfo, Stream, StreamText, find_model
from .options import Options
from .results import FORMATS, Segment, Transcript, Word

__version__ = _c.text(_c.lib.transcribe_version())
__all__ = [
    "FORMATS", "SAMPLE_RATE", "Audio", "BackendError", "BadAudio", "BadModel", "BadStructSize",
    "Cancelled", "InputOutputError", "InputTooLong", "InvalidArgument", "Limits", "Model",
    "ModelInfo", "ModelNotFound", "Options", "OutOfMemory", "OutputTruncated", "Segment", "Stream",
    "StreamText", "TranscribeError", "Transcript", "UnsupportedArchitecture",
    "UnsupportedLanguage", "UnsupportedTask", "UnsupportedTimestamps", "Word", "find_model"]
