"""FILE: where the rows come from, as a frame that `Query` reads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import NamedTuple

from ...query.disk.folders import private_folder
from ...query.engines.frame import Frame
from .file_rows import FileRows, StdinRows

STDIN = "-"


class InputFile(NamedTuple):
    """A file of rows: a path as `Query` takes it, one of ``.npy``, or ``-`` for CSV from stdin.

    The delimiter is that of CSV; None: a comma, of TSV a tab.
    """

    path: str
    delimiter: str | None = None


@contextmanager
def open_rows(
    source: InputFile,
    memory: int | str | None = None,
    threads: int = 1,
    temp: str | None = None,
) -> Iterator[Frame]:
    """The rows of a file, of which nothing is looked at yet; what it needs on disk goes at the end.

    `memory`, `threads` and `temp` are those of `Query.release`. The frame's `finished` gives
    columns as they are. Its methods raise what those of `PathFrame` do; of stdin `UserMistake` if
    there is none, and `Failure` if it cannot be copied.
    """
    if source.path == STDIN:
        with (
            private_folder(temp) as folder,
            closing(StdinRows(folder, memory, threads, source.delimiter)) as rows,
        ):
            yield rows
    elif is_npy(source.path):
        from .npy_rows import NpyRows

        yield NpyRows(source.path)
    else:
        yield FileRows(source.path, memory, threads, source.delimiter)


def is_npy(path: str) -> bool:
    """Whether a file's name says that it holds one array, whose only column is `npy_rows.VALUE`."""
    return path.lower().endswith(".npy")
