"""Medians with noise, of one data set or of many rows: sorted records, and draws.

Comparators for simulations: centre, scale and noise are floats.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._intake import arrays
from .._intake.record_sources import RecordSource, Sorted
from .._randomness.streams import seeds_of, some_seeds
from .._threads import in_parts
from .._typing import AnyArray, FloatArray
from ..errors import InvalidRecords
from ..kernels.numbers import noise as kernels

MAX_COPIED_RECORDS = 1 << 12  # larger data sets are not copied
KINDS = {
    "laplace": kernels.LAPLACE,
    "cauchy": kernels.CAUCHY,
    "pareto-tail": kernels.PARETO,
    "student-t": kernels.STUDENT,
    "arsinh-normal": kernels.ARSINH,
    "laplace-lognormal": kernels.LAPLACE_LOGNORMAL,
    "uniform-lognormal": kernels.UNIFORM_LOGNORMAL,
}
EMPTY = "records must not be empty"
PART = 1 << 20  # records sorted at a time
Pairs = tuple[FloatArray, FloatArray]


def small(source: RecordSource) -> FloatArray | None:
    """Return a small sorted data set as a matrix of one row; None if it is large or unsorted."""
    if source.total() == 0:
        raise InvalidRecords(EMPTY)
    if not isinstance(source, Sorted) or source.values.size > MAX_COPIED_RECORDS:
        return None
    return np.ascontiguousarray(source.values, np.float64).reshape(1, -1)


def median_of(source: RecordSource, lower: float, upper: float, midpoint: bool = False) -> float:
    """Return the median, as in `medians`, of one data set of any form."""
    n = source.total()
    middle = source.ranked((n - 1) // 2, n // 2).astype(np.float64)
    return float(medians(middle[None], lower, upper, midpoint)[0])


def over_rows(
    records: AnyArray,
    nan: str,
    assume_sorted: bool,
    threads: int,
    figures: Callable[[FloatArray], Pairs],
) -> Pairs:
    """Return `figures`(sorted rows), two numbers a row; parts are sorted that fit the cache."""
    rows, n = records.shape
    if n == 0 and rows > 0:
        raise InvalidRecords(EMPTY)
    first, second = np.empty(rows), np.empty(rows)
    count = max(1, PART // max(n, 1))

    def part(begin: int, end: int) -> int:
        for low in range(begin, end, count):
            high = min(low + count, end)
            values = records[low:high].astype(np.float64, copy=False)
            if nan in ("lower", "upper"):
                values = np.where(np.isnan(values), np.inf if nan == "upper" else -np.inf, values)
            if not assume_sorted or nan in ("lower", "upper"):
                values = np.sort(values, axis=1)
            if bool(np.isnan(values[:, [0, -1]]).any()):
                raise InvalidRecords(arrays.MISSING)
            first[low:high], second[low:high] = figures(np.ascontiguousarray(values))
        return 0

    in_parts(part, rows, threads)
    return first, second


def medians(ordered: FloatArray, lower: float, upper: float, midpoint: bool = False) -> FloatArray:
    """Return the lower median of each sorted row, clamped, or the mean of lower and upper one."""
    n = ordered.shape[1]
    low = np.clip(ordered[:, (n - 1) // 2], lower, upper)
    if not midpoint:
        return low
    return np.asarray(low + 0.5 * (np.clip(ordered[:, n // 2], lower, upper) - low))


def simulate(
    noise: tuple[str, float],
    centres: FloatArray,
    scales: FloatArray,
    bounds: tuple[float, float],
    rng: object,
    names: AnyArray,
    size: int | None,
    threads: int,
) -> FloatArray:
    """Return centre + scale * noise, clamped, for a kind and sigma: (rows,) or (rows, size)."""
    rows, draws = centres.size, 1 if size is None else size
    seeds, kind = seeds_of(rng, names), KINDS[noise[0]]
    (lower, upper), sigma = bounds, noise[1]
    out = np.empty((rows, draws))

    def run(r: slice, first: int, into: FloatArray) -> int:
        names, work = some_seeds(seeds, r.start, r.stop), np.empty(kernels.WORK)
        kernels.noise_rows(
            kind, sigma, lower, upper, centres[r], scales[r], names, first, into, work
        )
        return 0

    def some_blocks(first: int, last: int) -> int:
        part = slice(first * kernels.BLOCK, last * kernels.BLOCK)
        for r in range(rows):
            run(slice(r, r + 1), first, out[r, part])
        return 0

    blocks = -(-draws // kernels.BLOCK)
    if draws and rows >= min(threads, blocks):
        in_parts(lambda i, j: run(slice(i, j), 0, out[i:j].reshape(-1)), rows, threads)
    elif draws:
        in_parts(some_blocks, blocks, threads)
    return out[:, 0] if size is None else out
