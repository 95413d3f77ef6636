"""What a chapter is made of: entries, draws as text, and data that no library's version changes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import fastexp as fx

SHOWN = 8  # how many values of a long array are written
# The key of the bytes 0, 1, ..., 31, which everybody knows.
KEY = fx.ReleaseKey.restore(f"fastexp-key-1-{bytes(range(32)).hex()}-57e989ea")


class Entry(NamedTuple):
    """One thing that must not change."""

    name: str
    value: Any  # of JSON
    about: str = ""  # what the value is of, where the name does not say it; it is not written


def digest(data: bytes) -> str:
    """64 bits that tell data apart."""
    return hashlib.blake2b(data, digest_size=8).hexdigest()


def written(values: Any) -> str:
    """Draws as text: their type, their shape and the first of them; a digest of more."""
    if isinstance(values, str):
        return values
    array = np.asarray(values)
    if array.dtype.kind not in "biuf":
        return json.dumps(values, ensure_ascii=False, default=str)
    flat = array.ravel()
    shape = "x".join(map(str, array.shape)) or "one"
    shown = " ".join(map(repr, flat[: SHOWN if flat.size > 2 * SHOWN else None].tolist()))
    text = f"{array.dtype} {shape}: {shown}"
    if flat.size <= 2 * SHOWN:
        return text
    return f"{text} ... {digest(flat.astype(array.dtype.newbyteorder('<')).tobytes())}"


def outcome(call: Callable[[], Any]) -> Any:
    """What a call returns, or the name of the error that refuses it."""
    try:
        return call()
    except (fx.FastexpError, AttributeError) as error:
        return type(error).__name__


def numbers(count: int, below: int, seed: int = 0) -> np.ndarray:
    """Integers that look random, of 0, ..., below - 1: multiples of an odd number, mixed."""
    words = (np.arange(1, count + 1, dtype=np.uint64) + np.uint64(seed << 32)) * np.uint64(
        0x9E3779B97F4A7C15
    )
    words = (words ^ (words >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return ((words >> np.uint64(32)) % np.uint64(below)).astype(np.int64)
