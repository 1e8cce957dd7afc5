"""Recordings as callers have them: the path of a file, or a NumPy array."""
from __future__ import annotations

import ctypes as c
import os
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from . import _c
from .errors import InvalidArgument, check

SAMPLE_RATE = 16000
Samples = npt.NDArray[Any]
Audio = Union[str, "os.PathLike[str]", Samples]


def as_float(samples: Samples) -> npt.NDArray[np.float32]:
    """Samples within [-1, 1]; those of integer types are divided by their range."""
    if samples.dtype.kind == "f":
        return np.ascontiguousarray(samples, dtype=np.float32)
    if samples.dtype.kind not in "iu":
        raise InvalidArgument(f"samples are of type {samples.dtype}; floats or integers are needed")
    bits = 8 * samples.dtype.itemsize
    middle = 0 if samples.dtype.kind == "i" else 2 ** (bits - 1)
    scaled = (samples.astype(np.float64) - middle) / 2 ** (bits - 1)
    return np.ascontiguousarray(scaled, dtype=np.float32)


def as_mono_16k(samples: Samples, rate: int = SAMPLE_RATE) -> npt.NDArray[np.float32]:
    """[n] or [n, channels] at any rate -> [n'] at 16 kHz, as the engine takes it."""
    if samples.ndim not in (1, 2):
        raise InvalidArgument(f"samples have the shape {samples.shape}; [n] or [n, channels] is "
                              "needed")
    n_channels = 1 if samples.ndim == 1 else samples.shape[1]
    values = as_float(samples)
    if n_channels == 1 and rate == SAMPLE_RATE:
        return values.reshape(-1)
    as_given = _c.PcmFormat(rate, n_channels)
    n = c.c_size_t()
    check(_c.lib.transcribe_resample(as_given, None, len(values), None, 0, c.byref(n)))
    out = np.empty(n.value, dtype=np.float32)
    check(_c.lib.transcribe_resample(as_given, values.ctypes.data, len(values), out.ctypes.data,
                                     len(out), c.byref(n)))
    return out[:n.value]


def clip_of(audio: Audio, rate: int) -> tuple[_c.Clip, object]:
    """A recording for the library, and what must live as long as it is used."""
    if isinstance(audio, np.ndarray):
        samples = as_mono_16k(audio, rate)
        return _c.Clip(samples.ctypes.data, len(samples), None), samples
    path = os.fsencode(os.fspath(audio))
    return _c.Clip(None, 0, path), path
