"""Answers of any kind, and the cells into which they fall: numbers by their size, others by name.

A cell is a function of an answer alone once the cells are there, so that counts of cells are those
of independent draws, whatever the answers are. A number lies in the cell of the nearest double,
unless it is not equal to that: then it may be a label, with a cell of its own.
"""

from __future__ import annotations

from collections import Counter
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
LARGE = 1 << 63
DOUBLE = 8  # bytes


@dataclass(frozen=True)
class Odd:
    """An outcome that has no value: an exception of a type, or a type that has no hash."""

    text: str


MINUS_ZERO = Odd("-0.0")  # which is equal to 0.0


class Answers(NamedTuple):
    """Some draws, in any order: those that are numbers, and names of the others.

    `numbers` are doubles or int64; a number that is neither is a label.
    """

    numbers: AnyArray
    labels: list[Any]


def read(answers: object) -> Answers:
    """Answers as numbers and labels. NaN is a number; a row of an array is one answer."""
    if isinstance(answers, np.ndarray) and answers.ndim == 1 and answers.dtype.isnative:
        if answers.dtype.kind == "f" and answers.itemsize <= DOUBLE:
            minus = (answers == 0) & np.signbit(answers)
            zeros = int(np.count_nonzero(minus))
            return Answers(answers[~minus] if zeros else answers, [MINUS_ZERO] * zeros)
        if answers.dtype.kind == "i" or (answers.dtype.kind == "u" and not (answers > EXACT).any()):
            return Answers(answers, [])
    items: Any = answers.tolist() if isinstance(answers, np.ndarray) else answers
    numbers, labels = [], list[Any]()
    for each in items:
        is_numpy = isinstance(each, np.number) or (isinstance(each, np.ndarray) and each.ndim == 0)
        item = each.item() if is_numpy else each
        known: Any = isinstance(item, (Real, np.bool_)) and not _is_minus_zero(item)
        if known and (item != item or _nearest(item) == item):
            numbers.append(float(item))
        else:
            labels.append(label_of(item))
    return Answers(np.array(numbers, np.float64), labels)


def _nearest(number: Any) -> float:
    try:
        return float(number)
    except OverflowError:
        return np.inf if number > 0 else -np.inf


def _is_minus_zero(item: Any) -> bool:
    return isinstance(item, (float, np.floating)) and item == 0.0 and bool(np.signbit(item))


def label_of(item: Any) -> Any:
    """An answer as it is, if it has a hash; else its items, or its type."""
    if isinstance(item, np.ndarray):
        item = item.tolist()
    if isinstance(item, (list, tuple)):
        return tuple(label_of(each) for each in item)
    if _is_minus_zero(item):
        return MINUS_ZERO
    try:
        hash(item)
        if item != item:  # in tuples, each NaN would be another outcome
            return Odd("nan")
    except Exception:  # of a foreign object whatever it raises
        return Odd(f"an object without a hash, {type(item).__name__}")
    return item


class Cells:
    """Cells for numbers and labels, chosen by some draws of both sides.

    Of numbers: each of `edges` alone, the gaps beside them, and NaN. Of labels: the most frequent
    ones, and all others together; other numbers among them are where the nearest double is.
    `numbers` is how many cells lie side by side on the line.
    """

    def __init__(self, parts: list[Answers]) -> None:
        labels = [label for part in parts for label in part.labels]
        near = np.array([_nearest(label) for label in labels if isinstance(label, Real)])
        numbers = [part.numbers for part in parts]
        doubles = np.concatenate([near, *(some.astype(np.float64) for some in numbers)])
        self._edges = _edges(doubles)
        self._ends = np.append(self._edges, np.nan)
        self.numbers: int = 2 * self._edges.size + 1
        counts = Counter(labels)
        for some in numbers:
            if some.dtype == np.int64:  # integers that are no doubles
                far = some[np.abs(some) > EXACT]
                with np.errstate(invalid="ignore"):  # 2**63 is no int64
                    far = far[far.astype(np.float64).astype(np.int64) != far]
                values, times = np.unique(far, return_counts=True)
                counts.update(dict(zip(values.tolist(), times.tolist(), strict=True)))
        frequent = [
            label
            for label, times in counts.most_common(LABELS)
            if times * FEW >= doubles.size or not isinstance(label, Real)
        ]
        self._labels = {label: self.numbers + 1 + i for i, label in enumerate(frequent)}
        integers = sorted(x for x in self._labels if type(x) is int and -LARGE <= x < LARGE)
        self._integers = np.array(integers, np.int64)
        self._integer_cells = np.array([self._labels[x] for x in integers], np.int64)
        self.size: int = self.numbers + 1 + len(self._labels) + 1
        self._low, self._high, table = 0, 0, None
        whole = self._edges.size and bool((self._edges == np.floor(self._edges)).all())
        small = whole and bool((np.abs(self._edges[[0, -1]]) < EXACT).all())
        if small and not integers and self._edges[-1] - self._edges[0] < TABLE:
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
            out += np.bincount(self._places(numbers), minlength=self.size)
        labels = Counter(answers.labels)
        rest = [x for x in labels if isinstance(x, Real) and x not in self._labels]
        near = self._places(np.array([_nearest(x) for x in rest]))
        np.add.at(out, near, [labels.pop(x) for x in rest])
        for label, times in labels.items():
            out[self._labels.get(label, self.size - 1)] += times
        return out

    def _places(self, numbers: AnyArray) -> IntArray:
        near = numbers.astype(np.float64)
        before = np.searchsorted(self._edges, near)
        places = 2 * before + (self._ends[before] == near)
        places[near != near] = self.numbers
        if numbers.dtype == np.int64 and self._integers.size:
            at = np.searchsorted(self._integers, numbers).clip(max=self._integers.size - 1)
            alone = self._integers[at] == numbers
            places[alone] = self._integer_cells[at[alone]]
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

    def left_out(self, event: AnyArray) -> list[str]:
        """Numbers with cells of their own that an event lacks, though not the numbers around."""
        alone = [x for x in self._labels if isinstance(x, Real) or x is MINUS_ZERO]
        near = self._places(np.array([0.0 if x is MINUS_ZERO else _nearest(x) for x in alone]))
        inside = zip(alone, event[near].tolist(), strict=True)
        return [_written(x) for x, around in inside if around and not event[self._labels[x]]]

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


def _written(label: Any) -> str:
    if isinstance(label, Odd):
        return label.text
    try:
        return repr(label)
    except Exception:  # of a foreign object whatever it raises, of integers of 4,300 digits too
        return f"an object without a text, {type(label).__name__}"
