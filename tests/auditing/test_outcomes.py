"""Do answers of every kind fall into the cells that they belong to?"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tests.doors.auditing import Answers, Cells, NonNumber, outcomes, read
from tests.support.each import each

NAN = float("nan")


class Unhashable:
    __hash__ = None


def test_numbers_and_others_are_told_apart():
    values = [3, 2.5, True, None, "a", NAN, Fraction(1, 2), 10**400, [1, [2]], {1}, Unhashable()]
    numbers, labels = read(values)
    assert numbers.tolist() == [3.0, 2.5, 1.0, 0.5, np.inf]
    assert labels[:3] == [None, "a", (1, (2,))]
    without = [NonNumber(f"an object without a hash, {kind}") for kind in ("set", "Unhashable")]
    assert labels[3:] == [*without, NonNumber("nan")]


def test_nan_is_one_outcome_in_tuples_and_an_array_of_no_dimension_is_its_number():
    values = [(NAN, 1), [float("nan"), 1], np.array([np.nan, 1]), np.array(3.0), np.array(NAN)]
    numbers, labels = read([*values, np.datetime64("NaT", "s")])
    assert numbers.tolist() == [3.0]
    assert labels == [(NonNumber("nan"), 1)] * 3 + [NonNumber("nan")] * 2


APART = [
    (2**52, 2**52 + 1),
    (0.0, -0.0),
    (np.float32(0.0), np.float32(-0.0)),
    (0.0, NAN),
    (-0.0, NAN),
    (1, "1"),
    (1, (1,)),
    ((1, 0.0), (1, -0.0)),
    ([2**60], [2**60 + 1]),
]
ALIKE = [
    (1, True),
    (1, 1.0),
    (True, np.True_),
    (2**60, 2.0**60),
    (2**60, 2**60 + 1),
    (2.0**60, np.int64(2**60 + 1)),
    (-(2**63), -(2**63) + 1),
    (np.uint64(2**63), np.uint64(2**63 + 1)),
    (10**400, 10**5000),
    (Fraction(1, 3), Fraction(1, 3) + Fraction(1, 2**80)),
    (np.float32(0.5), Fraction(1, 2)),
    ((1, NAN), [True, float("nan")]),
    (NAN, -NAN),
]


def objects(answers):
    return np.array(answers, object)


@each("form", [list, objects, np.array])
@each(("pair", "apart"), [*((p, 1) for p in APART), *((p, 0) for p in ALIKE)])
def test_outcomes_are_told_apart_as_doubles_and_as_labels(pair, apart, form):
    """In lists, arrays of objects, and arrays of the type that NumPy finds."""
    sides = [read(form([answer] * 3)) for answer in pair]
    for known in (sides, sides[::-1], [read([answer] * 3) for answer in pair]):
        cells = Cells(known)
        places = [np.flatnonzero(cells.count(side)).tolist() for side in sides]
        assert all(len(place) == 1 for place in places)
        assert (places[0] != places[1]) == apart


def test_the_cell_of_a_number_is_a_function_of_it_alone():
    """In a list, or in an array of integers."""
    cells = Cells([read([2**60, 2**60 + 2**8, Fraction(1, 3), 1e30])])
    for x in (2**60 + 2, 2**60 - 1, 2**60 + 2**8 + 1, 2**53 + 1, 2**62 + 1):
        forms = [x], np.array([x]), np.array([x], np.uint64), np.array([x], ">i8"), objects([x])
        places = {int(np.flatnonzero(cells.count(read(form)))[0]) for form in (*forms, [float(x)])}
        assert len(places) == 1
    assert cells.count(read([-(10**400), 10**400]))[[0, cells.numbers - 1]].tolist() == [1, 1]


@each(
    ("array", "numbers", "labels"),
    [
        (np.array([1, 2], np.int8), [1, 2], []),
        (np.array([1, 2], np.uint64), [1, 2], []),
        (np.array([True, False]), [1, 0], []),
        (np.array([[1, 2], [3, 4]]), [], [(1, 2), (3, 4)]),
        ([np.array([1.5]), np.array([[2]]), np.array(["c"])], [1.5, 2], ["c"]),
        (np.array(["a", "b"]), [], ["a", "b"]),
    ],
)
def test_arrays(array, numbers, labels):
    assert read(array).numbers.tolist() == numbers
    assert read(array).labels == labels


@each("dtype", [np.int64, np.int8, np.uint16, np.float64, np.float32])
@each("spread", [1, 10**6])
def test_counts_are_those_of_the_definition(dtype, spread):
    """Each number that was seen begins a cell."""
    seen = [3 * spread, 5 * spread, 20 * spread]
    cells = Cells([read(np.array([*seen, 5 * spread])), Answers(np.zeros(0), ["x", None, "x"])])
    new = np.array([0, 3, 4, 5, 6, 20, 100, 127]).astype(dtype)
    expected = np.zeros(cells.size, int)
    for x in new.tolist():
        expected[sum(e <= x for e in seen)] += 1
    expected[cells.numbers :] += [1, 2, 1]
    mixed = Answers(read(new).numbers, ["x", "y", None, None])
    assert cells.count(mixed).tolist() == expected.tolist()
    more = cells.count(read(np.array([NAN, np.inf, -np.inf])))
    assert np.flatnonzero(more).tolist() == [0, cells.numbers - 1, cells.size - 1]


def test_integers_are_counted_as_other_numbers_are():
    """Each once where they are close, or one by one."""
    random = np.random.default_rng(2)
    cells = Cells([read(random.integers(-5, 5, 40))])
    for low in (-9, 2**52, -(2**60)):
        close = random.integers(low, low + 18, 500)
        counts = cells.count(read(close))
        far = cells.count(read(np.append(close, low + 2 * outcomes.MAX_TABLE)))
        far[cells.numbers - 1 if low > -(2**59) else 0] -= 1
        assert counts.tolist() == far.tolist()
        assert counts.sum() == 500


def test_many_numbers_are_cut_where_they_are_and_frequent_ones_are_alone():
    random = np.random.default_rng(1)
    normal = random.normal(size=20_000)
    cells = Cells([Answers(np.append(normal, np.full(500, 0.125)), [])])
    counts = cells.count(Answers(normal, []))
    assert counts.max() < 2.5 * normal.size / outcomes.CUTS
    alone = cells.count(Answers(np.full(7, 0.125), []))
    assert alone.max() == 7
    assert not counts[alone.argmax()]


def test_no_numbers_and_too_many_labels():
    cells = Cells([Answers(np.zeros(0), [])])
    assert cells.count(read([1.0, NAN, "a"])).tolist() == [1, 2]
    cells = Cells([Answers(np.zeros(0), list(map(str, range(outcomes.MAX_LABELS + 5))))])
    assert cells.size == 1 + outcomes.MAX_LABELS + 1
    assert cells.count(Answers(np.zeros(0), [str(outcomes.MAX_LABELS + 4), "new"]))[-1] == 2


def test_events_in_words():
    answers = [1, 2.5, 1e300, "a", None, NAN, -0.0]
    cells = Cells([read(answers), Answers(np.zeros(0), [NonNumber("an exception, KeyError")])])
    names = [f"answer is {name}" for name in ("'a'", "None", "nan", "-0.0")]
    names += ["answer is an exception, KeyError", "answer is one that was not seen at first"]
    for event, text in {
        (0,): "answer < 1",
        (0, 1, 2): "answer < 1e+300",
        (1,): "answer >= 1 and answer < 2.5",
        (1, 2, 3): "answer >= 1",
        (0, 2, 3): "answer < 1 or answer >= 2.5",
        (0, 1, 2, 3): "answer is a number",
        **{(4 + i,): name for i, name in enumerate(names)},
        tuple(range(3, 10)): " or ".join(["answer >= 1e+300", *names[:3], "one of 3 other ranges"]),
    }.items():
        assert cells.text(np.isin(np.arange(cells.size), event)) == text
