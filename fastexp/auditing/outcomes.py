"""Answers of any kind, and the cells into which they fall: numbers by their size, others by name.

A cell is a function of an answer alone once the cells are there, so that counts of cells are those
of independent draws, whatever the answers are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from .._typing import AnyArray, FloatArray, IntArray

FEW = 512  # distinct numbers that are cells of their own; of more only frequent ones are
CUTS = 256  # into which other numbers are cut
LABELS = 4096  # answers that are no numbers, and have cells
TABLE = 1 << 16  # integers whose cells are looked up
EXACT = 1 << 53  # integers up to here are doubles


@dataclass(frozen=True)
class Odd:
    """An outcome that has no value: an exception of a type, or a type that has no hash."""

    text: str


class Answers(NamedTuple):
    """Some draws, in any order: those that are numbers, and names of the others."""

    numbers: AnyArray
    labels: list[Hashable]


def read(answers: object) -> Answers:
    """Answers as numbers and labels. NaN is a number; a row of an array is one answer."""
    if isinstance(answers, np.ndarray) and answers.ndim == 1 and answers.dtype.kind in "iuf":
        return Answers(answers, [])
    items: Any = answers.tolist() if isinstance(answers, np.ndarray) else answers
    numbers, labels = [], []
    for each in items:
        item = each.item() if isinstance(each, np.ndarray) and each.ndim == 0 else each
        if isinstance(item, (Real, np.bool_)):
            numbers.append(_number(item))
        else:
            labels.append(label_of(item))
    return Answers(np.array(numbers, np.float64), labels)


def _number(item: Any) -> float:
    try:
        return float(item)
    except OverflowError:
        return np.inf if item > 0 else -np.inf


def label_of(item: Any) -> Hashable:
    """An answer as it is, if it has a hash; else its items, or its type."""
    if isinstance(item, np.ndarray):
        item = item.tolist()
    if isinstance(item, (list, tuple)):
        return tuple(label_of(each) for each in item)
    try:
        hash(item)
        if item != item:  # in tuples, each NaN would be another outcome
            return Odd("nan")
    except Exception:  # of a foreign object whatever it raises
        return Odd(f"an object without a hash, {type(item).__name__}")
    label: Hashable = item
    return label


class Cells:
    """Cells for numbers and labels, chosen by some draws of both sides.

    Of numbers: each of `edges` alone, the gaps beside them, and NaN. Of labels: the most frequent
    ones, and all others together. `numbers` is how many cells lie side by side on the line.
    """

    def __init__(self, parts: list[Answers]) -> None:
        self._edges = _edges(np.concatenate([part.numbers.astype(np.float64) for part in parts]))
        self._ends = np.append(self._edges, np.nan)
        counts = Counter(label for part in parts for label in part.labels)
        self._labels = {label: i for i, (label, _) in enumerate(counts.most_common(LABELS))}
        self.numbers = 2 * self._edges.size + 1
        self.size = self.numbers + 1 + len(self._labels) + 1
        self._low, self._high, table = 0, 0, None
        whole = self._edges.size and bool((self._edges == np.floor(self._edges)).all())
        near = whole and bool((np.abs(self._edges[[0, -1]]) < EXACT).all())
        if near and self._edges[-1] - self._edges[0] < TABLE:
            self._low, self._high = int(self._edges[0]) - 1, int(self._edges[-1]) + 1
            table = self._places(np.arange(self._low, self._high + 1, dtype=np.float64))
        self._table = table

    @property
    def none(self) -> IntArray:
        """The counts of no answers."""
        return np.zeros(self.size, np.int64)

    def count(self, answers: Answers) -> IntArray:
        """How many answers fall into each cell."""
        numbers, out = answers.numbers, self.none
        if numbers.dtype.kind == "i" and self._table is not None:
            inside = np.clip(numbers.astype(np.int64), self._low, self._high) - self._low
            np.add.at(out, self._table, np.bincount(inside, minlength=self._table.size))
        elif numbers.size:
            out += np.bincount(self._places(numbers.astype(np.float64)), minlength=self.size)
        other = self.size - 1
        for label, times in Counter(answers.labels).items():
            place = self._labels.get(label)
            out[other if place is None else self.numbers + 1 + place] += times
        return out

    def _places(self, numbers: FloatArray) -> IntArray:
        """The cell of each number."""
        before = np.searchsorted(self._edges, numbers)
        places = 2 * before + (self._ends[before] == numbers)
        places[numbers != numbers] = self.numbers
        return np.asarray(places, np.int64)

    def span(self, first: int, last: int) -> str:
        """The numbers from one cell to another one, in words."""
        if first == last and first % 2:
            return f"answer = {self._edge(first)!r}"
        texts = []
        if first > 0:
            texts.append(f"answer {'>=' if first % 2 else '>'} {self._edge((first - 1) | 1)!r}")
        if last < self.numbers - 1:
            texts.append(f"answer {'<=' if last % 2 else '<'} {self._edge(last | 1)!r}")
        return " and ".join(texts) or "answer is a number"

    def other(self, cell: int) -> str:
        """A cell beyond those of numbers, in words."""
        labels = ["nan", *map(_written, self._labels), "one that was not seen at first"]
        return f"answer is {labels[cell]}"

    def _edge(self, cell: int) -> float | int:
        number = float(self._edges[cell // 2])
        return number if self._table is None else int(number)


def _edges(numbers: FloatArray) -> FloatArray:
    values, counts = np.unique(numbers[~np.isnan(numbers)], return_counts=True)
    if values.size <= FEW:
        return values
    levels = np.linspace(0, numbers.size, CUTS + 1)[1:-1]
    cuts = values[np.minimum(np.searchsorted(np.cumsum(counts), levels), values.size - 1)]
    return np.union1d(cuts, values[counts * FEW >= numbers.size])


def _written(label: Hashable) -> str:
    return label.text if isinstance(label, Odd) else repr(label)
