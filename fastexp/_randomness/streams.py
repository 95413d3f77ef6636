"""Where random words come from: the operating system, or a key for simulations.

A release takes fresh words from `os.urandom` in each call and keeps nothing, so that forks,
threads, pickles and snapshots cannot repeat a draw. A simulation has one 128-bit key, from
which `kernels/bits/words.py` derives streams by name; its format is documented there.
"""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from .._parameters import validate
from .._typing import WordArray
from ..errors import ParameterTypeError, RandomnessError
from ..kernels.bits.words import RAW_WORDS, derive_streams
from ..reference import exact

# Domain tags: what the names of streams count. The top bit is set for text names only.
ROW, TASK, GROUP = 1, 2, 3
PLACE, COIN = 4, 5  # for a row's draws of numbers: the point in a cell, the coin of a bound
AGAIN = 6  # for draws of Laplace noise that their first words leave undecided
ROUND = 8  # bits of these tags; higher bits are the round, for draws that a coin refused
TEXT_BIT = 1 << 63
UINT64 = np.dtype(np.uint64)
PAIR = struct.Struct("<2Q").unpack
LOW = (1 << 32) - 1
HEADER = 3  # words of `seeds_of` before the names of the rows
PERSON = {ROW: b"fastexp.row", TASK: b"fastexp.task", GROUP: b"fastexp.group"}


class SampleKey(NamedTuple):
    """A simulation's key itself, for workers: `make_key` gives it back."""

    low: int
    high: int


def _os_bytes(count: int) -> bytes:
    """Return `count` fresh bytes from the operating system; fails closed."""
    try:
        data = os.urandom(count)
    except (OSError, NotImplementedError):
        data = b""
    if len(data) != count:
        raise RandomnessError("the operating system's randomness is not available")
    return data


def os_words(count: int = 2) -> WordArray:
    """Return `count` fresh uniform 64-bit words from the operating system."""
    return np.frombuffer(_os_bytes(8 * count), UINT64)


def os_pair() -> tuple[int, int]:
    """Return two such words as integers, which take half the time of an array."""
    low, high = PAIR(_os_bytes(16))
    return low, high


def os_word() -> int:
    """Return a fresh uniform integer below 2**64."""
    return int.from_bytes(_os_bytes(8), "little")


def os_below(bound: int) -> int:
    """Return a fresh uniform integer below `bound` <= 2**64."""
    while bound > 1:  # without an array: a third of the time
        value = exact.below(bound, int.from_bytes(_os_bytes(16), "little"))
        if value is not None:
            return value
    return 0


def make_key(rng: object) -> WordArray:
    """Return the 128-bit key of a simulation, two words, from SPEC 7's `rng`.

    None: fresh from the operating system. An int, a sequence of ints or a `SeedSequence`:
    its `generate_state(2, uint64)`, equal for equal seeds. A `Generator` or `BitGenerator`:
    the low 32 bits of its next four raw words, so that it moves on.
    """
    return np.array(_key_words(rng), UINT64)


def _key_words(rng: object) -> tuple[int, int]:
    if rng is None:
        return os_pair()
    if type(rng) is int and rng >= 0:
        return _key_of(rng)
    bits = rng.bit_generator if isinstance(rng, np.random.Generator) else rng
    if isinstance(bits, np.random.BitGenerator):
        return _folded(bits.random_raw(RAW_WORDS))
    if isinstance(rng, SampleKey):
        return rng
    seeds = rng if isinstance(rng, np.random.SeedSequence) else np.random.SeedSequence(_seed(rng))
    low, high = seeds.generate_state(2, UINT64).tolist()
    return low, high


def _folded(raw: WordArray) -> tuple[int, int]:
    one, two, three, four = raw.tolist()
    return one & LOW | (two & LOW) << 32, three & LOW | (four & LOW) << 32


