"""The source of any frame or file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ..errors import FastexpError, ParameterError, ParameterTypeError
from .sources import Arrow, Narwhals, Pandas, Records, Source

FORMS = "a frame, a dict of columns, a list of dicts, the path of a file or a list of paths"


def source_of(frame: Any) -> Source:
    """Return the source of a frame or of files, which are not opened yet."""
    try:
        return _source_of(frame)
    except (FastexpError, MemoryError):
        raise
    except ImportError as error:
        failure = f"be of an installed library, {error.name}: pip install 'fastexp[frames]'"
    except Exception as error:  # of an engine
        failure = f"be open and readable, its engine raised {type(error).__name__}"
    raise ParameterError(f"frame must {failure}")


def _source_of(frame: Any) -> Source:
    module = type(frame).__module__.partition(".")[0]
    first = frame[0] if isinstance(frame, list) and frame else frame
    if isinstance(first, (str, os.PathLike)) or module == "fastexp":
        from .files import file_source

        return file_source(frame)
    if isinstance(frame, Mapping):
        return Source(frame)
    if module == "pandas" and hasattr(frame, "columns"):
        return Pandas(frame)
    if isinstance(frame, list) and all(isinstance(row, Mapping) for row in frame):
        return Records(frame)
    if module == "pyarrow" and hasattr(frame, "schema"):
        return Arrow(frame)
    if hasattr(frame, "__arrow_c_stream__") and not hasattr(frame, "columns"):
        import pyarrow as pa

        return Arrow(pa.RecordBatchReader.from_stream(frame))
    try:
        return Narwhals(frame)
    except ParameterTypeError:
        raise
    except TypeError:  # not a frame that narwhals knows
        pass
    raise ParameterTypeError(f"frame must be {FORMS}, got {type(frame).__name__}")
