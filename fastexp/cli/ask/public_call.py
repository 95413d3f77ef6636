"""A call of the command line as far as it is public: its query, its file, and who pays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .input_file import InputFile

if TYPE_CHECKING:
    from ...grouped.mechanism import GroupedMechanism
    from ...query.query import Query


@dataclass(frozen=True)
class PublicCall:
    """What a command or a publication asks.

    Attributes
    ----------
    query : Query
    answers : dict of str to (mechanism, str)
        As `Query.release` takes them.
    nan : dict of str to str
        What is done with missing records, by answer.
    source : InputFile
    budget, label, note, key : str or None
        The budget's file, the label and the note of its log; the key's file.
    output : str or None
        A file of answers; with `force` it is replaced if it exists.
    threads, memory, temp
        As of `Query.release`; memory in bytes.
    origin : str or None
        The name of the source where two questions under one label are compared. None: its absolute
        path.
    candidates_from_data : bool
        Whether candidates are those that occur, so that nothing is promised.
    """

    query: Query
    answers: Mapping[str, tuple[GroupedMechanism, str]]
    nan: Mapping[str, str]
    source: InputFile
    budget: str | None = None
    label: str | None = None
    note: str | None = None
    key: str | None = None
    output: str | None = None
    force: bool = False
    threads: int = 1
    memory: int | None = None
    temp: str | None = None
    origin: str | None = None
    candidates_from_data: bool = False
