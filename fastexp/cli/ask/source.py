"""FILE: where the rows come from, as a frame that `Query` reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import NamedTuple

from ...query.disk.folders import private_folder
from ...query.engines.frame import Column, Frame
from ...query.files.path_frame import PathFrame

STDIN = "-"


class Source(NamedTuple):
    """A file of rows: a path as `Query` takes it, one of ``.npy``, or ``-`` for CSV from stdin.

    Attributes
    ----------
    file : str
    delimiter : str or None
        Of CSV; None: a comma, of TSV a tab.
    """

    file: str
    delimiter: str | None = None


@contextmanager
def opened(
    source: Source,
    memory: int | str | None = None,
    threads: int = 1,
    temp: str | None = None,
) -> Iterator[Frame]:
    """The rows of a file, of which nothing is looked at yet; what it needs on disk goes at the end.

    Parameters
    ----------
    source : Source
    memory, threads, temp
        As of `Query.release`.

    Yields
    ------
    Frame
        Its `finished` gives the columns as they are. Its methods raise what those of `PathFrame`
        do; of stdin `UserMistake` if there is none, and `Failure` if it cannot be copied.
    """
    if source.file == STDIN:
        from .stdin import StdinRows

        with (
            private_folder(temp) as folder,
            closing(StdinRows(folder, memory, threads, source.delimiter)) as rows,
        ):
            yield rows
    elif is_npy(source.file):
        from .npy import NpyRows

        yield NpyRows(source.file)
    else:
        yield FileRows(source.file, memory, threads, source.delimiter)


def is_npy(file: str) -> bool:
    """Whether a file's name says that it holds one array, whose only column is `npy.VALUE`."""
    return file.lower().endswith(".npy")


class FileRows(PathFrame):
    """Rows of files that DuckDB reads."""

    def finished(self, columns: Sequence[Column]) -> list[Column]:
        """The columns as they are."""
        return list(columns)
