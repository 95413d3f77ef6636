"""What a user may bring to a study: a function of data, a mechanism, a figure."""

from __future__ import annotations

from typing import Any

import numpy as np


def gamma(rng: np.random.Generator, n: int, shape: float = 2.0) -> Any:
    """Data sets of the gamma distribution."""
    return rng.gamma(shape, size=n)


class Noisy:
    """A median with Laplace noise."""

    name = "noisy"

    def __init__(self, scale: float = 1.0) -> None:
        self.scale = scale

    def truth(self, data: Any) -> float:
        """The median."""
        return float(np.median(data))

    def sample(self, data: Any, epsilon: float, size: int, rng: np.random.Generator) -> Any:
        """Answers."""
        return np.median(data) + rng.laplace(0, self.scale / epsilon, size)


def far(answers: Any, truth: float) -> Any:
    """Whether answers are off by more than one."""
    return np.abs(answers - truth) > 1


class Wide(Noisy):
    """It cannot be made without arguments."""

    def __init__(self, scale: float) -> None:
        self.scale = scale
