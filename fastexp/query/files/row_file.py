"""A file of any format, as it is read: the columns of a file, and the SQL that reads its rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from ..engines.frame import Use
from .paths import File
from .plain import Plain


class SqlTable(NamedTuple):
    """A table of SQL, to follow FROM, whose columns are r0, r1, ... in the order of the uses."""

    table: str
    parameters: dict[str, Any]


class RowFile(Protocol):
    """One file of a format."""

    file: File
    form: str  # what a file of the format must be, for messages
    typed: bool  # whether columns have types; else they are cells of text

    @property
    def plain(self) -> Plain | None:
        """What the bytes of the file tell; None where rows cannot be counted by lines."""
        ...

    def names(self) -> list[str]:
        """The names of the columns, in order; those of folders are none of them."""
        ...

    def rows(self, uses: Sequence[Use], survey: bool) -> SqlTable:
        """The columns of some uses, for the survey or to be read."""
        ...
