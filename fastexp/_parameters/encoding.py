"""Public parameters as bytes from which they can be read again, for digests of questions.

Equal numbers have equal bytes, however they are written (1, 1.0, Decimal("1")); a float that
is not the decimal that prints, as 0.1, has bytes of its own, as mechanisms differ in how they
read it.
"""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass
from decimal import Decimal
from fractions import Fraction
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from ..errors import ParameterTypeError
from .grid import Grid

HOME = __name__.partition(".")[0] + "."
NARROW = ("f2", "f4")  # some mechanisms read their digits, some their value


def encoded_mechanism(mechanism: object) -> bytes:
    """A mechanism's class and the parameters that its law depends on."""
    if not is_dataclass(mechanism) or isinstance(mechanism, type):
        kind = type(mechanism).__name__
        raise ParameterTypeError(f"mechanism must be one of fastexp's, got {kind}")
    home = type(mechanism)
    encoding = encoded("", f"{home.__module__.partition('.')[0]}.{home.__qualname__}")
    public = [f.name for f in fields(mechanism) if f.init and f.compare and f.name[0] != "_"]
    # Bounds and step are other words for an evenly spaced grid, and limits of a given one.
    grid = getattr(mechanism, "grid", None) if "grid" in public else None
    known = {"bounds", "step"} if isinstance(grid, Grid) else set()
    for name in public:
        if name not in known:
            encoding += encoded("", name) + encoded(name, getattr(mechanism, name))
    return encoding


def encoded(name: str, value: object) -> bytes:
    """A letter for the type, the payload's length, the payload; `name` is for messages."""
    letter, payload = _parts(name, value)
    return letter + len(payload).to_bytes(8, "little") + payload


def _parts(name: str, value: Any) -> tuple[bytes, bytes]:
    dtype = _scalar_type(value)
    if dtype is not None and dtype.str[1:] in NARROW:
        return b"e", f"{dtype}:{float(value).hex()}".encode()
    if dtype is not None and (dtype.kind in "biuSU" or dtype == np.float64):
        return _parts(name, value.item())
    kind: type = type(value)  # not what is derived from it: that may compare as it likes
    if kind is tuple:
        return b"t", b"".join(encoded(name, item) for item in value)
    if kind is Grid:
        return b"g", _grid(value)
    if kind is str:
        return b"s", value.encode("utf-8", "surrogatepass")
    if kind is bytes:
        return b"b", value
    if value is None or kind is bool:
        return b"c", str(value).encode()
    if kind in (int, float, Fraction, Decimal):
        return _number(value)
    if kind in (FunctionType, BuiltinFunctionType) and "<" not in value.__qualname__:
        return b"n", f"{value.__module__}:{value.__qualname__}".encode()
    if is_dataclass(kind) and kind.__module__.startswith(HOME):
        return b"m", encoded_mechanism(value)
    raise ParameterTypeError(
        f"{name} must hold text, bytes, numbers, tuples of these or functions of a module where a "
        f"release has a key or a label, got an object of type {kind.__name__}"
    )


def _scalar_type(value: object) -> np.dtype[Any] | None:
    """The type of a scalar of NumPy; None of anything else."""
    return value.dtype if isinstance(value, np.generic) else None


def _number(value: Any) -> tuple[bytes, bytes]:
    if not isinstance(value, (int, Fraction)) and not math.isfinite(value):
        return b"f", float(value).hex().encode()
    exact = Fraction(value)
    if isinstance(value, float) and Fraction(float.__repr__(value)) != exact:
        return b"f", value.hex().encode()
    return b"r", f"{exact.numerator:x}/{exact.denominator:x}".encode()


def _grid(grid: Grid) -> bytes:
    points = b"" if grid.points is None else grid.points.tobytes()  # int64 where it is whole
    return encoded("grid", (grid.size, grid.whole, grid.unit, points))
