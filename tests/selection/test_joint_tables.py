"""Is the law of joint top-k that of its authors' own test tables?

Numbers from google-research's tests of the algorithm (Apache 2.0), to the three digits there.
"""

from __future__ import annotations

import math

import pytest

import fastexp as fx
from tests.doors.privacy import places_rate
from tests.support.each import each

LOSSES, SEQUENCES = (0, 2, 4, 6), (1 + 3, 4 + 2, 15, 19)  # by whole losses
PRINTED = {
    "add-remove": (0.109 + 0.327, 0.160 + 0.0801, 0.221, 0.103),
    "replace": (0.0575 + 0.172, 0.139 + 0.0697, 0.317, 0.244),  # "swap" there
}


@pytest.mark.parametrize("neighbors", PRINTED)
def test_weights_of_losses(neighbors):
    rate = float(places_rate(1.0, 1.0, 2, neighbors))
    weights = [n * math.exp(-rate * v) for n, v in zip(SEQUENCES, LOSSES, strict=True)]
    shares = [weight / sum(weights) for weight in weights]
    assert shares == pytest.approx(PRINTED[neighbors], abs=1.1e-3)
    other = [n * math.exp(-1.05 * rate * v) for n, v in zip(SEQUENCES, LOSSES, strict=True)]
    moved = [weight / sum(other) for weight in other]
    assert moved != pytest.approx(PRINTED[neighbors], abs=1.1e-3)


@each(("neighbors", "rate"), [("add-remove", 0.5), ("replace", 0.25)])
@each(
    ("counts", "sequences"),
    [([6, 4, 4, 0], {0: 2, 2: 4, 4: 3, 6: 3}), ([10, 10, 5], {0: 2, 5: 4})],
)
def test_numbers_of_sequences(counts, sequences, neighbors, rate):
    law = fx.JointTopK(2, 1.0, neighbors=neighbors).law(counts)
    weights = {v: n * math.exp(-rate * v) for v, n in sequences.items()}
    total = sum(weights.values())
    for v in range(11):
        assert law.loss_pmf(v) == pytest.approx(weights.get(v, 0.0) / total, rel=1e-12)
