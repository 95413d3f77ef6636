"""Names of types that public signatures use."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
Integers: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]
Words: TypeAlias = npt.NDArray[np.uint64]
Number: TypeAlias = int | float | Fraction | Decimal
Step: TypeAlias = Number | timedelta | np.timedelta64
Neighbors: TypeAlias = Literal["add-remove", "replace"]
Missing: TypeAlias = Literal["raise", "drop", "lower", "upper"]
Relation: TypeAlias = Literal["add-remove", "replace", "both"]
Convention: TypeAlias = Literal["weak", "lower", "upper"]
