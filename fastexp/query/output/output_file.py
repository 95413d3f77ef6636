"""A file of answers, written completely or not at all; its space is reserved before a charge."""

from __future__ import annotations

import errno
import io
import json
import os
import secrets
import stat
from collections.abc import Sequence
from contextlib import closing, suppress
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..._parameters import validate
from ...budget import atomic_files
from ...budget.budget import Budget, file_of, state_of
from ...errors import OutputError, ParameterError, ParameterTypeError
from ..engines.frame import Column
from ..files.paths import files_of, is_path

SUFFIXES = (".csv", ".tsv", ".parquet", ".jsonl")
FILE_BYTES, NUMBER_BYTES = 1 << 16, 32  # bytes of a file besides its rows, and of a number
QUOTED_MARKS = ('"', ",", "\t", "\r", "\n")  # texts with these, or blanks at an end, are in quotes
FORMULAS = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet computes text that begins so
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
EXISTS = (
    "output {!r} exists, and may hold answers that were paid for: use another name, or pass "
    "force=True to replace it"
)


def suffix(file: str) -> str:
    """The ending of a file's name, in lower case."""
    return Path(file).suffix.lower()


def room_of(groups: Sequence[Column], widths: Sequence[int], names: Sequence[str]) -> int:
    """The bytes that answers take at most, or nearly so, with this public list of groups.

    widths: for each value of each answer, the characters of the longest candidate; 0 for numbers.
    names: of all columns, as JSON lines repeat them in each row.
    """
    rows = len(groups[0].values) if groups else 1
    row_bytes = sum(map(len, names)) + sum(max(width, NUMBER_BYTES) for width in widths)
    keys = sum(
        sum(map(len, column.values)) if isinstance(column.values, list) else NUMBER_BYTES * rows
        for column in groups
    )
    return FILE_BYTES + 6 * (rows * (row_bytes + 4 * len(names)) + keys)


def content(columns: Sequence[Column], output: Output) -> bytes:
    """The bytes of a file with the answers, in the format that its name says."""
    ending = suffix(output.file)
    if ending == ".parquet":
        from ..engines.arrow import table_of

        buffer = io.BytesIO()
        import_module("pyarrow.parquet").write_table(table_of(columns), buffer)
        return buffer.getvalue()
    cells = [values_of(column) for column in columns]
    names = [column.name for column in columns]
    rows = zip(*cells, strict=True)
    if ending == ".jsonl":
        lines = [json.dumps(dict(zip(names, row, strict=True))) for row in rows]
    else:
        mark = "\t" if ending == ".tsv" else ","
        cell = partial(_cell, quotes_formulas=output.quotes_formulas)
        lines = [mark.join(map(cell, row)) for row in [tuple(names), *rows]]
    return "".join(f"{line}\n" for line in lines).encode()


def values_of(column: Column) -> list[Any]:
    """The values as Python's integers, floats, booleans, lists and text; dates are text."""
    if isinstance(column.values, list):
        return column.values
    if column.values.dtype.kind == "M":
        return [str(text) for text in np.datetime_as_string(column.values)]
    values: list[Any] = column.values.tolist()
    return values


def _cell(value: object, quotes_formulas: bool) -> str:
    if isinstance(value, list):
        value = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, str):
        return str(value).lower() if isinstance(value, bool) else repr(value)
    if quotes_formulas and value.startswith(FORMULAS):
        value = f"'{value}"
    plain = value.strip() == value != "" and not any(mark in value for mark in QUOTED_MARKS)
    return value if plain else '"' + value.replace('"', '""') + '"'


def check(output: object) -> str:
    """Return the path of `output`; refuse all but a new file or a regular one."""
    file = os.fspath(output) if isinstance(output, (str, os.PathLike)) else None
    if not isinstance(file, str):
        raise ParameterTypeError(f"output must be a path, got {type(output).__name__}")
    if suffix(file) not in SUFFIXES:
        kinds = f"{', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}"
        raise ParameterError(f"output must end in {kinds}, got {file!r}")
    try:
        try:
            mode = os.stat(file).st_mode  # noqa: PTH116  # Path.exists hides refusals
        except FileNotFoundError:  # a new one, whose folder must be there
            Path(os.path.realpath(file)).parent.stat()
            return file
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a path"
    else:
        if stat.S_ISREG(mode):
            return file
        reason = f"it is {'a folder' if stat.S_ISDIR(mode) else 'no regular file'}"
    raise _refused(file, reason)


class Output(NamedTuple):
    """The file to which a release also writes its answers; `check` has accepted it.

    is_stored: whether the answers are kept under their label, so that the file may have them.
    quotes_formulas: whether text of CSV that a spreadsheet would take for a formula gets an
    apostrophe in front.
    """

    file: str
    force: bool
    is_stored: bool
    quotes_formulas: bool = False


