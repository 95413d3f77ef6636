"""What all laws have in common: when two are equal, and the form of arguments and answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from .._parameters import validate
from .._typing import AnyArray, ArrayLike, FloatArray
from ..errors import ParameterError


class Law(ABC):
    """The exact distribution of a mechanism's output on one data set.

    Laws are equal if they are of one type and epsilon and give the same weight to the same
    outputs: as those of equal mechanisms on equal data, in whatever form and order it came.
    They have no hash: it would be a fingerprint of private data.
    """

    @abstractmethod
    def _identity(self) -> tuple[Any, ...]:
        """Everything that this law is determined by: numbers, arrays, public parameters."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Law):
            return NotImplemented
        if type(self) is not type(other):
            return False
        return all(map(_equal, self._identity(), other._identity()))


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return np.array_equal(a, b)
    return type(a) is type(b) and bool(a == b)


def probability_levels(p: ArrayLike) -> FloatArray:
    """Numbers in [0, 1], of any shape."""
    levels = validate.reals("p", p)
    if not bool(((levels >= 0) & (levels <= 1)).all()):
        raise ParameterError("p must be in [0, 1]")
    return levels


def finite(name: str, numbers: AnyArray) -> AnyArray:
    """The same numbers, none of which is infinite."""
    if not bool(np.isfinite(numbers).all()):
        raise ParameterError(f"{name} must be finite")
    return numbers


def shaped_as(argument: Any, values: Any) -> Any:
    """A row of values in the shape of an argument: a Python number for a number."""
    return values[0].item() if argument.ndim == 0 else values.reshape(argument.shape)
