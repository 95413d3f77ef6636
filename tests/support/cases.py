"""Hard inputs of the finite sampler, with few candidates so that exact laws are cheap."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

import fastexp as fx
from tests.twins import selection


@dataclass(frozen=True)
class Case:
    """A mechanism and a vector of utilities."""

    name: str
    mechanism: fx.Exponential
    utilities: np.ndarray

    def exact(self) -> list[Fraction]:
        """The law, from the reference."""
        values = [Fraction(u) for u in self.utilities.tolist()]
        base = self.mechanism.base or (1.0,) * len(values)
        weighting = self.mechanism._weighting
        # the bases span up to 2000 bits, and gaps of that size make up for them
        precision = 3000 if self.mechanism.base else 200
        exact = [Fraction(b) for b in base]
        return selection.probabilities(weighting.rate, values, exact, precision)

    def probabilities(self) -> np.ndarray:
        """The law in float64."""
        return np.array([float(p) for p in self.exact()])


def _mechanism(epsilon: float = 1.0, sensitivity: float = 1.0, **more: object) -> fx.Exponential:
    return fx.Exponential(epsilon, sensitivity, any_epsilon=True, **more)


BIG = 1.7e308
CASES = [
    Case("spread", _mechanism(), np.array([10.0, 8.0, 5.0, 5.0, 1.0])),
    Case("one", _mechanism(), np.array([3.0])),
    Case("two equal", _mechanism(), np.zeros(2)),
    Case("peaked", _mechanism(), np.array([0.0, -40.0, -60.0, 1e6, 1e6 - 70])),
    Case("leads by 1e6", _mechanism(2.0), np.array([0.0, 1e6, 0.0])),
    Case("overflowing range", _mechanism(), np.array([-BIG, BIG, BIG, 0.0])),
    Case("tiny rate", _mechanism(2e-130, 1e130), np.array([-1e260, 1e260, 3e259, 0.0])),
    Case("huge rate", _mechanism(1e200, 1e-50), np.array([1e-250, 2e-250, 0.0])),
    Case("subnormal utilities", _mechanism(), np.array([5e-324, 0.0, 1e-310, -1e-315])),
    Case("negative zero", _mechanism(), np.array([-0.0, 0.0, -1.0])),
    Case("ints", _mechanism(0.7, 3.0), np.array([5, -3, 9, 0], dtype=np.int64)),
    Case("ints above 2**53", _mechanism(), np.array([0, 1, 2], dtype=np.int64) + 2**53),
    Case("widest ints", _mechanism(1e-18), np.array([-(2**63), 2**63 - 1, 0], dtype=np.int64)),
    Case("unsigned", _mechanism(), np.array([2**64 - 1, 2**64 - 3, 2**63], dtype=np.uint64)),
    Case("monotonic", _mechanism(monotonic=True), np.array([1.0, 2.0, 3.5])),
    Case("base", _mechanism(base=[0, 1, 2, 0.5, 3]), np.array([10.0, 8.0, 5.0, 5.0, 1.0])),
    Case("base 0 on the best", _mechanism(base=[0, 3, 1]), np.array([1e300, 1.0, 2.0])),
    Case("wide base", _mechanism(base=[1e-300, 1e300, 1]), np.array([1380.0, -1383.0, 0.0])),
    Case("subnormal base", _mechanism(base=[5e-324, 1e-323]), np.array([1.0, 0.0])),
    Case("base, ints", _mechanism(base=[1, 0, 5]), np.array([4, 900, 2], dtype=np.int64)),
]
# More than two groups of 32 candidates; groups that start with a base of 0.
GROUPS = (np.arange(100) % 32 > 1).astype(float)
CASES += [
    Case("a hundred", _mechanism(), np.sin(np.arange(100.0))),
    Case("a hundred, base", _mechanism(base=GROUPS), 3 * np.cos(np.arange(100.0))),
]
IDS = [case.name for case in CASES]
