"""Is every public repr free of characters that a terminal would obey, whatever texts it holds?"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import fastexp as fx
from fastexp import privacy
from tests.support.each import each

RED = "\x1b[31mred\x07\r\n\u202e"
PAIR = [RED, "plain"]
RECORDS, BOUNDS = [1, 2, 4, 7], {"bounds": (0, 10), "step": 1}


def score(data, _r):
    return len(data)


class Label:
    """A label with a text of its own."""

    def __repr__(self):
        return RED


score.__name__ = RED
MEDIAN = fx.Median(1.0, **BOUNDS)
COMMON = fx.MostCommon(1.0, PAIR)
SCORED = fx.Exponential.from_score(score, PAIR, epsilon=1.0, sensitivity=1.0)
CHOICE = fx.Exponential(1.0, 1.0, candidates=PAIR)
LABELLED = {"frame": {RED: [1.0, 5.0, 9.0]}, "column": RED}
OBJECTS = {
    "product": lambda: fx.product(**{RED: PAIR, "b": np.array(PAIR)}),
    "Query": lambda: fx.Query(RED, PAIR, person=RED),
    "Query of a product": lambda: fx.Query([RED, "b"], fx.product(**{RED: PAIR, "b": PAIR})),
    "MostCommon": lambda: COMMON,
    "ScoredExponential": lambda: SCORED,
    "Exponential": lambda: CHOICE,
    "PermuteAndFlip": lambda: fx.PermuteAndFlip(1.0, 1.0, candidates=PAIR),
    "TopK": lambda: fx.TopK(1, epsilon=1.0, sensitivity=1.0, candidates=PAIR),
    "JointTopK": lambda: fx.JointTopK(1, epsilon=1.0, candidates=PAIR),
    "labels of one's own": lambda: fx.Exponential(1.0, 1.0, candidates=[Label(), Label()]),
    "FiniteLaw": lambda: CHOICE.law([1.0, 2.0]),
    "law of a score": lambda: SCORED.law(PAIR),
    "TopKLaw": lambda: fx.TopK(1, epsilon=1.0, sensitivity=1.0, candidates=PAIR).law([1.0, 2.0]),
    "JointTopKLaw": lambda: fx.JointTopK(1, epsilon=1.0, candidates=PAIR).law([1, 2]),
    "PrivacyLoss": lambda: CHOICE.law([1.0, 2.0]).privacy_loss(CHOICE.law([1.0, 1.0])),
    "Accuracy": lambda: COMMON.accuracy(PAIR),
    "Guarantee": lambda: replace(MEDIAN.guarantee, assumes=RED),
    "Guarantee of ten": lambda: privacy.advanced(
        replace(MEDIAN.guarantee, assumes=RED), 10, delta=1e-6
    ),
    "Budget": lambda: fx.Budget(epsilon=1.0),
    "Audit": lambda: fx.audit(lambda: RED, lambda: "b", draws=1000),
    "Comparison": lambda: fx.compare(
        [COMMON, fx.PermuteAndFlip(1.0, 1.0, candidates=PAIR)], [1, 2]
    ),
    "SufficientEpsilon": lambda: fx.epsilon_for(MEDIAN, like=LABELLED, error=3, probability=0.9),
    "Study": lambda: fx.Study(
        name="a", mechanisms=[MEDIAN], epsilon=[1.0], n=[10], data=[LABELLED], datasets=2
    ),
    "Session": lambda: fx.Session({RED: [1]}, budget=fx.Budget(epsilon=1.0), person=RED),
}


@each("name", OBJECTS)
def test_it_is_one_that_can_be_printed(name):
    thing = OBJECTS[name]()
    assert repr(thing).isprintable()
    assert all(line.isprintable() for line in str(thing).split("\n"))


def test_a_budget_of_a_file_with_such_a_name(tmp_path):
    budget = fx.Budget.file(tmp_path / RED.replace("/", ""), epsilon=1.0)
    assert repr(budget).isprintable()
