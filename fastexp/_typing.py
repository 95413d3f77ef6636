"""Array and randomness types of the public interface (names as in SPEC 7)."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
WordArray: TypeAlias = npt.NDArray[np.uint64]
AnyArray: TypeAlias = npt.NDArray[Any]
ArrayLike: TypeAlias = npt.ArrayLike


class SupportsArray(Protocol):
    """Whatever NumPy makes an array of by itself: arrays, series, columns."""

    def __array__(self) -> AnyArray: ...


Scalar: TypeAlias = float | np.floating[Any] | np.integer[Any]
Values: TypeAlias = Sequence[Any] | SupportsArray  # several numbers: not a `Scalar`

Number: TypeAlias = int | float | Fraction | Decimal | np.floating[Any] | np.integer[Any]
SeedLike: TypeAlias = int | np.integer[Any] | Sequence[int] | np.random.SeedSequence
RNGLike: TypeAlias = np.random.Generator | np.random.BitGenerator
Neighbors: TypeAlias = Literal["add-remove", "replace"]
Relation: TypeAlias = Literal["add-remove", "replace", "both"]
Membership: TypeAlias = Literal["private", "public"]
NaN: TypeAlias = Literal["raise", "lowest"]
