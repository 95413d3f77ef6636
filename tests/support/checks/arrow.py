"""Arrow columns back to Python objects, to be compared; and data to read, sliced every way."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from tests.doors.arrow import arrow

RNG = np.random.default_rng(1)
NAMED = {"booleans": np.bool_, "dates": np.int64, "timestamps": np.int64}


def rows(found):
    """The rows of a column as Python objects; what the column promises is checked on the way."""
    n, values, offsets, valid = found.length, found.values, found.offsets, found.valid
    assert n >= 0
    if valid is not None:
        assert valid.dtype == np.bool_
        assert valid.shape == (n,)
        assert not valid.all()
    if found.kind in ("integers", "floats"):
        assert values.dtype.isnative
        assert values.dtype.kind in {"integers": "iu", "floats": "f"}[found.kind]
        full = values.tolist()
    elif found.kind in NAMED:
        assert values.dtype == NAMED[found.kind] or found.format == "tdD"
        full = values.tolist()
    elif found.kind == "dictionary":
        assert values.dtype.kind in "iu"
        assert n == 0 or values.min() >= 0
        words = rows(found.child) or [None]
        full = [words[code] for code in values.tolist()]
    else:
        o = offsets.tolist()
        assert offsets.dtype == np.int64
        if found.kind == "text":
            assert values.dtype == np.uint8
            pairs = zip(o, found.ends.tolist(), strict=True)
            full = [values[a:b].tobytes().decode() for a, b in pairs]
        else:
            assert found.kind == "list"
            assert len(o) == n + 1
            assert (o[0], o[-1]) == (0, found.child.length)
            items = rows(found.child)
            full = [items[a:b] for a, b in pairwise(o)]
    assert len(full) == n
    return [x if valid is None or valid[i] else None for i, x in enumerate(full)]


def read(data):
    return [row for chunk in arrow.column(data) for row in rows(chunk)]


def framed(data, *names):
    """The rows of a frame, by column."""
    out = [[] for _ in names]
    for batch in arrow.table(data, names):
        assert len({found.length for found in batch}) <= 1
        for whole, found in zip(out, batch, strict=True):
            whole.extend(rows(found))
    return out


def some(items, n, gaps=0.3):
    """Some of the items, and gaps."""
    picked = [items[i] for i in RNG.integers(0, len(items), n)]
    return [None if g else x for g, x in zip(RNG.random(n) < gaps, picked, strict=True)]


def slices(whole):
    """The array as it is, and parts of it: of every bit offset, empty ones, of slices."""
    yield whole
    for begin in (0, 1, 3, 7, 8, 9, 17):
        for length in (0, 1, 33):
            yield whole.slice(begin, length)
    yield whole.slice(5).slice(6, 20).slice(1)
