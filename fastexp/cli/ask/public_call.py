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
    """What a command or a publication asks."""

    query: Query
    answers: Mapping[str, tuple[GroupedMechanism, str]]  # as `Query.release` takes them
    nan: Mapping[str, str]  # by answer
    source: InputFile
    budget: str | None = None  # its file
    label: str | None = None
    note: str | None = None
    key: str | None = None  # its file
    output: str | None = None  # a file of answers
    force: bool = False  # whether that is replaced if it exists
    threads: int = 1
    memory: int | None = None  # bytes
    temp: str | None = None
    origin: str | None = None  # of the source in a question; None: its absolute path
    candidates_from_data: bool = False  # then nothing is promised
