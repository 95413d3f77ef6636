"""Is every mechanism a value, compared, copied and written by its parameters, also when used?"""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction
from functools import partial
from itertools import combinations

import pytest

import fastexp as fx
from tests.doors.mechanisms import TABLE, Comparator, UtilityMechanism
from tests.support.each import each
from tests.support.examples import arguments_of, built, data_of

TEXTS = [
    "Median(epsilon=2.0, bounds=(0, 120), step=1)",
    "Median(epsilon=0.5, bounds=(0.0, 1.0), neighbors='replace', convention='lower', widen=0.25)",
    "Quantile(q=0.1, epsilon=1.0, bounds=(0, 9), grid=[1, 4, 8])",
    "OrderStatistic(r=3, epsilon=2.0, bounds=(-1, 1), step=0.5)",
    "Maximum(epsilon=1.0, bounds=(0, 50), step=1)",
    "Mode(epsilon=1.0, bounds=(0, 50), step=1)",
    "Price(epsilon=1.0, bounds=(0, 5), step=1, scaling='textbook')",
    "Laplace(epsilon=1.0, sensitivity=2, step=1, bounds=(-3, 9))",
    "Laplace(epsilon=1.0, sensitivity=0.5, step=0.5)",
    "RandomizedResponse(epsilon=2.0)",
    "MostCommon(epsilon=0.7, candidates=('a', 'b'), neighbors='replace')",
]
PUBLIC = {"Fraction": Fraction} | {name: getattr(fx, name) for name in fx.__all__}


def often(data, word):
    """A score."""
    return data.count(word)


MAKERS = {
    **{row.name: partial(built, row) for row in TABLE.values()},
    **{
        f"{row.name} in full": partial(row.kind, **arguments_of(row, full=True))
        for row in TABLE.values()
    },
    "scored": partial(fx.Exponential.from_score, often, ["a", "b"], epsilon=1.0, sensitivity=1.0),
    **{text: partial(eval, text, PUBLIC) for text in TEXTS},
}
ROWS = {row.kind: row for row in TABLE.values()}


def data_for(mechanism):
    if isinstance(mechanism, fx.ScoredExponential):
        return ["b"]
    data = data_of(ROWS[type(mechanism)])
    listed = isinstance(mechanism, UtilityMechanism) and mechanism.candidates
    return data[: len(listed)] if listed else data


def every():
    return [make() for make in MAKERS.values()]


def drawn(mechanism):
    return mechanism.sample(data_for(mechanism), rng=1)


@each("name", MAKERS)
def test_what_is_made_alike_is_equal_and_cannot_be_changed(name):
    one, other = MAKERS[name](), MAKERS[name]()
    assert pickle.dumps(one) == pickle.dumps(other)
    for twin in (other, pickle.loads(pickle.dumps(one)), copy.deepcopy(one), copy.copy(one)):
        assert (twin, hash(twin), repr(twin)) == (one, hash(one), repr(one))
        assert repr(drawn(twin)) == repr(drawn(one))
    with pytest.raises(AttributeError):
        one.epsilon = 3.0


def test_what_is_written_otherwise_is_another():
    for (one, first), (other, second) in combinations([(m, repr(m)) for m in every()], 2):
        assert (one == other) == (first == second)


@each("name", [name for name in MAKERS if name != "scored"])
def test_what_is_written_makes_it_again(name):
    mechanism = MAKERS[name]()
    assert eval(repr(mechanism), PUBLIC) == mechanism  # noqa: S307
    assert name not in TEXTS or repr(mechanism) == name


@each("name", MAKERS)
def test_nothing_of_data_is_kept(name):
    """Whatever it has been used on, it is the same bytes."""
    mechanism = MAKERS[name]()
    before = pickle.dumps(mechanism)
    drawn(mechanism)
    if not isinstance(mechanism, Comparator):
        mechanism.release(data_for(mechanism))
    assert pickle.dumps(mechanism) == before


@each("name", [row.name for row in TABLE.values()] + ["scored"])
@each("more", [{"rng": 1}, {"size": 3}, {"streams": [1]}, {"method": "envelope"}], ids=str)
def test_a_release_takes_no_seed(name, more):
    mechanism = MAKERS[name]()
    if not isinstance(mechanism, Comparator):
        with pytest.raises(TypeError, match=next(iter(more))):
            mechanism.release(data_for(mechanism), **more)
