"""Mechanisms in words, and their parameters as plain values and as bytes for digests.

The parameters could be read back from the bytes. Equal numbers have equal bytes, however they are
written (1, 1.0, Decimal("1")). A float that is not exactly the decimal that it prints, such as 0.1,
has its own bytes, as mechanisms differ in how they read it.
"""

from __future__ import annotations

import math
import re
from dataclasses import fields, is_dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from types import BuiltinFunctionType, FunctionType
from typing import Any, Protocol, cast

import numpy as np

from ..errors import ParameterTypeError
from .digits import DigitGrid
from .grid import Grid
from .text import readable


class Described(Protocol):
    """A mechanism: a frozen dataclass of public parameters, and its promise."""

    @property
    def guarantee(self) -> Any:
        """The promise of one draw: a `fastexp.Guarantee`."""
        ...


HOME = __name__.partition(".")[0] + "."
NARROW = ("f2", "f4")  # some mechanisms read the digits of these types, others the value
MAX_LISTED = 10_000  # most points of a grid that are listed


def amount(promise: Any) -> str:
    """Return epsilon, or (epsilon, delta), as text by `at_most`."""
    epsilon, delta = at_most(promise.epsilon), at_most(promise.delta)
    return epsilon if promise.delta == 0 else f"({epsilon}, {delta})"


def at_most(number: float | None, digits: int = 6) -> str:
    """Return an amount with few digits, rounded up, so that no promise looks better than it is."""
    return readable(float(Context(digits, ROUND_CEILING).create_decimal(repr(number))))


def title(name: str, mechanism: Described) -> str:
    """Return a mechanism, under the name `name`, and its public parameters in a few words."""
    values, promise = _values(mechanism), mechanism.guarantee
    epsilon = amount(promise) if promise.delta else at_most(values["epsilon"])
    q = values.get("q")
    if isinstance(q, tuple):
        q = ", ".join(map(str, q)) if len(q) < 10 else f"({len(q)} of them)"
    neighbors, convention = values.get("neighbors"), values.get("convention", "weak")
    widen = values.get("widen", 0)
    parts = {
        f"{name}{'' if q is None else f' {q}'}, epsilon {epsilon}": True,
        "textbook's scaling": values.get("scaling") == "textbook",
        f"neighbors {neighbors}": neighbors is not None,
        f"{convention} convention": convention != "weak",
        f"widened by {widen}": widen != 0,
        "ties left": values.get("ties") == "left",
        "by permute-and-flip": values.get("mechanism") == "permute-and-flip",
        f"the first of {values.get('k')} places": name in ("top-k", "joint-top-k"),
    }
    return ", ".join(words for words, holds in parts.items() if holds)


def grid_text(mechanism: Described) -> str:
    """Return a public grid in a few words."""
    values = _values(mechanism)
    grid: Grid = values["grid"]
    last = grid.size - 1
    indices = range(grid.size) if last < 4 else (0, 1, last)
    points = [str(grid.value(t)).removesuffix(".0") for t in indices]
    if isinstance(grid, DigitGrid):
        return repr(grid)
    if grid.listing is None and values["step"] is None:
        power = f"2^{last.bit_length() - 1}" if last & (last - 1) == 0 else f"{last:,}"
        return f"from {points[0]} to {points[-1]} in {power} equal steps"
    if last >= 4:
        points[2:] = ["...", f"{points[2]} ({grid.size:,} points)"]
    return ", ".join(points)


def parameters(mechanism: Described) -> dict[str, Any]:
    """Return the public parameters of a mechanism as plain values."""
    values = _values(mechanism)
    grid = values.get("grid")
    facts: dict[str, Any] = {"mechanism": name_of(mechanism)}
    for name, value in values.items():
        if name not in ("grid", "any_epsilon", "count"):
            facts["selected_by" if name == "mechanism" else name] = plain(value)
    if isinstance(grid, Grid):
        facts["points"] = grid.size
        if isinstance(grid, DigitGrid):
            facts["grid"] = grid.table
        elif grid.listing is not None and grid.listing.size <= MAX_LISTED:
            facts["grid"] = grid.listing.tolist()
    return {**facts, "neighbors": mechanism.guarantee.neighbors}


def _values(mechanism: Described) -> dict[str, Any]:
    """Return the public parameters by name."""
    public = fields(cast("Any", mechanism))
    return {field.name: getattr(mechanism, field.name) for field in public if field.init}


def candidates_of(mechanism: Described) -> tuple[Any, ...] | None:
    """Return the candidates of a selection; None for numbers, or without candidates."""
    candidates: tuple[Any, ...] | None = _values(mechanism).get("candidates")
    return candidates


def name_of(mechanism: object) -> str:
    """Return the name of a mechanism, such as "most-common"."""
    return re.sub("(?<=.)([A-Z])", r"-\1", type(mechanism).__name__).lower()


def statistic_of(mechanism: Described) -> str:
    """Return the statistic that a mechanism estimates, such as "median" or "0.9-quantile"."""
    kind = name_of(mechanism).rpartition("-")[2]
    if kind == "quantile":
        return f"{_values(mechanism)['q']}-quantile"
    return "statistic" if kind == "laplace" else kind


def plain(value: object) -> Any:
    """Return a parameter as a plain value for JSON."""
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    if isinstance(value, Decimal):
        return float(value)
    return value if isinstance(value, (int, float, str, type(None))) else str(value)


def encoded_mechanism(mechanism: object) -> bytes:
    """Return the bytes of a mechanism's class and of the parameters that its law depends on."""
    if not is_dataclass(mechanism) or isinstance(mechanism, type):
        kind = type(mechanism).__name__
        raise ParameterTypeError(f"mechanism must be one of fastexp's, got {kind}")
    home = type(mechanism)
    encoding = encoded("", f"{home.__module__.partition('.')[0]}.{home.__qualname__}")
    public = [f.name for f in fields(mechanism) if f.init and f.compare and f.name[0] != "_"]
    # Bounds and step only define an evenly spaced grid, or limit listed points: the grid says all.
    grid = getattr(mechanism, "grid", None) if "grid" in public else None
    known = {"bounds", "step"} if isinstance(grid, Grid) else set()
    for name in public:
        if name not in known:
            encoding += encoded("", name) + encoded(name, getattr(mechanism, name))
    return encoding


def encoded(name: str, value: object) -> bytes:
    """Return a letter for the type, the payload's length, and the payload; `name`: in messages."""
    letter, payload = _parts(name, value)
    return letter + len(payload).to_bytes(8, "little") + payload


def _parts(name: str, value: Any) -> tuple[bytes, bytes]:
    dtype = value.dtype if isinstance(value, np.generic) else None
    if dtype is not None and dtype.str[1:] in NARROW:
        return b"e", f"{dtype}:{float(value).hex()}".encode()
    if dtype is not None and (dtype.kind in "biuSU" or dtype == np.float64):
        return _parts(name, value.item())
    kind: type = type(value)  # no subclasses: they may compare in any way
    if kind is tuple:
        return b"t", b"".join(encoded(name, item) for item in value)
    if kind in (Grid, DigitGrid):
        return b"g", encoded("grid", value.encoding)
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
        f"release has a key or a label; got an object of type {kind.__name__}"
    )


def _number(value: Any) -> tuple[bytes, bytes]:
    if not isinstance(value, (int, Fraction)) and not math.isfinite(value):
        return b"f", float(value).hex().encode()
    exact = Fraction(value)
    if isinstance(value, float) and Fraction(float.__repr__(value)) != exact:
        return b"f", value.hex().encode()
    return b"r", f"{exact.numerator:x}/{exact.denominator:x}".encode()
