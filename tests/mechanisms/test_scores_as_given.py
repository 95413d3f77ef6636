"""Is a score called with the candidates as they were given, and can it not change them?"""

from __future__ import annotations

import pickle
from collections import UserList

import numpy as np
import pytest

import fastexp as fx
from tests.support.each import each


def revenue(x, r):
    """Give the revenue of each price, one by one: the first utility of the tutorial of Sherpa."""
    output = np.zeros(len(r))
    for i in range(len(r)):
        output[i] = r[i] * sum(np.greater_equal(x, r[i]))
    return output


def u_randomized(x, r):
    """Give the utility of answers to a question of yes and no: the second one."""
    return -1 / 4 * (1 - 2 * x) * r


def u_laplacian(x, r):
    """Give minus the distance from a number: the third one."""
    return -np.absolute(x - r)


TUTORIAL = [
    (revenue, [1.00, 1.00, 1.00, 3.01], np.arange(0, 3.5, 0.01), None, 5),
    (u_randomized, 1, np.array([0, 1]), 1, 1),
    (u_laplacian, 3.5, np.arange(-20, 20, 0.1), 1, 1),
]


@each(("u", "x", "r", "delta_u", "epsilon"), TUTORIAL)
def test_the_three_utilities_of_the_tutorial_run_as_they_are_written(u, x, r, delta_u, epsilon):
    sensitivity = r.max() if delta_u is None else delta_u
    m = fx.Exponential.from_score(u, r, epsilon=epsilon, sensitivity=sensitivity, vectorized=True)
    for data in (x, np.array(x)):
        weights = np.exp(epsilon * u(data, r) / (2 * sensitivity))
        law = m.law(data)
        assert law.probabilities == pytest.approx(weights / weights.sum(), rel=1e-12)
    assert m.release(np.array(x)) in r.tolist()
    twin = pickle.loads(pickle.dumps(m))
    assert (twin.sample(np.array(x), 9, rng=1) == m.sample(np.array(x), 9, rng=1)).all()


def handed(candidates):
    """Build a mechanism of two candidates, and a list of what its score is given."""
    seen = []

    def score(_data, labels):
        seen.append(labels)
        return [0.0, 1.0]

    return seen, fx.Exponential.from_score(
        score, candidates, epsilon=1.0, sensitivity=1.0, vectorized=True
    )


@each(
    "candidates",
    [["a", "b"], ("a", "b"), range(2), np.array([1, 2]), np.array(["a", "b"]), UserList("ab")],
    ids=lambda candidates: type(candidates).__name__,
)
def test_the_form_is_that_of_the_caller(candidates):
    seen, m = handed(candidates)
    m.law(None)
    assert type(seen[0]) is type(candidates)
    assert list(seen[0]) == list(candidates)
    assert getattr(seen[0], "dtype", None) == getattr(candidates, "dtype", None)


def test_an_iterator_is_read_once():
    seen, m = handed(x for x in "ab")
    m.law(None)
    m.law(None)
    assert seen == [("a", "b")] * 2


@pytest.mark.engines
def test_a_series_stays_one():
    pandas = pytest.importorskip("pandas")
    seen, m = handed(pandas.Series([1, 2]))
    m.law(None)
    assert isinstance(seen[0], pandas.Series)
    assert m.candidates == (1, 2)


@each("candidates", [["a", "b"], np.array(["a", "b"]), UserList("ab")])
def test_neither_the_caller_nor_the_score_can_change_them(candidates):
    seen, m = handed(candidates)
    candidates[0] = "z"
    m.law(None)
    seen[0][1] = "y"
    m.law(None)
    assert list(seen[1]) == ["a", "b"]
    assert m.candidates == ("a", "b")


def test_candidates_that_cannot_be_copied_are_given_as_labels():
    class Own(UserList):
        def __copy__(self):
            raise KeyError(1)

    seen, m = handed(Own("ab"))
    m.law(None)
    assert seen == [("a", "b")]


def test_scores_of_a_session_too():
    seen = []

    def score(columns, labels):
        seen.append(labels)
        return -np.abs(columns["x"].mean() - labels)

    scores = {"near": (score, np.arange(3.0), 1.0)}
    session = fx.Session({"x": [1.0, 3.0]}, budget=fx.Budget(epsilon=500.0), scores=scores)
    assert session.release(None, {"near": ("near", 500.0)})["near"].tolist() == [2.0]
    assert isinstance(seen[0], np.ndarray)