def seed_words(rng: object) -> WordArray:
    """Return a seed for kernels (`words.stream_of`): a key, or the raw words that make a key."""
    bits = rng.bit_generator if isinstance(rng, np.random.Generator) else rng
    if isinstance(bits, np.random.BitGenerator):
        return bits.random_raw(RAW_WORDS)
    return make_key(rng)


def key_of_seed(seed: WordArray) -> SampleKey:
    """Return the key of a seed that `seed_words` returned."""
    return SampleKey(*(_folded(seed) if seed.size == RAW_WORDS else seed.tolist()))


def _seed(rng: Any) -> int | list[int]:
    several = isinstance(rng, Sequence) or (isinstance(rng, np.ndarray) and rng.ndim == 1)
    seeds: tuple[Any, ...] = (rng,)
    if several:
        seeds = validate.items("rng", rng, validate.MOST_SEEDS)
    kinds = int, np.integer
    if isinstance(rng, (str, bytes)) or not all(
        isinstance(seed, kinds) and not isinstance(seed, bool) and seed >= 0 for seed in seeds
    ):
        raise ParameterTypeError(
            "rng must be None, a non-negative integer or a sequence of them, a SeedSequence, "
            "a numpy.random.Generator or a BitGenerator"
        )
    whole = [int(seed) for seed in seeds]
    return whole if several else whole[0]


@lru_cache(maxsize=256)  # a seed is no data; a SeedSequence takes 10 us
def _key_of(seed: int) -> tuple[int, int]:
    return _key_words(np.random.SeedSequence(seed))


def text_name(text: str, tag: int) -> tuple[int, int]:
    """Return a stream's (tag, name) for a text: 127 bits of BLAKE2b in the tag's own domain.

    The digest's first word is the name. Its second word, with the top bit set, is the tag, so that
    no text shares a stream with an integer name.
    """
    digest = hashlib.blake2b(text.encode(), digest_size=16, person=PERSON[tag]).digest()
    second = int.from_bytes(digest[8:], "little") | TEXT_BIT
    return second, int.from_bytes(digest[:8], "little")


def seeds_of(rng: object, names: WordArray) -> WordArray:
    """Return the seeds for `kernels/select/rows.py`: the key, the tag of rows, the rows' names."""
    seeds = np.empty(HEADER + names.size, UINT64)
    seeds[0], seeds[1] = _key_words(rng)
    seeds[2], seeds[HEADER:] = ROW, names
    return seeds


def tagged(seeds: WordArray, tag: int) -> WordArray:
    """Return the same key and names with another tag."""
    renamed = seeds.copy()
    renamed[2] = tag
    return renamed


def some_seeds(seeds: WordArray, first: int, last: int) -> WordArray:
    """Return the seeds of rows first, ..., last - 1."""
    if first == 0 and last == seeds.size - HEADER:
        return seeds
    return np.concatenate([seeds[:HEADER], seeds[HEADER + first : HEADER + last]])


def stream_of(seeds: WordArray, row: int) -> WordArray:
    """Return the stream of one of the rows that `seeds` names."""
    stream = np.empty(2, dtype=np.uint64)
    derive_streams(seeds[:2], seeds[2], seeds[HEADER + row : HEADER + row + 1], stream)
    return stream


def row_stream(rng: object, row: int) -> WordArray:
    """Return the stream of one row of utilities, from SPEC 7's `rng`."""
    return stream_of(seeds_of(rng, np.array([row], dtype=np.uint64)), 0)


class Spare:
    """Further words of a substream, one at a time, for draws whose own words are not enough."""

    __slots__ = ("_words",)

    def __init__(self, stream: WordArray, number: int, first: int) -> None:
        self._words = exact.substream((int(stream[0]), int(stream[1])), number, first)

    def __call__(self) -> int:
        return next(self._words)

    def words(self, count: int) -> WordArray:
        """Return the next `count` words."""
        return np.array([next(self._words) for _ in range(count)], dtype=np.uint64)
