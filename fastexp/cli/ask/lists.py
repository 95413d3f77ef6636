"""``--groups``, ``--candidates``, ``--grid``: public lists, from a file or as they are typed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import UserMistake
from ..options.values import written
from .source import Source

FROM_DATA = "from-data"
WHY_PUBLIC = """\
--groups is needed: the list of groups to answer, chosen without looking at FILE
why:   a list made from the data shows which groups exist, so that somebody who is alone in
       one took part, whatever epsilon is
do:    take it from a register or a standard, as in --groups cities.txt (one a line),
       --groups cities.csv:city or --groups Oslo,Rome; groups without records do no harm
else:  for data that is public anyway there is --groups from-data"""


def groups(text: str, by: Sequence[str], source: Source) -> Any:  # noqa: ARG001
    """What ``--groups`` names, as `Query` takes it; the kinds are those of FILE's columns."""
    return text if text == FROM_DATA else text.split(",")


def candidates(text: str, column: str, source: Source) -> tuple[Any, ...]:  # noqa: ARG001
    """What ``--candidates`` names, of the kind of FILE's column."""
    return tuple(text.split(","))


def points(text: str) -> Any:
    """The points of ``--grid``: numbers, or those of a file."""
    listed = [written(part) for part in text.split(",")]
    if None in listed:
        raise UserMistake("--grid must hold numbers only, separated by commas, or name a file")
    return listed