def output_of(
    output: object, force: bool, source: object, budget: Budget | None, label: str | None
) -> Output | None:
    """The file to which a release writes its answers; None without `output`.

    It is accepted by `check`, and neither a file of the source nor the budget's ledger. If answers
    are kept under the label, it may exist: see `repeated`.
    """
    replaces = validate.flag("force", force)
    if output is None:
        return None
    file, ledger = check(output), file_of(budget)
    if is_path(source) and is_of(file, source):
        raise ParameterError(f"output must not be a file of the frame, got {file!r}")
    if ledger is not None and is_same(file, ledger):
        raise ParameterError(f"output must not be the file of the budget, got {file!r}")
    if suffix(file) == ".parquet" and find_spec("pyarrow") is None:
        raise ParameterError("output in Parquet needs pyarrow: pip install pyarrow")
    is_taken = _is_taken(file, replaces)  # before the log: a file's answers are kept first
    is_stored = state_of(budget, label) in ("answered", "failed")
    if is_taken and not is_stored:
        raise ParameterError(EXISTS.format(file))
    return Output(file, replaces, is_stored)


def _is_taken(file: str, force: bool) -> bool:
    return not force and os.path.exists(file)  # noqa: PTH110  # Path.exists may raise


def is_of(file: str, source: object) -> bool:
    """Whether a file is one of those that a path, or a list of paths, means."""
    if not os.path.lexists(file):
        return False
    try:
        sources = files_of(source)
    except (ParameterError, ParameterTypeError):  # the reader of the source says so
        return False
    return any(is_same(file, one.path) for one in sources)


def is_same(file: str, other: str | os.PathLike[str]) -> bool:
    """Whether two paths are one file."""
    try:
        return Path(file).samefile(other)
    except (OSError, ValueError):  # one of them is not there
        return False


class OutputFile:
    """A hidden file in the folder of the answers, which is written and then gets their name.

    `check` has accepted `file`; if it is a link, the answers go to its target. `room` bytes are
    reserved.
    """

    def __init__(self, file: str, force: bool, room: int) -> None:
        self.file, self._force = file, force
        try:
            self._target = Path(os.path.realpath(file))
            self._draft = self._target.parent / f".fastexp-{secrets.token_hex(8)}"
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | atomic_files.BINARY
            self._handle = os.open(self._draft, flags, 0o666)  # as of any new file
        except OSError as error:
            raise _refused(file, error.strerror) from None
        try:
            self._reserve(room)
        except BaseException:
            self.close()
            raise

    def _reserve(self, room: int) -> None:
        if room and hasattr(os, "posix_fallocate"):
            try:
                os.posix_fallocate(self._handle, 0, room)
            except OSError as error:
                if error.errno in FULL:
                    raise OutputError(
                        f"cannot write output {self.file!r}: {error.strerror}; nothing was read, "
                        "drawn or charged"
                    ) from None

    def write(self, content: bytes) -> None:
        """Write the answers and give the file its name, once; they are on disk on return."""
        try:
            if self._force:
                with suppress(FileNotFoundError):
                    self._draft.chmod(stat.S_IMODE(self._target.stat().st_mode))
            os.ftruncate(self._handle, len(content))  # keeps that much of the reserved space
            atomic_files.write(self._handle, content)
            self._close_handle()
            self._publish()
            atomic_files.sync_folder(str(self._target.parent))
        except OSError as error:
            reason = error.strerror or "system error"
            raise OutputError(f"cannot write output {self.file!r}: {reason}") from None

    def _publish(self) -> None:
        if not self._force:
            try:
                self._target.hardlink_to(self._draft)  # fails if there is a file by now
            except FileExistsError:
                raise
            except (OSError, NotImplementedError):  # a file system without links
                if os.path.lexists(self._target):
                    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from None
            else:
                return
        self._draft.replace(self._target)

    def close(self) -> None:
        """Remove the hidden file; answers that were written stay."""
        with suppress(OSError):
            self._close_handle()
        with suppress(OSError):
            self._draft.unlink(missing_ok=True)

    def _close_handle(self) -> None:
        handle, self._handle = self._handle, -1  # first: it is gone even if closing fails
        os.close(handle)


def repeated(columns: Sequence[Column], output: Output) -> bool:
    """Write kept answers to their file, unless it has these very answers; return whether it has.

    A file with other content is replaced only by force. An `OutputError` has the answers.
    """
    if holds(output, columns):
        return True
    if _is_taken(output.file, output.force):
        raise ParameterError(EXISTS.format(output.file))
    try:
        with closing(OutputFile(output.file, output.force, 0)) as place:
            place.write(content(columns, output))
    except OutputError as error:
        error.answers = columns
        raise
    return False


def holds(output: Output, columns: Sequence[Column]) -> bool:
    """Whether a file is the one that a release would make of these answers, byte for byte."""
    wanted, file = content(columns, output), Path(output.file)
    try:
        with file.open("rb") if file.is_file() else io.BytesIO() as raw:
            return raw.read(len(wanted) + 1) == wanted
    except OSError:
        return False


def _refused(file: str, reason: str | None) -> ParameterError:
    return ParameterError(
        f"output must be a file that can be written, got {file!r}: {reason or 'system error'}"
    )
