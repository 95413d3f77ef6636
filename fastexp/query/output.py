"""Draws as a budget keeps them, and files of answers."""

from __future__ import annotations

import csv
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..data.keys import Labels
from ..errors import OutputError, ParameterError
from ..mechanisms.quantiles import Quantiles
from ..types import Integers
from .sources import Arrow, listed

MARKS = {".csv": ",", ".tsv": "\t"}
TYPED = ".parquet", ".arrow"


class Drawn(NamedTuple):
    """What is drawn: groups of the data that appear, a column for each of by; a row of each."""

    labels: list[Labels]
    matrix: Integers


def packed(drawn: Drawn, has_labels: bool) -> Any:
    """Return draws as a budget keeps them: of listed groups an array, whose width is public."""
    if not has_labels:
        return drawn.matrix
    return [drawn.labels, list(drawn.matrix.shape), drawn.matrix.ravel().tolist()]


def unpacked(kept: Any, has_labels: bool) -> Drawn:
    """Return draws that were kept."""
    if not has_labels:
        return Drawn([], kept)
    labels, shape, numbers = kept
    return Drawn([Labels(*column) for column in labels], np.array(numbers, np.int64).reshape(shape))


class Draft:
    """A file that is made beside its place, and moved there when it is whole."""

    def __init__(self, path: Any, budget: Any, label: str | None) -> None:
        self._path = Path(os.fspath(path))
        if self._path.suffix not in (*MARKS, *TYPED):
            endings = ", ".join((*MARKS, *TYPED))
            raise ParameterError(f"output must end in one of {endings}, got {str(path)!r}")
        if budget is not None and label is None:
            raise ParameterError("output needs a label, under which the budget keeps the answers")
        if self._path.suffix in TYPED:
            import pyarrow  # noqa: F401, ICN001  # before the charge

    def __enter__(self) -> Draft:
        """Refuse a file that exists; make the draft."""
        try:
            if os.path.lexists(self._path):
                raise FileExistsError("it exists; remove it first")
            number, draft = tempfile.mkstemp(".tmp", f".{self._path.name}.", self._path.parent)
        except OSError as error:
            raise OutputError(
                f"output {str(self._path)!r} cannot be made: {error.strerror or error}"
            ) from None
        os.close(number)
        self._draft = Path(draft)
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the draft."""
        with suppress(OSError):
            self._draft.unlink()

    def publish(self, columns: dict[str, Any], answers: Any, asked: Any) -> None:
        """Write answers and give the file its name; a file that another process made is kept."""
        try:
            if self._path.suffix in MARKS:
                texts, mark = spread(columns, asked), MARKS[self._path.suffix]
                with self._draft.open("w", newline="", encoding="utf-8") as text:
                    writer = csv.writer(text, delimiter=mark, lineterminator="\n")
                    writer.writerow(texts)
                    writer.writerows(zip(*texts.values(), strict=True))
            else:
                _write_typed(self._draft, self._path.suffix, Arrow(None).frame_of(columns))
            with self._draft.open("rb") as file:
                os.fsync(file.fileno())
            os.link(self._draft, self._path)
        except Exception as error:  # of a disk, or of an engine
            why = getattr(error, "strerror", None) or type(error).__name__  # others quote answers
            failure = OutputError(f"output {str(self._path)!r} cannot be written: {why}")
            failure.answers = answers
            failure.add_note(
                "the answers were drawn, and charged to the budget if there is one: the attribute "
                "`answers` of this error has them"
            )
            raise failure from None


def spread(columns: dict[str, Any], asked: Any) -> dict[str, list[Any]]:
    """Return columns of text: each of several quantiles has one, under a name of its own."""
    found: dict[str, list[Any]] = {}
    for name, column in columns.items():
        rows, mechanism = listed(column), asked.get(name, [None])[0]
        if not isinstance(mechanism, Quantiles):
            found[name] = rows
            continue
        for i, q in enumerate(mechanism.q):
            label = f"{name}_{float(q)}"
            while label in columns or label in found:
                label += "_"
            found[label] = [row[i] for row in rows]
    return found


def _write_typed(path: Path, kind: str, table: Any) -> None:
    if kind == ".parquet":
        from pyarrow import parquet

        parquet.write_table(table, path)
        return
    from pyarrow import feather

    feather.write_feather(table, path)
