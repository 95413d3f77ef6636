"""Are simulated draws given as candidates, wherever there are any and they are asked for?"""

from __future__ import annotations

import numpy as np

import fastexp as fx
from tests.support.each import each

DRINKS = ("tea", "milk", "rye")
CUPS = [*"ttttmmr"]
ROWS = [[1.0, 3.0, 2.0], [0.0, 0.0, 4.0]]
SELECTIONS = {
    "exponential": fx.Exponential(epsilon=1, sensitivity=1, candidates=DRINKS),
    "scored": fx.Exponential.from_score(
        lambda data, name: data[DRINKS.index(name)], DRINKS, epsilon=1, sensitivity=1
    ),
    "permute-and-flip": fx.PermuteAndFlip(epsilon=1, sensitivity=1, candidates=DRINKS),
    "top-k": fx.TopK(2, epsilon=1, sensitivity=1, candidates=DRINKS),
}


CASES = [(name, ROWS[0]) for name in SELECTIONS]
CASES += [(name, ROWS) for name in SELECTIONS if name != "scored"]  # a score is of one data set


def named(indices, candidates=DRINKS):
    """Candidates for their indices, one by one."""
    if np.ndim(indices):
        return [named(part, candidates) for part in indices]
    return candidates[indices]


@each("size", [None, 0, 1, 40])
@each(("name", "data"), CASES, ids=str)
def test_draws_are_the_candidates_of_their_indices(name, data, size):
    mechanism = SELECTIONS[name]
    labels = mechanism.sample(data, size, rng=3, labels=True)
    assert labels == named(mechanism.sample(data, size, rng=3))
    if size == 40:
        assert len({str(draw) for draw in np.array(labels, object).ravel()}) > 1


@each("size", [None, 30])
@each("selected", ["exponential", "permute-and-flip"])
@each("groups", [None, ["b", "a", "c"], "from-data"], ids=str)
def test_the_most_common_of_groups(groups, selected, size):
    mechanism = fx.MostCommon(epsilon=0.3, candidates=[*"tmr"], mechanism=selected)
    asked = {} if groups is None else {"by": [*"aabbbaa"], "groups": groups}
    indices = mechanism.sample(CUPS, size, rng=5, **asked)
    labels = mechanism.sample(CUPS, size, rng=5, labels=True, **asked)
    if groups == "from-data":
        assert labels[0] == indices[0] == ["a", "b"]
        indices, labels = indices[1], labels[1]
    assert labels == named(indices, "tmr")
