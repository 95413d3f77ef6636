"""Answers of any kind, and the cells into which they fall: numbers by value, others by name.

Once the cells are fixed, a cell is a function of the answer alone, so that cells are counted as
independent draws, whatever the answers are. Answers that share a cell cost only power.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import copysign
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from .._typing import AnyArray, FloatArray, IntArray

MAX_OWN_CELLS = 512  # distinct numbers that each have a cell; of more, only the frequent ones
CUTS = 256  # ranges for the other numbers
MAX_LABELS = 4096  # the most answers other than numbers that have cells
MAX_WRITTEN = 4  # the most ranges that are written out
MAX_TABLE = 1 << 16  # the widest range of integers that are counted by a table


@dataclass(frozen=True, repr=False)
class NonNumber:
    """An outcome that cannot be compared by value: an exception of some type, NaN, -0.0."""

    text: str

    def __repr__(self) -> str:
        return self.text


NAN, MINUS_ZERO = NonNumber("nan"), NonNumber("-0.0")  # NaN equals nothing, and -0.0 equals 0.0


class Answers(NamedTuple):
    """Some draws, in any order: the numbers, and the labels of all other answers."""

    numbers: FloatArray
    labels: list[Any]


def read(answers: Any) -> Answers:
    """Read answers as the nearest doubles, and labels; a row of an array is one answer."""
    labels: list[Any] = []
    if isinstance(answers, np.ndarray) and answers.ndim == 1 and answers.dtype.kind in "biuf":
        numbers = answers.astype(np.float64)
    else:
        doubles = []
        for each in answers.tolist() if isinstance(answers, np.ndarray) else answers:
            item = each
            if isinstance(each, np.ndarray):  # an array of one number counts as the number
                item = each.item() if each.size == 1 else each.tolist()
            if isinstance(item, (Real, np.bool_)):
                doubles.append(_nearest(item))
            else:
                labels.append(label_of(item))
        numbers = np.array(doubles, np.float64)
    non_numbers = {NAN: np.isnan(numbers), MINUS_ZERO: (numbers == 0) & np.signbit(numbers)}
    for label, is_label in non_numbers.items():
        labels += [label] * np.count_nonzero(is_label)
    return Answers(numbers[~np.logical_or(*non_numbers.values())], labels)


def _nearest(number: Any) -> float:
    try:
        return float(number)
    except OverflowError:
        return np.inf if number > 0 else -np.inf


def label_of(item: Any) -> Any:
    """Return an answer if it has a hash; otherwise its items, or its type."""
    if isinstance(item, np.ndarray):
        item = item.tolist()
    if isinstance(item, (list, tuple)):
        return tuple(label_of(each) for each in item)
    if isinstance(item, (float, np.floating)) and item == 0 and copysign(1.0, item) < 0:
        return MINUS_ZERO
    try:
        hash(item)
        if item != item:  # NaN in tuples would be a new outcome each time
            return NAN
    except Exception:  # a foreign object may raise anything
        return NonNumber(f"an object without a hash, {type(item).__name__}")
    return item


class Cells:
    """Cells for numbers and labels, chosen by some draws of both sides.

    A cell of numbers is the range from one of `edges` to the next. The most frequent labels have a
    cell each, and all others share one. `numbers` is the number of cells of numbers.
    """

    def __init__(self, parts: list[Answers]) -> None:
        self._edges = _edges(np.concatenate([part.numbers for part in parts]))
        self.numbers: int = self._edges.size + 1
        labels = Counter(label for part in parts for label in part.labels)
        frequent = [label for label, _ in labels.most_common(MAX_LABELS)]
        self._labels = {label: self.numbers + i for i, label in enumerate(frequent)}
        self.size: int = self.numbers + len(frequent) + 1

    def count(self, answers: Answers) -> IntArray:
        """Return the number of answers in each cell."""
        numbers, times = answers.numbers, None
        if numbers.size and (np.rint(numbers) == numbers).all():
            low = numbers.min()
            if numbers.max() < low + MAX_TABLE:  # integers are counted in a table
                times = np.bincount((numbers - low).astype(np.int32))
                numbers = low + np.arange(times.size)
        places = np.searchsorted(self._edges, numbers, side="right")
        out = np.bincount(places, times, self.size).astype(np.int64)
        for label, often in Counter(answers.labels).items():
            out[self._labels.get(label, self.size - 1)] += often
        return out

    def text(self, event: AnyArray) -> str:
        """Return the cells of an event in words: ranges of numbers, then other answers."""
        texts, edges = [], [repr(edge).removesuffix(".0") for edge in self._edges.tolist()]
        ends = np.flatnonzero(np.diff(event[: self.numbers], prepend=False, append=False))
        for first, end in ends.reshape(-1, 2).tolist():
            sides = [f"answer >= {edge}" for edge in edges[:first][-1:]]
            sides += [f"answer < {edge}" for edge in edges[end - 1 : end]]
            texts.append(" and ".join(sides) or "answer is a number")
        names = [*map(_written, self._labels), "one that was not seen at first"]
        texts += [f"answer is {names[i]}" for i in np.flatnonzero(event[self.numbers :])]
        ending = [f"one of {len(texts) - MAX_WRITTEN} other ranges"] * (len(texts) > MAX_WRITTEN)
        return " or ".join(texts[:MAX_WRITTEN] + ending)


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
    except Exception:  # a foreign object may raise anything, and so may an int of 4,300 digits
        return f"an object without a text, {type(label).__name__}"
