"""The options of answers by group, and their help. Imports argparse only."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from . import arguments

OWN: tuple[str, ...] = (
    "groups",
    "person",
    "max_groups",
    "max_rows",
    "membership",
    "key",
    "memory",
)
OWN += ("output", "force", "threads")  # what belongs to --by, but for the column
ABOUT = "answers by group (all of these belong to --by)"
MORE = """
by group: one answer for each group of a public list, in its order; a group without records is
answered, too, and what the list does not name is left out. --groups is public: choose it
without looking at FILE. The keys are integers where the column of FILE is of integers, else
text; in CSV, where all of the list are integers. Codes of one width (01001, 10001) are text; a
list of integers and other numbers (13, 14.0, 007) is refused.
Files larger than memory are read more than once; with --person the rows of listed groups must
fit, and so must each single group with --key or --draws.

{examples}
--json has by, groups, keys, max_groups, max_rows, membership, persons, label, promised
(epsilon, rho and neighbors of the whole call), rows of {{group, {value}}}; with --draws, of
{{group, {values}}}. --output has one row a group: the group and its answer, in columns that are
called as those of FILE (with --draws: a list of answers; in .csv a row for each).
"""
EXAMPLE = """\
  fastexp {command} --by city \\
      --groups cities.txt --output out.parquet
  fastexp {command} --by city \\
      --groups cities.csv:city --person tenant --max-groups 2 --budget rents.budget
"""
COMMANDS = {
    "median": "median rents.parquet --column rent --epsilon 1 --bounds 0 10000",
    "quantile": "quantile rents.parquet --column rent --q 0.9 --epsilon 1 --bounds 0 10000",
    "price": "price bids.parquet --column bid --epsilon 1 --bounds 0 100 --step 0.01",
    "select": "select homes.parquet --column heating --candidates gas,oil,wood --epsilon 1",
}
KEY = """\
Make a release key: with --key FILE, the same question about the same records of a group has the
same answer again, so that a retry is no second release. Whoever reads FILE can undo the
protection: keep it as you keep the records. A file that exists is never overwritten.
"""
KEY_MORE = """\
examples:
  fastexp key rents.key
  fastexp median rents.parquet --column rent --epsilon 1 --bounds 0 10000 --by city \\
      --groups cities.txt --key rents.key

keys of --json: key
"""


def more(name: str) -> str:
    """What the help of a command says of groups."""
    value = ("selected", "observed") if name == "select" else ("value", "values")
    examples = EXAMPLE.format(command=COMMANDS[name])
    return MORE.format(examples=examples, value=value[0], values=value[1])


def add_options(made: argparse.ArgumentParser) -> None:
    """The options of one command.

    Parameters
    ----------
    made : ArgumentParser
        Of a command that releases.
    """
    add = made.add_argument_group(ABOUT).add_argument
    add("--by", metavar="C", help="the column that says which group a record is of")
    add(
        "--groups",
        metavar="LIST",
        help="the public list of groups: a file with one a line, a column of a file "
        "(cities.csv:city), or A,B,C (of one name: A,); from-data takes those that FILE "
        "has, which breaks the promise of privacy",
    )
    add(
        "--person",
        metavar="C",
        help="the column that says whose a record is: what a person has beyond the two limits "
        "does not count. Without it the limits are your claim",
    )
    count: dict[str, Any] = {"type": arguments.limit, "metavar": "N"}
    add("--max-groups", **count, help="in how many groups one person is, at most (default: 1)")
    add("--max-rows", **count, help="how many records of theirs each has, at most (default: 1)")
    add(
        "--membership",
        choices=("private", "public"),
        help="where a person may change (neighbors replace): whether their group may, too "
        "(default: private)",
    )
    add(
        "--key",
        metavar="FILE",
        help="a release key (fastexp key FILE): a retry repeats answers, under --label (default: "
        '"{column} by {by}"), if the records are what they were',
    )
    add(
        "--output",
        metavar="OUT",
        help="write the answers to this .parquet, .csv or .json file, whose place is made before "
        "anything is charged",
    )
    add("--force", action="store_true", default=None, help="replace OUT if it exists")
    add(
        "--memory",
        type=arguments.memory,
        metavar="SIZE",
        help="for records, as 500MB or 2GB (default: half of what is free)",
    )
    add("--threads", type=arguments.threads, metavar="N", help="default: 1; 0: all")


def add_key(command: Callable[[str, str, str, str], argparse.ArgumentParser]) -> None:
    """The command that makes a key."""
    made = command(
        "key", "grouped_key", "make a release key, with which a retry repeats answers", KEY
    )
    made.epilog = KEY_MORE
    made.add_argument("file", metavar="FILE", help="is created, readable by you alone")
