"""Some columns of a Parquet file, some rows after the other, by polars or by pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .._typing import AnyArray
from .errors import UserMistake
from .files import opened, place
from .output import needed, optional

ROWS = 1 << 17  # of a batch
SLICE = 1 << 18  # rows that polars reads at once: few, as it holds them all
INTEGERS, FLOATS, DECIMALS, TEXTS, BOOLEANS = "integers", "floats", "decimals", "text", "booleans"
OTHER = "values of another kind"
LABELS = {INTEGERS: "numbers", FLOATS: "numbers", BOOLEANS: BOOLEANS}  # as candidates; else text


class Parquet:
    """One file, as far as its columns are asked for.

    Parameters
    ----------
    file : str
        A path.
    names : list of str
        Columns; they must be there.

    Attributes
    ----------
    kinds : list of str
        What each column holds.

    Raises
    ------
    UserMistake
        If the file cannot be read or has no such columns.
    Failure
        If neither polars nor pyarrow is installed.
    """

    def __init__(self, file: str, names: list[str]) -> None:
        self._file, self._polars = file, optional("polars")
        install = "polars (or pyarrow); or convert the file to CSV"
        self._arrow = self._polars or needed("pyarrow.parquet", "reading Parquet", install)
        with opened(file):  # says what the system refuses
            pass
        schema = self._tried(self._schema)
        header = list(schema)
        self._names = [header[place(file, header, name)] for name in names]
        self.kinds = [schema[name] for name in self._names]

    def batches(self) -> Iterator[list[Any]]:
        """The columns of some rows, as series or Arrow arrays."""
        parts = self._of_polars() if self._polars else self._of_arrow()
        while (part := self._tried(lambda: next(parts, None))) is not None:
            yield part

    def _schema(self) -> dict[str, str]:
        if self._polars:
            found = self._polars.read_parquet_schema(self._file)
            return {name: _kind_of_polars(dtype) for name, dtype in found.items()}
        schema = self._arrow.read_schema(self._file)
        return {field.name: _kind_of_arrow(field.type) for field in schema}

    def _of_polars(self) -> Iterator[list[Any]]:
        pl = self._polars
        frame = pl.scan_parquet(self._file, glob=False)
        rows = int(frame.select(pl.len()).collect().item())
        frame = frame.select(self._names)
        for first in range(0, rows, SLICE):
            some = frame.slice(first, SLICE).collect()
            for part in some.iter_slices(ROWS):
                yield [part[name] for name in self._names]

    def _of_arrow(self) -> Iterator[list[Any]]:
        how = {"batch_size": ROWS, "columns": self._names, "use_threads": False}
        with self._arrow.ParquetFile(self._file) as opened_file:
            for part in opened_file.iter_batches(**how):
                yield [part.column(name) for name in self._names]

    def _tried(self, read: Any) -> Any:
        done, found = False, None
        try:
            found, done = read(), True
        except MemoryError:
            raise
        except Exception:  # their messages may hold data
            found = None
        if done:
            return found
        raise UserMistake(f"{self._file!r} cannot be read as Parquet")


def _kind_of_polars(dtype: Any) -> str:
    name = str(dtype.base_type())
    if name in ("String", "Categorical", "Enum"):
        return TEXTS
    if dtype.is_integer() and "128" not in name:
        return INTEGERS
    if dtype.is_decimal() or name == "Null":
        return DECIMALS
    return {"Float32": FLOATS, "Float64": FLOATS, "Boolean": BOOLEANS}.get(name, OTHER)


def _kind_of_arrow(kind: Any) -> str:
    name = str(kind)
    if name.startswith("dictionary<values=") and "string" in name:
        return TEXTS
    if name in ("string", "large_string", "string_view"):
        return TEXTS
    if name.startswith(("int", "uint")):
        return INTEGERS
    if name.startswith("decimal") or name == "null":
        return DECIMALS
    return {"float": FLOATS, "double": FLOATS, "bool": BOOLEANS}.get(name, OTHER)


def doubles(column: Any) -> AnyArray:
    """Decimals as the nearest doubles, NaN for null."""
    return np.array([np.nan if x is None else float(x) for x in as_list(column)], np.float64)


def as_list(column: Any) -> list[Any]:
    """A column as Python objects."""
    found: list[Any] = column.to_list() if hasattr(column, "to_list") else column.to_pylist()
    return found
