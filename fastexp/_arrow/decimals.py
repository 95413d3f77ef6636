"""Decimal columns: whole numbers of 32 to 256 bits over a power of ten, as the nearest doubles."""

from __future__ import annotations

import numpy as np

from .._typing import AnyArray, FloatArray
from .tree import Part

PREFIX = "d:"
WIDTHS = (32, 64, 128, 256)
DIGITS = 76  # of the widest
EXACT = 1 << 53  # integers up to here are doubles
POWERS = 22  # and so are powers of ten up to this one


def known(form: str) -> bool:
    """Whether a format is that of decimals, of a width and a scale that are read."""
    return form.startswith(PREFIX) and _layout(form) is not None


def doubles(form: str, part: Part, first: int, count: int) -> FloatArray:
    """The nearest doubles of some rows; those of null rows are any numbers."""
    scale, width = _layout(form) or (0, 0)
    start, words = part.offset + first, width // 64
    if width <= 64:
        narrow = part.buffer(1, np.int32 if width == 32 else np.int64, start, count)
        rows = narrow.astype(np.int64)[:, None]
    else:
        rows = part.buffer(1, np.int64, words * start, words * count).reshape(count, words)
    low = rows[:, 0]
    small = (rows[:, 1:] == (low >> 63)[:, None]).all(axis=1)
    easy = small & (low >= -EXACT) & (low <= EXACT) & (abs(scale) <= POWERS)
    power = 10.0 ** min(abs(scale), POWERS)
    out = low.astype(np.float64) / power if scale >= 0 else low.astype(np.float64) * power
    hard = np.flatnonzero(~easy).tolist()
    out[hard] = [_nearest(_whole(rows[i]), scale) for i in hard]
    return out


def _layout(form: str) -> tuple[int, int] | None:
    """(scale, width) of "d:precision,scale" or "d:precision,scale,width"; None: not read."""
    try:
        _, scale, width = (int(n) for n in (*form[len(PREFIX) :].split(","), "128")[:3])
    except ValueError:
        return None
    return (scale, width) if abs(scale) <= DIGITS and width in WIDTHS else None


def _whole(words: AnyArray) -> int:
    """A signed integer from its words of 64 bits, the lowest first."""
    return int.from_bytes(words.astype("<i8").tobytes(), "little", signed=True)


def _nearest(n: int, scale: int) -> float:
    """n / 10**scale; Python divides integers, and converts them, to the nearest double."""
    return n / 10**scale if scale >= 0 else float(n * 10**-scale)
