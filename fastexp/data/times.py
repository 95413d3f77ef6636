"""Grids of dates, timestamps and durations: integers of a unit from 1970 or 0, shown as times.

Laws and draws take them as the integers that they are. Dates are days; timestamps and durations are
seconds, or milliseconds, microseconds or nanoseconds if bounds or step need them.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction
from math import gcd, nan
from typing import Any

import numpy as np

from ..errors import ParameterError, ParameterTypeError
from ..parameters import kinds
from ..types import Array, Missing
from .grid import Grid, make_grid
from .keys import DAY, UNITS, ZONED, Labels, read_column
from .records import read_records
from .segments import Segments, shape


@dataclass(frozen=True)
class Times(Grid):
    """Points that are times of a kind: numbers of a unit, by its name in NumPy."""

    kind: str
    unit: str

    def shown(self, t: Any) -> Any:
        """Return a point as Python's object, or NumPy's if it is too fine; points as NumPy's.

        Those with a time zone are always Python's, as NumPy has no zones.
        """
        if np.ndim(t) and self.kind != ZONED:
            letter = "m" if self.kind == "durations" else "M"
            return self.values(t).astype(f"{letter}8[{self.unit}]")
        times = np.array(self.labels(t).objects(), object).reshape(np.shape(t))
        return times if times.ndim else times.item()

    def labels(self, t: Any) -> Labels:
        """Return points as a column of a frame shows them."""
        unit, zone = UNITS[self.unit], "UTC" if self.kind == ZONED else ""
        keys = [number * unit for number in np.ravel(self.values(t)).tolist()]
        return Labels(self.kind, unit, zone, keys)

    def records(self, data: Any, nan: Missing = "raise") -> Segments:
        """Return records that are times, of shape (n,), or (rows, n) for rows, as numbers."""
        return read_records(self.numbers(data, "records"), nan)

    def numbers(self, times: Any, argument: str = "x") -> Array:
        """Return times as numbers of the unit, in their shape; NaN where one is missing.

        Quarters of the unit tell whether a time of a finer one lies before, in or beyond the middle
        of two points, or a point.
        """
        called, form = f"{argument} for bounds that are {self.kind}", shape(times)
        if len(form) != 1:
            with suppress(Exception):  # of a foreign object, which is refused below
                array = times if hasattr(times, "reshape") else kinds.array_of(times)
                times = array.reshape(-1)
        times = kinds.typed(times)
        if kinds.is_arrow(times):
            from .arrow import read_keys

            times = read_keys(called, times)
        kind, values, unit, missing, keys, _ = read_column(called, times)
        at: Any = slice(None)
        if keys is not None:
            missing = np.array([key is None for key in keys], bool)
            at, values, unit = values, np.array([key or 0 for key in keys], object), 1
        elif kind == "timestamps" and self.kind == "dates" and unit % DAY == 0:
            kind = "dates"
        if kind not in ("", self.kind):
            is_finer = (kind, self.kind) == ("timestamps", "dates")
            hint = "; or give datetimes as bounds and step=timedelta(days=1)" if is_finer else ""
            raise ParameterTypeError(f"{called} must be {self.kind}, got {kind}{hint}")
        up, down = Fraction(2 * unit, UNITS[self.unit]).as_integer_ratio()
        if up * down >> 63:  # rare, but of lists
            values = values.astype(object)
        part = values % down * up
        halves = (values // down).astype(np.float64) * float(up) + part // down
        quarters = (2 * halves + (part % down > 0)).astype(np.float64)
        numbers: Array = np.where(missing, nan, quarters / 4)[at]
        return numbers.reshape(form if len(form) != 1 else -1)


def make_times(bounds: Any, step: Any) -> Times:
    """Return the grid from the lower to the upper bound by a step; of dates, by default, a day.

    Raises
    ------
    ParameterError, ParameterTypeError
        If they are not of one kind, do not fit together, or have too many points.
    """
    ends = read_column("bounds", list(bounds))
    is_days = ends.kind == "dates"
    step = timedelta(1) if is_days and step is None else step
    width = read_column("step", [step])
    times = [(column.keys or [])[i] for column in (ends, width) for i in column.values]
    names = ["D"] if is_days else ["s", "ms", "us", "ns"]
    known = [name for name in names if None not in times and gcd(*times) % UNITS[name] == 0]
    if width.kind != "durations" or len(times) != 3 or not known or times[0] >= times[1]:
        raise ParameterError(
            "bounds must be two times, the lower one first, and step a duration, as "
            f"timedelta(hours=1), all of them whole {'days' if is_days else 'nanoseconds'}, got "
            f"step {step}, bounds {[*map(str, bounds)]}"
        )
    first, last, apart = (time // UNITS[known[0]] for time in times)
    # Half as far as a grid of numbers may reach, for quarters.
    half = make_grid(bounds, step, None, (2 * first, 2 * last, 2 * apart))
    return Times(half.size, True, first, apart, 1, ends.kind, known[0])
