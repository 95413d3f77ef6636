"""Answers of all groups, range after range: words, draws, and single groups beyond memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from .. import _contribution
from .._key_names import KeyNames
from .._randomness import make_key
from .._release_key import ReleaseKey
from .._typing import AnyArray, IntArray, WordArray
from ..grouped.segments import Segments, draw_all
from ..grouped.words import FreshWords, KeyedWords, SimulatedWords, Words
from .errors import UserMistake
from .grouped_store import Range, Store

LARGE = (
    "the records of a group do not fit into memory, as they must with {}: raise --memory (without "
    "{}, they would be read several times instead)"
)


class How(NamedTuple):
    """What words come from, how many draws, and who works on them."""

    key: ReleaseKey | None
    label: str
    seed: WordArray | None  # of a simulation
    draws: int
    threads: int
    limits: tuple[int, int]  # of a person: groups, rows in each
    rule: str  # which records count

    @property
    def is_release(self) -> bool:
        """Whether it is a release, or simulated draws."""
        return self.seed is None


def simulation(seed: int | None) -> WordArray:
    """The key of simulated draws."""
    return make_key(seed)


def words_of(mechanism: Any, names: KeyNames, how: How) -> Words:
    """Random words of groups: of their names alone, or of the system."""
    if how.seed is not None:
        return SimulatedWords(how.seed, names)
    return (
        FreshWords()
        if how.key is None
        else KeyedWords(how.key, mechanism, how.label, how.rule, names)
    )


def kept(
    mechanism: Any,
    names: KeyNames,
    people: KeyNames,
    how: How,
    rows: tuple[IntArray, AnyArray, IntArray],
) -> AnyArray:
    """Which rows count, of groups, records and persons by number."""
    codes, values, persons = rows
    chooser = (
        _contribution.release_choice(how.key, mechanism, how.label)
        if how.seed is None
        else _contribution.sample_choice(how.seed)
    )
    words = people.name_words(), names.name_words()
    mapped = mechanism._place(values)
    return _contribution.keep(codes, persons, *words, mapped, *how.limits, chooser, how.threads)


def answers(
    mechanism: Any, store: Store, ranges: Iterator[Range], names: KeyNames, how: How
) -> list[Any]:
    """The answer of each group in order, as Python has them; of draws lists of them."""
    found: list[Any] = []
    for part in ranges:
        if part.segments is None:
            found.append(_streamed(mechanism, store, part, how))
        else:
            some = _some(names, part.first, part.last)
            found += _drawn(mechanism, part.segments, some, how)
    return found


def _drawn(mechanism: Any, segments: Segments, names: KeyNames, how: How) -> list[Any]:
    words = words_of(mechanism, names, how)
    drawn = draw_all(mechanism._draws(segments, words, how.draws), how.draws, how.threads)
    if how.is_release:
        drawn = drawn[:, 0]
    if hasattr(mechanism, "candidates"):
        labels = mechanism.candidates
        if how.is_release:
            return [labels[i] for i in drawn.tolist()]
        return [[labels[i] for i in row] for row in drawn.tolist()]
    listed: list[Any] = mechanism.grid.values(drawn).tolist()
    return listed


def _some(names: KeyNames, first: int, last: int) -> KeyNames:
    """Groups first..last - 1."""
    if names.kind == "text":
        return KeyNames("text", names.texts[first:last])
    return KeyNames("integers", names.numbers[first:last])


def _streamed(mechanism: Any, store: Store, part: Range, how: How) -> Any:
    """A release for one group, whose records are read anew in each pass."""
    if not how.is_release or how.key is not None:
        option = "--key" if how.is_release else "--draws"
        raise UserMistake(LARGE.format(option, option))

    def records() -> Iterator[AnyArray]:
        return store.one(part.first)

    if not hasattr(mechanism, "candidates"):
        return mechanism.release(records, threads=how.threads)
    from .. import Exponential

    labels = mechanism.candidates
    counts = np.zeros(len(labels), np.int64)
    for numbers in records():
        counts += np.bincount(numbers, minlength=len(labels))
    monotonic = mechanism.neighbors == "add-remove"  # a replaced record moves two counts
    more = {"candidates": labels, "any_epsilon": mechanism.any_epsilon}
    made = Exponential(mechanism.epsilon, sensitivity=1.0, monotonic=monotonic, **more)
    return made.release(counts)
