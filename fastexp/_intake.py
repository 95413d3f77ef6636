"""Records as they come: every form of them, and of missing ones, to plain arrays.

A record is a number. What is returned is one-dimensional, contiguous, native float64 or int64;
uint64 beyond int64 count as its largest. Messages say what form is required, nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from . import _validate
from ._typing import AnyArray
from .errors import InvalidRecords, ParameterError, ParameterTypeError

NUMBERS = (
    "records must be a one-dimensional array of integers or floats (float64 at most), a path to "
    "a .npy file, a callable that yields arrays, or a tuple (values, counts)"
)
MISSING = "records must not be missing or NaN (see the argument nan)"
POLICIES = ("raise", "drop", "lower", "upper")
CHUNK = 1 << 16  # records looked at at once: scratch stays in the L2 cache
LOWEST, HIGHEST = -(1 << 63), (1 << 63) - 1


def policy(nan: Any) -> str:
    """What to do with missing records."""
    return _validate.choice("nan", nan, POLICIES)


def from_file(path: Any) -> AnyArray:
    """A .npy file, mapped into memory."""
    try:
        found = np.load(Path(path), mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError):
        found = None
    if not isinstance(found, np.ndarray):
        raise ParameterError("records: the path cannot be read as a .npy file of numbers")
    return found.view(np.ndarray)


def numbers(values: Any, nan: str) -> AnyArray:
    """One array of records; NaN of floats is left to the caller where nan is "raise"."""
    plain, missing = apart(values, nan)
    return plain if missing is None or not missing.any() else _without_gaps(plain, missing, nan)


def apart(values: Any, nan: str) -> tuple[AnyArray, AnyArray | None]:
    """One array of records, and which of them are missing, as far as it is known."""
    if hasattr(values, "__next__"):
        raise ParameterTypeError(
            "records must not be an iterator, which can be read only once: pass an array, or a "
            "callable that returns a fresh one"
        )
    found, missing = _with_gaps(values)
    if found is None or found.ndim != 1:
        raise ParameterTypeError(NUMBERS)
    if found.size == 0 and found.dtype.kind in "iufO":
        return np.zeros(0), None
    if found.dtype.kind not in "iuf" or found.dtype.itemsize > 8:
        raise ParameterTypeError(NUMBERS)
    plain = canonical(found)
    if nan != "raise" and plain.dtype.kind == "f":
        nans = np.isnan(plain)
        missing = nans if missing is None else missing | nans
    return plain, missing


def weighted_numbers(data: tuple[Any, Any], nan: str) -> tuple[AnyArray, AnyArray]:
    """(values, counts) without missing ones."""
    plain, missing = apart(data[0], nan)
    number = counts(data[1], plain.size)
    if missing is None or not missing.any():
        return plain, number
    if nan == "drop":
        return plain[~missing], number[~missing]
    return _without_gaps(plain, missing, nan), number


def canonical(found: AnyArray) -> AnyArray:
    """The same numbers as contiguous float64 or int64."""
    if found.dtype.kind == "f":
        return np.ascontiguousarray(found, dtype=np.float64)
    if found.dtype == np.uint64:
        return np.minimum(found, np.uint64(HIGHEST)).astype(np.int64)
    return np.ascontiguousarray(found, dtype=np.int64)


def _without_gaps(values: AnyArray, missing: AnyArray, nan: str) -> AnyArray:
    if nan == "raise":
        raise InvalidRecords(MISSING)
    return values[~missing] if nan == "drop" else filled(values, missing, nan)


def filled(values: AnyArray, missing: AnyArray, nan: str) -> AnyArray:
    """Records with the missing ones at the lower or upper bound, whatever that is."""
    ends = (-np.inf, np.inf) if values.dtype.kind == "f" else (LOWEST, HIGHEST)
    return np.where(missing, ends[nan == "upper"], values).astype(values.dtype, copy=False)


def _with_gaps(values: Any) -> tuple[AnyArray | None, AnyArray | None]:
    """(array, which are missing); None for no array, or for no known gaps."""
    if type(values) is np.ndarray:
        return values, None
    try:
        return _opened(values)
    except (ParameterError, ParameterTypeError, InvalidRecords, OSError):
        raise
    except Exception:  # of a foreign object; its message may hold data
        return None, None


def _opened(values: Any) -> tuple[AnyArray | None, AnyArray | None]:
    if isinstance(values, np.ma.MaskedArray):
        mask = np.ma.getmaskarray(values)
        return np.asarray(np.ma.filled(values, 0)), mask
    if isinstance(values, np.ndarray):
        return values.view(np.ndarray), None
    if hasattr(values, "null_count"):  # Polars, Arrow
        return _of_columns(values)
    if hasattr(values, "isna") and hasattr(values, "to_numpy"):  # pandas
        missing = np.asarray(values.isna(), dtype=bool)
        if missing.any() and getattr(values.dtype, "kind", "O") in "iu":
            return values.to_numpy(dtype=np.int64, na_value=0), missing
        if missing.any() and getattr(values.dtype, "kind", "O") == "f":
            return values.to_numpy(dtype=np.float64, na_value=np.nan), missing
        return values.to_numpy(), missing if missing.any() else None
    if isinstance(values, (list, tuple)) and any(item is None for item in values):
        missing = np.array([item is None for item in values])
        kept = [item for item in values if item is not None]
        shown = _validate.exact_array(kept)
        if shown is None or shown.ndim != 1:
            return None, None
        filled = np.zeros(len(values), shown.dtype if kept else np.float64)
        filled[~missing] = shown
        return filled, missing
    return _validate.exact_array(values), None


def _of_columns(values: Any) -> tuple[AnyArray | None, AnyArray | None]:
    if str(getattr(values, "dtype", getattr(values, "type", ""))).lower().startswith("bool"):
        return None, None
    nulls = values.null_count
    if not (nulls() if callable(nulls) else nulls):
        return np.asarray(values.to_numpy()), None
    missing = np.asarray(values.is_null().to_numpy(**_copying(values)), dtype=bool)
    return np.asarray(values.fill_null(0).to_numpy(**_copying(values))), missing


def _copying(values: Any) -> dict[str, Any]:
    """Arrow arrays must be allowed to copy; chunked ones and Polars series always may."""
    return {"zero_copy_only": False} if type(values).__module__.startswith("pyarrow") else {}


def weighted(data: Any) -> bool:
    """Whether the data is a tuple (values, counts) of two sequences."""
    if type(data) is not tuple or len(data) != 2:
        return False
    return all(hasattr(part, "__len__") and not isinstance(part, (str, bytes)) for part in data)


def counts(values: Any, length: int) -> AnyArray:
    """How often each value occurs: integers >= 0, as many as values."""
    found = _validate.exact_array(values)
    if found is not None and found.shape == (0,) and length == 0:
        return np.zeros(0, np.int64)
    if found is None or found.ndim != 1 or found.dtype.kind not in "iu" or found.size != length:
        raise ParameterTypeError("counts must be integers, one for each of the values")
    wide = found.astype(np.float64)
    if bool((wide < 0).any() or wide.sum() >= 2.0**53):
        raise InvalidRecords("counts must be >= 0 with a sum that 53 bits hold")
    return found.astype(np.int64)


def arrays(parts: Any, nan: str) -> Iterator[AnyArray]:
    """The arrays that a callable yields, each as `numbers` has it, all of one type."""
    kind = None
    for part in _produced(parts):
        found = numbers(part, nan)
        if found.size == 0:
            continue
        if kind not in (None, found.dtype.kind):
            raise ParameterTypeError("records: all arrays must hold integers, or all floats")
        kind = found.dtype.kind
        yield found


def _produced(parts: Any) -> Iterator[Any]:
    """What a callable yields; its own errors may hold data, and are withheld."""
    failed = False
    try:
        produced = parts()
        yield from [produced] if isinstance(produced, np.ndarray) else produced
    except (ParameterError, ParameterTypeError, InvalidRecords, OSError):
        raise
    except Exception:
        failed = True
    if failed:  # outside the handler: the error is no context of ours
        raise InvalidRecords("records: the callable failed or yields no arrays")
