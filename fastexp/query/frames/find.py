"""Which engine a frame is of, by its type alone: no engine is imported to find out."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from ..._arrow.arrow import is_arrow
from ..._parameters.foreign import attribute, readable
from ...errors import ParameterTypeError
from ..disk.memory import Room
from ..engines.frame import Frame
from ..files.paths import is_path

FRAMES = (
    "frame must be a frame of Polars, pandas, PyArrow, DuckDB (a relation), Spark, Dask or of "
    "another library that narwhals knows, an Arrow stream of columns, a dict of columns, a path or "
    "a list of paths, got {}"
)
CONNECTION = "{}, a connection: give one of its relations, such as connection.table(name)"
SERIES = "{}, which has no named columns: give the frame, or a dict of columns"
LAZY = "modin", "cudf"  # only narwhals knows their frames, and they need not import it


ENGINES = (  # module of the types, if its user has imported it; types; file and class of adapters
    ("polars", ("DataFrame", "LazyFrame"), "polars", "PolarsFrame"),
    ("pandas", ("DataFrame",), "pandas", "PandasFrame"),
    ("pyarrow", ("Table", "RecordBatch", "RecordBatchReader"), "arrow", "ArrowFrame"),
    ("pyarrow.dataset", ("Dataset", "Scanner"), "arrow", "ArrowFrame"),
    ("duckdb", ("DuckDBPyRelation",), "duckdb", "DuckDBFrame"),
    ("pyspark.sql", ("DataFrame",), "spark", "SparkFrame"),
    ("dask.dataframe", ("DataFrame",), "dask", "DaskFrame"),
)


def frame_of(frame: Any, room: Room | None = None, threads: int = 1) -> Frame:
    """Return the adapter of a frame of any kind.

    It may be a frame of Polars (eager or lazy), pandas, PyArrow (also a batch, a stream or a
    dataset), Spark or Dask; a relation of DuckDB; one of these wrapped by narwhals, or another
    eager frame that narwhals knows; any object that exports columns as Arrow data; a dict of
    columns; or a path or a list of paths. `room` is for paths and relations, `threads` for paths.
    """
    readable(frame, "frame")
    if is_path(frame):
        from ..files.path_frame import PathFrame

        return PathFrame(frame, room, threads)
    if isinstance(frame, dict):
        from ..engines.arrays import ArraysFrame

        return ArraysFrame(frame)
    for library, types, file, name in ENGINES:
        if is_of(frame, library, types):
            module = import_module(f"..engines.{file}", __package__)
            arguments = [room] if library == "duckdb" else []
            adapter: Frame = getattr(module, name)(frame, *arguments)
            return adapter
    if is_of(frame, "narwhals", ("DataFrame", "LazyFrame")):
        from ..engines.any import WrappedFrame

        return WrappedFrame(frame, frame_of(frame.to_native(), room, threads))
    library = type(frame).__module__.partition(".")[0]
    if "narwhals" in sys.modules or (library in LAZY and find_spec("narwhals") is not None):
        from ..engines.any import AnyFrame, eager

        known = eager(frame)
        if known is not None:
            return AnyFrame(known)
    if is_arrow(frame) and not _is_series(frame):
        from ..engines.arrays import StreamFrame

        return StreamFrame(frame)
    raise ParameterTypeError(FRAMES.format(_described(frame)))


def is_of(thing: object, library: str, types: tuple[str, ...]) -> bool:
    """Whether an object is of one of a library's types, subclasses included."""
    module = sys.modules.get(library)
    known = [attribute(module, name) for name in types]
    return isinstance(thing, tuple(kind for kind in known if isinstance(kind, type)))


def _is_series(thing: object) -> bool:
    if isinstance(thing, type):
        return False
    arrow = is_of(thing, "pyarrow", ("Array", "ChunkedArray"))
    return arrow or any(attribute(thing, name) is not None for name in ("dtype", "ndim"))


def _described(frame: object) -> str:
    kind = type(frame)
    module = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    name = f"{module}{kind.__qualname__}"
    if is_of(frame, "duckdb", ("DuckDBPyConnection",)):
        return CONNECTION.format(name)
    several = isinstance(frame, (list, tuple, set, range))
    return SERIES.format(name) if several or _is_series(frame) else name
