"""Where random words come from: the operating system, or the named streams of a simulation.

A release takes fresh words in each call and keeps nothing, so that forks, threads, pickles and
snapshots cannot repeat a draw. A simulation has one 128-bit key; each row of its data has a stream
of Philox blocks under that key, named by a tag and the row's name. Block (t << 32) + a has the
words of draw t in attempt a.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..errors import ParameterError, ParameterTypeError, RandomnessError
from ..kernels.envelope import HEADER, fill_words
from ..types import Words
from . import exact

SYSTEM: Words = np.empty(0, np.uint64)  # the seeds of a release: none
ROW = 1  # the tag of rows
SPARE = 1 << 31  # attempts of a draw are fewer; further words begin here
LOW = (1 << 32) - 1
PAIR = struct.Struct("<2Q").unpack
MOST_SEEDS = 1 << 16


def system_bytes(count: int) -> bytes:
    """Return fresh bytes from the operating system."""
    try:
        data = os.urandom(count)
    except (OSError, NotImplementedError):
        data = b""
    if len(data) != count:
        raise RandomnessError("the operating system's randomness is not available")
    return data


def system_pair() -> tuple[int, int]:
    """Return two fresh words."""
    pair: tuple[int, int] = PAIR(system_bytes(16))
    return pair


def system_words(count: int) -> Words:
    """Return fresh words."""
    return np.frombuffer(system_bytes(8 * count), np.uint64)


def pairs(seeds: Words, rows: int, size: int) -> Words:
    """Return two words for each draw of each row."""
    if not seeds.size:
        return system_words(2 * rows * size)
    words = np.empty(2 * rows * size, np.uint64)
    fill_words(seeds, size, words)
    return words


def seeds_of(rng: Any, streams: Any, rows: int) -> Words:
    """Return the seeds of a simulation: the key of `rng`, the tag, a name for each row."""
    key = _key(rng)
    if streams is None and rows == 1:  # in half the time
        return np.array((*key, ROW, 0), np.uint64)
    names: Any = np.arange(rows, dtype=np.uint64)
    if streams is not None:
        names = np.asarray(streams)
        if names.shape != (rows,) or names.dtype.kind not in "iu" or names.min() < 0:
            raise ParameterError(
                f"streams must hold an integer in [0, 2**64) for each row of the data: {rows}"
            )
    seeds = np.empty(HEADER + rows, np.uint64)
    seeds[:HEADER], seeds[HEADER:] = np.array((*key, ROW), np.uint64), names
    return seeds


def some_seeds(seeds: Words, rows: Any) -> Words:
    """Return the seeds of some rows."""
    return np.concatenate([seeds[:HEADER], seeds[HEADER:][rows]])


def further_words(seeds: Words, row: int, block: int) -> Iterator[int]:
    """Return words of a row's stream from a block on, or fresh ones of the system."""
    while not seeds.size:
        yield from system_pair()
    key_low, key_high, tag, name = seeds[[0, 1, 2, HEADER + row]].tolist()
    key, prefix = exact.philox(name, tag ^ key_high, key_low)
    while True:
        yield from exact.philox(block, prefix, key)
        block += 1


def _key(rng: Any) -> tuple[int, int]:
    """Return the key: of a seed, or the low halves of a generator's next four raw words."""
    if type(rng) is int and rng >= 0:
        return _key_of_seed(rng)
    if rng is None:
        return system_pair()
    generator = rng.bit_generator if isinstance(rng, np.random.Generator) else rng
    if isinstance(generator, np.random.BitGenerator):
        one, two, three, four = generator.random_raw(4).tolist()
        return one & LOW | (two & LOW) << 32, three & LOW | (four & LOW) << 32
    if not isinstance(rng, np.random.SeedSequence):
        several = rng if isinstance(rng, (Sequence, np.ndarray)) else (rng,)
        if len(several) > MOST_SEEDS or not all(
            isinstance(x, (int, np.integer)) and not isinstance(x, bool) and x >= 0 for x in several
        ):
            raise ParameterTypeError(
                "rng must be None, an integer >= 0 or a sequence of them, a SeedSequence, a "
                f"Generator or a BitGenerator of numpy.random, got {type(rng).__name__}"
            )
        rng = np.random.SeedSequence([int(x) for x in several])
    low, high = rng.generate_state(2, np.uint64).tolist()
    return low, high


@lru_cache(maxsize=256)  # a seed is no data; a SeedSequence takes 10 us
def _key_of_seed(seed: int) -> tuple[int, int]:
    return _key(np.random.SeedSequence(seed))
