"""Answers of any kind, and the cells into which they fall: numbers by their size, others by name.

A cell is a function of an answer alone once the cells are there, so that counts of cells are those
of independent draws, whatever the answers are: which of them share a cell costs only power.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import copysign
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from .._typing import AnyArray, FloatArray, IntArray

# distinct numbers that have cells of their own; of more only frequent ones have
MAX_OWN_CELLS = 512
CUTS = 256  # into which other numbers are cut
LABELS = 4096  # answers that are no numbers, and have cells
WRITTEN = 4  # ranges that are written out
TABLE = 1 << 16  # integers between which lie all that are counted one by one


@dataclass(frozen=True, repr=False)
class NonNumber:
    """An outcome that has no value to compare it by: an exception of a type, NaN, -0.0."""

    text: str

    def __repr__(self) -> str:
        return self.text


# as values, one equals nothing, the other one 0.0
NAN, MINUS_ZERO = NonNumber("nan"), NonNumber("-0.0")


class Answers(NamedTuple):
    """Some draws, in any order: those that are numbers, and names of the others."""

    numbers: FloatArray
    labels: list[Any]


def read(answers: Any) -> Answers:
    """Answers as the nearest doubles, and labels; a row of an array is one answer."""
    labels: list[Any] = []
    if isinstance(answers, np.ndarray) and answers.ndim == 1 and answers.dtype.kind in "biuf":
        numbers = answers.astype(np.float64)
    else:
        doubles = []
        for each in answers.tolist() if isinstance(answers, np.ndarray) else answers:
            item = each.tolist() if isinstance(each, np.ndarray) else each
            if isinstance(item, (Real, np.bool_)):
                doubles.append(_nearest(item))
            else:
                labels.append(label_of(item))
        numbers = np.array(doubles, np.float64)
    non_numbers = {NAN: np.isnan(numbers), MINUS_ZERO: (numbers == 0) & np.signbit(numbers)}
    for label, which in non_numbers.items():
        labels += [label] * np.count_nonzero(which)
    return Answers(numbers[~np.logical_or(*non_numbers.values())], labels)


def _nearest(number: Any) -> float:
    try:
        return float(number)
    except OverflowError:
        return np.inf if number > 0 else -np.inf


def label_of(item: Any) -> Any:
    """An answer as it is, if it has a hash; else its items, or its type."""
    if isinstance(item, np.ndarray):
        item = item.tolist()
    if isinstance(item, (list, tuple)):
        return tuple(label_of(each) for each in item)
    if isinstance(item, (float, np.floating)) and item == 0 and copysign(1.0, item) < 0:
        return MINUS_ZERO
    try:
        hash(item)
        if item != item:  # in tuples, each NaN would be another outcome
            return NAN
    except Exception:  # of a foreign object whatever it raises
        return NonNumber(f"an object without a hash, {type(item).__name__}")
    return item


class Cells:
    """Cells for numbers and labels, chosen by some draws of both sides.

    Of numbers: those from one of `edges` to the next. Of labels: the most frequent ones, and all
    others together. `numbers` is how many cells lie side by side on the line.
    """

    def __init__(self, parts: list[Answers]) -> None:
        self._edges = _edges(np.concatenate([part.numbers for part in parts]))
        self.numbers: int = self._edges.size + 1
        labels = Counter(label for part in parts for label in part.labels)
        frequent = [label for label, _ in labels.most_common(LABELS)]
        self._labels = {label: self.numbers + i for i, label in enumerate(frequent)}
        self.size: int = self.numbers + len(frequent) + 1

    def count(self, answers: Answers) -> IntArray:
        """How many answers fall into each cell."""
        numbers, times = answers.numbers, None
        if numbers.size and (np.rint(numbers) == numbers).all():
            low = numbers.min()
            if numbers.max() < low + TABLE:  # integers: each is looked for once
                times = np.bincount((numbers - low).astype(np.int32))
                numbers = low + np.arange(times.size)
        places = np.searchsorted(self._edges, numbers, side="right")
        out = np.bincount(places, times, self.size).astype(np.int64)
        for label, often in Counter(answers.labels).items():
            out[self._labels.get(label, self.size - 1)] += often
        return out

    def text(self, event: AnyArray) -> str:
        """The cells of an event in words: ranges of numbers, then others."""
        texts, edges = [], [repr(edge).removesuffix(".0") for edge in self._edges.tolist()]
        ends = np.flatnonzero(np.diff(event[: self.numbers], prepend=False, append=False))
        for first, end in ends.reshape(-1, 2).tolist():
            sides = [f"answer >= {edge}" for edge in edges[:first][-1:]]
            sides += [f"answer < {edge}" for edge in edges[end - 1 : end]]
            texts.append(" and ".join(sides) or "answer is a number")
        names = [*map(_written, self._labels), "one that was not seen at first"]
        texts += [f"answer is {names[i]}" for i in np.flatnonzero(event[self.numbers :])]
        more = [f"one of {len(texts) - WRITTEN} other ranges"] * (len(texts) > WRITTEN)
        return " or ".join(texts[:WRITTEN] + more)


def _edges(numbers: FloatArray) -> FloatArray:
    values, counts = np.unique(numbers, return_counts=True)
    if values.size <= MAX_OWN_CELLS:
        return values
    levels = np.linspace(0, numbers.size, CUTS + 1)[1:-1]
    cuts = values[np.searchsorted(np.cumsum(counts), levels)]
    frequent = values[counts * MAX_OWN_CELLS >= numbers.size]
    return np.unique(np.concatenate([cuts, frequent, np.nextafter(frequent, np.inf)]))


def _written(label: Any) -> str:
    try:
        return repr(label)
    except Exception:  # of a foreign object whatever it raises, of integers of 4,300 digits too
        return f"an object without a text, {type(label).__name__}"
