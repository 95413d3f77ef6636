"""A path, as the files that it means: one, those of a pattern, or those of a folder."""

from __future__ import annotations

import glob
import gzip
import os
import re
import stat
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import IO, Any, NamedTuple, cast
from urllib.parse import unquote

from ...errors import InvalidRecords, ParameterError, ParameterTypeError

FORMATS = {
    ".csv": "CSV",
    ".tsv": "TSV",
    ".parquet": "Parquet",
    ".pq": "Parquet",
    ".jsonl": "JSON lines",
    ".ndjson": "JSON lines",
    ".arrow": "Arrow",
    ".feather": "Arrow",
    ".ipc": "Arrow",
}
COMPRESSED = (".gz", ".zst")
OF_TEXT = ("CSV", "TSV", "JSON lines")  # others compress what is inside
MAGIC = "*?["  # what makes a path a pattern
NULL = "__HIVE_DEFAULT_PARTITION__"
HIDDEN = (".", "_")  # what names of files begin with that others put beside their data
MOST_FILES = 100_000
WANTED = (
    "frame must be a path that ends in .csv, .tsv, .jsonl or .ndjson (also with .gz or .zst), "
    ".parquet, .pq, .arrow, .feather or .ipc, a pattern of such names, or a folder of such files, "
    "got {!r}"
)
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
REMOTE = (
    "frame must be a local path, got {!r}: for remote files pass a pyarrow dataset over fsspec, "
    "such as pyarrow.dataset.dataset(path, filesystem=fsspec.filesystem({!r}))"
)


class Stamp(NamedTuple):
    """What changes when a file does."""

    device: int
    inode: int
    size: int
    modified: int


class File(NamedTuple):
    """A file of rows, and the columns that the names of its folders are, as in year=2020."""

    path: str  # absolute
    format: str
    partitions: dict[str, str | None]
    stamp: Stamp
    called: str  # in messages: as it was given, its path, or what it is a copy of

    def check_same(self) -> None:
        """Refuse rows of a file that is another one by now."""
        try:
            same = _stamp(self.path) == self.stamp
        except OSError:
            same = False
        if not same:
            raise self.changed()

    def changed(self) -> InvalidRecords:
        return InvalidRecords(f"{self.called} must not change while it is read")


def pattern(path: str) -> str:
    """A path as DuckDB takes the file of this very name, whatever is in it."""
    return "".join(f"[{c}]" if c in MAGIC else c for c in path.replace(os.sep, "/"))


def opened(path: str) -> IO[bytes]:
    """The bytes that are in a file, once it is decompressed."""
    if path.lower().endswith(".gz"):
        return cast("IO[bytes]", gzip.open(path))
    if path.lower().endswith(".zst"):
        arrow = import_module("pyarrow")
        return cast("IO[bytes]", arrow.input_stream(path, compression="zstd"))
    return Path(path).open("rb")


def is_path(frame: object) -> bool:
    """Whether a frame is a path, or a list of paths."""
    several = frame if isinstance(frame, (list, tuple)) and frame else [frame]
    return all(isinstance(path, (str, os.PathLike)) for path in several)


def files_of(path: Any) -> list[File]:
    """The files that a path, or each path of a list, means, in the order of their names.

    A file; where there is none of this very name, a pattern with ``*``, ``?``, ``[...]`` or ``**``;
    or a folder, whose files are read in all of its folders. All are of one format, and none is
    there twice.
    """
    paths = path if isinstance(path, (list, tuple)) else [path]
    files = [file for one in paths for file in _files_of(one)]
    given = paths[0] if len(paths) == 1 else list(map(os.fspath, paths[:3]))
    if len({file.path for file in files}) < len(files):
        raise ParameterError(f"frame must not have the same file twice, got {given!r}")
    if len({file.format for file in files}) > 1:
        raise ParameterError(f"frame must be files of one format, got several formats in {given!r}")
    if len({tuple(file.partitions) for file in files}) > 1:
        raise ParameterError(
            "frame must be files in folders with the same keys, such as year=2020, got different "
            f"keys in {given!r}"
        )
    return files


def _files_of(path: Any) -> list[File]:
    text = os.fspath(path)
    if not isinstance(text, str):
        raise ParameterTypeError("frame must be a path as text, got bytes")
    if "\0" in text or not text:
        raise ParameterError(f"frame must be a path, got {text!r}")
    if SCHEME.match(text):
        raise ParameterError(REMOTE.format(text, text.partition(":")[0]))
    full = os.path.abspath(text)  # noqa: PTH100  # resolve would follow links, whose names count
    return [_checked(file, text, parts) for file, parts in _paths(full, text)]


def _paths(full: str, text: str) -> list[tuple[str, tuple[str, ...]]]:
    if os.path.isdir(full):  # noqa: PTH112  # of what cannot be a path, False
        base, names = full, _inside(full)
    elif os.path.lexists(full) or not glob.has_magic(full):
        return [(full, ())]
    else:
        parts = Path(full).parts
        fixed = next(i for i, part in enumerate(parts) if glob.has_magic(part))
        base = str(Path(*parts[:fixed]))
        matches = glob.iglob(full, recursive=True)  # noqa: PTH207  # text, as `full` is
        names = (name for name in matches if not os.path.isdir(name))  # noqa: PTH112  # as above
    paths = []
    for name in names:
        paths.append(name)
        if len(paths) > MOST_FILES:
            raise ParameterError(f"frame must be at most {MOST_FILES} files, got more in {text!r}")
    if not paths:
        raise ParameterError(f"frame must be a path with files in it, got none in {text!r}")
    return [(name, Path(name).relative_to(base).parts[:-1]) for name in sorted(paths)]


def _inside(folder: str) -> Iterator[str]:
    """Files of a folder and of those in it; links to folders are not followed."""
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(HIDDEN)]
        yield from (str(Path(parent, name)) for name in names if not name.startswith(HIDDEN))


def _checked(file: str, text: str, parts: tuple[str, ...]) -> File:
    kind = format_of(file)
    given = text if file.endswith(text) else file
    stamp = stamp_of(file, given)
    if "\\" in pattern(file) and pattern(file) != file.replace(os.sep, "/"):
        raise ParameterError(
            f"frame must be a path without a backslash beside any of {MAGIC}, got {file!r}"
        )
    if kind is None or (kind not in OF_TEXT and file.lower().endswith(COMPRESSED)):
        raise ParameterError(WANTED.format(given))
    named = [part.partition("=") for part in parts if "=" in part]
    partitions = {
        unquote(name): None if value == NULL else unquote(value) for name, _, value in named
    }
    if len(partitions) < len(named):
        raise ParameterError(f"frame must be in folders with different keys, got {file!r}")
    return File(file, kind, partitions, stamp, repr(given))


def format_of(file: str) -> str | None:
    """The format that a file's name says; None if it says none that is read."""
    bare = file.lower()
    for suffix in COMPRESSED:
        bare = bare.removesuffix(suffix)
    return FORMATS.get(Path(bare).suffix)


def stamp_of(file: str, given: str) -> Stamp:
    """What changes when a file does, of one that can be opened without waiting, and has an end.

    `given` is what messages call it.
    """
    try:
        if not stat.S_ISREG(os.stat(file).st_mode):  # noqa: PTH116  # it may wait, or have no end
            raise OSError(0, "not a regular file")
        with Path(file).open("rb"):
            return _stamp(file)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a path"
    raise ParameterError(f"frame must be a path that can be read, got {given!r}: {reason}")


def _stamp(file: str) -> Stamp:
    status = os.stat(file)  # noqa: PTH116  # one call for all
    return Stamp(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
