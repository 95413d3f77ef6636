"""Array and randomness types of the public interface (names as in SPEC 7)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
WordArray: TypeAlias = npt.NDArray[np.uint64]
AnyArray: TypeAlias = npt.NDArray[Any]
ArrayLike: TypeAlias = npt.ArrayLike


class SupportsArray(Protocol):
    """An object that NumPy converts to an array by itself: an array, series or column."""

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
Missing: TypeAlias = Literal["raise", "drop", "lower", "upper"]
Method: TypeAlias = Literal["envelope", "gumbel"]
Convention: TypeAlias = Literal["weak", "lower", "upper", "strict"]
Ties: TypeAlias = Literal["spread", "left"]
NumberArray: TypeAlias = IntArray | FloatArray

if TYPE_CHECKING:
    from typing_extensions import TypeVar as WithDefault  # in typing from Python 3.13 on

    Label = WithDefault("Label", default=Any)  # the type of candidates
else:
    Label = TypeVar("Label")
Argument = TypeVar("Argument")
Attribute = TypeVar("Attribute")


class Converted(Generic[Argument, Attribute]):
    """The annotation of a field whose argument and attribute have different types.

    For type checkers only: they read it as a descriptor. No field holds an instance.
    """

    def __get__(self, instance: object, owner: object = None) -> Attribute:
        raise NotImplementedError

    def __set__(self, instance: object, value: Argument) -> None:
        raise NotImplementedError


ABSENT: Any = None  # the default of a field that is `Converted`
Candidates: TypeAlias = Converted[Iterable[Any] | None, tuple[Any, ...] | None]
