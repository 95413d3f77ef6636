"""Do answers of every kind fall into the cells that they belong to?"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tests.doors.auditing import Answers, Cells, Odd, outcomes, read
from tests.support.each import each

NAN = float("nan")


class Unhashable:
    __hash__ = None


def test_numbers_and_others_are_told_apart():
    values = [3, 2.5, True, None, "a", NAN, Fraction(1, 2), 10**400, [1, [2]], {1}, Unhashable()]
    numbers, labels = read(values)
    assert numbers[:3].tolist() == [3.0, 2.5, 1.0]
    assert np.isnan(numbers[3])
    assert numbers[4:].tolist() == [0.5]
    assert labels[:4] == [None, "a", 10**400, (1, (2,))]
    assert labels[4:] == [
        Odd(f"an object without a hash, {kind}") for kind in ("set", "Unhashable")
    ]


def test_nan_is_one_outcome_in_tuples_and_an_array_of_no_dimension_is_its_number():
    values = [(NAN, 1), [float("nan"), 1], np.array([np.nan, 1]), np.array(3.0), np.array(NAN)]
    numbers, labels = read([*values, np.datetime64("NaT", "s")])
    assert numbers.tolist() == pytest.approx([3.0, NAN], nan_ok=True)
    assert labels == [(Odd("nan"), 1)] * 3 + [Odd("nan")]


APART = [
    (2**60, 2**60 + 1),
    (2**63, 2**63 + 1),
    (-(2**63), -(2**63) + 1),
    (10**400, 10**400 + 1),
    (10**5000, 10**5000 + 1),
    (0.0, -0.0),
    (np.float32(0.0), np.float32(-0.0)),
    (np.int64(2**60), np.int64(2**60 + 1)),
    (np.uint64(2**63), np.uint64(2**63 + 1)),
    (2.0**60, np.int64(2**60 + 1)),
    (Fraction(1, 3), Fraction(1, 3) + Fraction(1, 2**80)),
    ((1, 0.0), (1, -0.0)),
    ([2**60], [2**60 + 1]),
]
ALIKE = [
    (1, True),
    (1, 1.0),
    (True, np.True_),
    (2**60, 2.0**60),
    (2**60 + 1, np.int64(2**60 + 1)),
    (np.float32(0.5), Fraction(1, 2)),
    ((1, NAN), [True, float("nan")]),
    (NAN, -NAN),
]


def objects(answers):
    return np.array(answers, object)


@each("form", [list, objects, np.array])
@each(("pair", "apart"), [*((p, 1) for p in APART), *((p, 0) for p in ALIKE)])
def test_outcomes_are_told_apart_by_their_exact_value(pair, apart, form):
    """In lists, arrays of objects, and arrays of the type that NumPy finds."""
    sides = [read(form([answer] * 3)) for answer in pair]
    for known in (sides, sides[::-1], [read([answer] * 3) for answer in pair]):
        cells = Cells(known)
        places = [np.flatnonzero(cells.count(side)).tolist() for side in sides]
        assert all(len(place) == 1 for place in places)
        assert (places[0] != places[1]) == apart


def test_a_number_that_was_not_seen_is_where_the_nearest_double_is():
    """In a list, or in an array of integers: the cell is a function of the answer alone."""
    cells = Cells([read([2**60, 2**60 + 1, Fraction(1, 3), 1e30])])
    for x in (2**60 + 2, 2**60 - 1, 2**60 + 1, 2**53 + 1, 2**62 + 1):
        forms = [x], np.array([x]), np.array([x], np.uint64), np.array([x], ">i8"), objects([x])
        places = {int(np.flatnonzero(cells.count(read(form)))[0]) for form in forms}
        assert len(places) == 1
        assert (places == set(np.flatnonzero(cells.count(read([float(x)]))))) == (x != 2**60 + 1)
    assert cells.count(read([Fraction(1, 3) + Fraction(1, 2**80)]))[3] == 0
    assert cells.count(read([-(10**400), 10**400]))[[0, cells.numbers - 1]].tolist() == [1, 1]


@each(
    ("array", "numbers", "labels"),
    [
        (np.array([1, 2], np.int8), [1, 2], []),
        (np.array([1, 2], np.uint64), [1, 2], []),
        (np.array([True, False]), [1, 0], []),
        (np.array([[1, 2], [3, 4]]), [], [(1, 2), (3, 4)]),
        (np.array(["a", "b"]), [], ["a", "b"]),
    ],
)
def test_arrays(array, numbers, labels):
    assert read(array).numbers.tolist() == numbers
    assert read(array).labels == labels


def place(edges, x):
    """By definition: each edge is a cell, and each gap; NaN comes after."""
    if x != x:
        return 2 * len(edges) + 1
    return 2 * sum(e < x for e in edges) + (x in edges)


@each("dtype", [np.int64, np.int8, np.uint16, np.float64, np.float32])
@each("spread", [1, 10**6])
def test_counts_are_those_of_the_definition(dtype, spread):
    seen = np.array([3, 5, 5, 20], np.float64) * spread
    cells = Cells([Answers(seen, ["x", None, "x"])])
    new = np.array([0, 3, 4, 5, 6, 20, 100, 127]).astype(dtype)
    mixed = Answers(new, ["x", "y", None, None])
    expected = np.zeros(cells.size, int)
    for x in new.tolist():
        expected[place([3 * spread, 5 * spread, 20 * spread], x)] += 1
    expected[cells.numbers + 1 :] += [1, 2, 1]
    assert cells.count(mixed).tolist() == expected.tolist()
    more = cells.count(Answers(np.array([NAN, np.inf, -np.inf]), []))
    assert np.flatnonzero(more).tolist() == [0, cells.numbers - 1, cells.numbers]


def test_many_numbers_are_cut_where_they_are_and_frequent_ones_are_alone():
    random = np.random.default_rng(1)
    normal = random.normal(size=20_000)
    cells = Cells([Answers(np.append(normal, np.full(500, 0.125)), [])])
    counts = cells.count(Answers(normal, []))
    assert counts.max() < 2.5 * normal.size / outcomes.CUTS
    alone = cells.count(Answers(np.full(7, 0.125), []))
    assert alone.max() == 7
    assert np.flatnonzero(alone)[0] % 2


def test_no_numbers_and_too_many_labels():
    cells = Cells([Answers(np.zeros(0), [])])
    assert cells.count(Answers(np.array([1.0, NAN]), ["a"])).tolist() == [1, 1, 1]
    cells = Cells([Answers(np.zeros(0), list(map(str, range(outcomes.LABELS + 5))))])
    assert cells.size == 1 + 1 + outcomes.LABELS + 1
    assert cells.count(Answers(np.zeros(0), [str(outcomes.LABELS + 4), "new"]))[-1] == 2


def test_cells_in_words():
    cells = Cells([Answers(np.array([1.0, 2.0, 4.0]), ["a", None, Odd("an exception, KeyError")])])
    texts = [cells.span(*pair) for pair in ((1, 1), (0, 3), (0, 2), (3, 6), (4, 6), (2, 3), (0, 6))]
    assert texts == [
        "answer = 1",
        "answer <= 2",
        "answer < 2",
        "answer >= 2",
        "answer > 2",
        "answer > 1 and answer <= 2",
        "answer is a number",
    ]
    others = [cells.other(i) for i in range(5)]
    names = ["nan", "'a'", "None", "an exception, KeyError", "one that was not seen at first"]
    assert others == [f"answer is {name}" for name in names]
