"""The files that a path stands for: one file, those of a pattern, or those of a folder."""

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
OF_TEXT = ("CSV", "TSV", "JSON lines")  # other formats compress their content themselves
MAGIC = "*?["  # characters that make a path a pattern
NULL = "__HIVE_DEFAULT_PARTITION__"
HIDDEN = (".", "_")  # first characters of files that other programs put beside their data
MAX_FILES = 100_000
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
    """Attributes of a file that change if the file changes."""

    device: int
    inode: int
    size: int
    modified: int


class File(NamedTuple):
    """A file of rows, and the columns that its folders name, as in year=2020."""

    path: str  # absolute
    format: str
    partitions: dict[str, str | None]
    stamp: Stamp
    called: str  # its name in messages: the path as given, the full path, or that of its original

    def check_same(self) -> None:
        """Refuse the rows of a file that has changed since its stamp was taken."""
        try:
            same = _stamp(self.path) == self.stamp
        except OSError:
            same = False
        if not same:
            raise self.changed()

    def changed(self) -> InvalidRecords:
        return InvalidRecords(f"{self.called} must not change while it is read")


def pattern(path: str) -> str:
    """Escape a path, so that DuckDB reads the file of this very name and not a pattern."""
    return "".join(f"[{c}]" if c in MAGIC else c for c in path.replace(os.sep, "/"))


def opened(path: str) -> IO[bytes]:
    """Open a file to read its bytes, decompressed."""
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
    """Return the files of a path, or of each path of a list, in the order of their names.

    A path is a file; if there is none of this very name, a pattern with ``*``, ``?``, ``[...]`` or
    ``**``; or a folder, with the files in it and its subfolders. All files must be of one format,
    and none may occur twice.
    """
    paths = path if isinstance(path, (list, tuple)) else [path]
    files = [file for item in paths for file in _files_of(item)]
    examples = paths[0] if len(paths) == 1 else list(map(os.fspath, paths[:3]))
    if len({file.path for file in files}) < len(files):
        raise ParameterError(f"frame must not have the same file twice, got {examples!r}")
    if len({file.format for file in files}) > 1:
        raise ParameterError(
            f"frame must be files of one format, got several formats in {examples!r}"
        )
    if len({tuple(file.partitions) for file in files}) > 1:
        raise ParameterError(
            "frame must be files in folders with the same keys, such as year=2020, got different "
            f"keys in {examples!r}"
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
    if os.path.isdir(full):  # noqa: PTH112  # False for what cannot be a path
        base, names = full, _inside(full)
    elif os.path.lexists(full) or not glob.has_magic(full):
        return [(full, ())]
    else:
        parts = Path(full).parts
        fixed = next(i for i, part in enumerate(parts) if glob.has_magic(part))
        base = str(Path(*parts[:fixed]))
        matches = glob.iglob(full, recursive=True)  # noqa: PTH207  # because `full` is text
        names = (name for name in matches if not os.path.isdir(name))  # noqa: PTH112  # as above
    paths = []
    for name in names:
        paths.append(name)
        if len(paths) > MAX_FILES:
            raise ParameterError(f"frame must be at most {MAX_FILES} files, got more in {text!r}")
    if not paths:
        raise ParameterError(f"frame must be a path with files in it, got none in {text!r}")
    return [(name, Path(name).relative_to(base).parts[:-1]) for name in sorted(paths)]


def _inside(folder: str) -> Iterator[str]:
    """The files of a folder and its subfolders; links to folders are not followed."""
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(HIDDEN)]
        yield from (str(Path(parent, name)) for name in names if not name.startswith(HIDDEN))


def _checked(file: str, text: str, parts: tuple[str, ...]) -> File:
    kind = format_of(file)
    called = text if file.endswith(text) else file
    stamp = stamp_of(file, called)
    if "\\" in pattern(file) and pattern(file) != file.replace(os.sep, "/"):
        raise ParameterError(
            f"frame must be a path without a backslash beside any of {MAGIC}, got {file!r}"
        )
    if kind is None or (kind not in OF_TEXT and file.lower().endswith(COMPRESSED)):
        raise ParameterError(WANTED.format(called))
    pairs = [part.partition("=") for part in parts if "=" in part]
    partitions = {
        unquote(name): None if value == NULL else unquote(value) for name, _, value in pairs
    }
    if len(partitions) < len(pairs):
        raise ParameterError(f"frame must be in folders with different keys, got {file!r}")
    return File(file, kind, partitions, stamp, repr(called))


def format_of(file: str) -> str | None:
    """The format of a file, by its name; None if no known format has this ending."""
    bare = file.lower()
    for suffix in COMPRESSED:
        bare = bare.removesuffix(suffix)
    return FORMATS.get(Path(bare).suffix)


def stamp_of(file: str, called: str) -> Stamp:
    """The stamp of a regular file that can be read; other files may block, or never end.

    `called` is the name of the file in messages.
    """
    try:
        if not stat.S_ISREG(os.stat(file).st_mode):  # noqa: PTH116  # a pipe may block or not end
            raise OSError(0, "not a regular file")
        with Path(file).open("rb"):
            return _stamp(file)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a path"
    raise ParameterError(f"frame must be a path that can be read, got {called!r}: {reason}")


def _stamp(file: str) -> Stamp:
    status = os.stat(file)  # noqa: PTH116  # one call for all four
    return Stamp(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
