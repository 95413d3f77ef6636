"""Options as calls: the source, the query, the mechanism; nothing is read but public lists."""

from __future__ import annotations

import csv
import re
from argparse import Namespace
from collections.abc import Callable
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import ParameterError
from . import table
from .parser import nearest, number

if TYPE_CHECKING:
    from ..query.query import Query

PRIVATE, FROM_DATA = "private", "from-data"
TABLES = ".csv", ".tsv", ".parquet", ".pq", ".arrow", ".feather", ".ipc"
KINDS: dict[str, Callable[[str], Any]] = {  # of entries, if all of them are so written
    r"0|-?[1-9]\d{0,17}": int,
    r"\d{4}-\d\d-\d\d": date.fromisoformat,
    r"[Tt]rue|[Ff]alse|TRUE|FALSE": lambda text: text.lower() == "true",
}


class Request(NamedTuple):
    """A call of `Query.release`."""

    query: Query
    answers: dict[str, Any]  # as it takes them
    source: Any


def make_request(options: Namespace) -> Request:
    """Return the call that options describe; refuse those that do not go together."""
    import fastexp as fx

    row = table.MECHANISMS[options.command]
    given = {name: value for name, value in vars(options).items() if value not in (None, False)}
    _check(given, row)
    by = _names("--by", given["by"]) if "by" in given else []
    if options.column in by:
        raise ParameterError("--by and --column must be different columns")
    limits = {name: given[name] for name in table.QUERY.split() if name in given} | {"by": by}
    if options.groups == PRIVATE:
        limits["groups"] = fx.PrivateGroups(options.delta, options.groups_epsilon)
    elif by and options.groups != FROM_DATA:
        limits["groups"] = _entries("--groups", options.groups, by, options.file)
    query = fx.Query(**limits)
    parameters = {name: given[name] for name in row.parameters.split() if name in given}
    if "candidates" in parameters:
        listed = _entries("--candidates", options.candidates, [options.column], options.file)
        parameters["candidates"] = listed
    if "digits" in parameters:
        parameters["grid"] = fx.digits(parameters.pop("digits"))
    elif "grid" in parameters:
        listed = _entries("--grid", options.grid, [options.column], options.file)
        parameters["grid"] = [number(str(entry)) for entry in listed]
    if len(parameters.get("q", ())) == 1:
        (parameters["q"],) = parameters["q"]
    mechanism = getattr(fx, row.mechanism)(epsilon=options.epsilon, **parameters)
    return Request(query, {options.column: (mechanism, options.column)}, _source(given))


def _check(given: dict[str, Any], row: table.Row) -> None:
    """Refuse a call without what it needs, or with options that do not go together."""
    needs = ["file", "column", "epsilon", *row.needs.split()]
    if "by" in given:
        needs += ["groups"]
    if given.get("groups") == PRIVATE:
        needs += ["delta", "groups_epsilon"]
    if "budget" in given:
        needs += ["label"]
    for names in needs:
        either = names.split("|")
        if (count := len(given.keys() & set(either))) != 1:
            options = [_option(name) for name in either]
            if count:
                raise ParameterError(f"give one of {', '.join(options)}, not {count}")
            first = either[0]
            why = table.WHY.get(first) or table.OPTIONS.get(first, ("", "the file to read"))[1]
            raise ParameterError(f"{' or '.join(options[: 1 + (first == 'q')])} is needed: {why}")
    for name, other in (
        *(("label", "budget"), ("groups", "by"), ("max_groups", "by"), ("membership", "by")),
        *(("delta", "groups_epsilon"), ("groups_epsilon", "groups")),
    ):
        if name in given and other not in given:
            raise ParameterError(f"{_option(name)} needs {_option(other)}")
    if "groups_epsilon" in given and given["groups"] != PRIVATE:
        raise ParameterError("--groups-epsilon needs --groups private")
    for name in ("budget", "output", "check"):
        if name in given and "accuracy" in given:
            raise ParameterError(f"--accuracy is not private and does not go with --{name}")
    if "budget" in given and given.get("groups") == FROM_DATA:
        raise ParameterError("--budget does not go with --groups from-data, which breaks promises")


def _option(name: str) -> str:
    return "FILE" if name == "file" else "--" + name.replace("_", "-")


def _source(given: dict[str, Any]) -> Any:
    """Return the source: a path, or a CSV file with what its text means."""
    form = {name: given[name] for name in table.CSV.split() if name in given}
    if not form:
        return given["file"]
    import fastexp as fx

    if form.get("delimiter") == "tab":
        form["delimiter"] = "\t"
    if "missing" in form:
        form["missing"] = _names("--missing", form["missing"])
    return fx.CSV(given["file"], **form)


def _names(option: str, text: str) -> list[str]:
    """Return entries that commas separate; an entry with a comma is quoted."""
    (cells,) = list(csv.reader([text], skipinitialspace=True)) or [[]]
    return _filled(option, cells)


def _filled(option: str, entries: list[str]) -> list[str]:
    entries = [entry.strip() for entry in entries]
    if not entries or not all(entries):
        raise ParameterError(f"{option} has an empty entry: a comma or a line too many?")
    return entries


def _entries(option: str, text: str, columns: list[str], source: str) -> list[Any]:
    """Return the entries of a public list; tuples of them for several columns."""
    path = Path(text)
    try:
        is_file = path.is_file()
        is_source = is_file and Path(source).exists() and path.samefile(source)
    except (OSError, ValueError):  # a list that can be no path
        is_file = is_source = False
    if is_source:
        raise ParameterError(
            f"{option}: {text!r} is FILE itself, whose values are private: give a public list"
        )
    if is_file and path.suffix.lower() in TABLES:
        read = [_typed(column) for column in _table(option, text, columns)]
        return read[0] if len(columns) == 1 else list(zip(*read, strict=True))
    if len(columns) > 1:
        raise ParameterError(
            f"{option} of several columns must be a table with the columns "
            f"{', '.join(columns)}: a .csv or .parquet file"
        )
    if is_file:
        try:
            lines = path.read_text("utf-8-sig").rstrip().split("\n")
        except (OSError, UnicodeError):
            raise ParameterError(f"{option}: {text!r} cannot be read as UTF-8 text") from None
        return _typed(_filled(option, lines))
    if "," not in text:
        raise ParameterError(
            f"{option}: there is no file {text!r}; give A,B,C (of one entry: {text},) or a file"
        )
    return _typed(_names(option, text.removesuffix(",")))


def _table(option: str, path: str, columns: list[str]) -> list[list[Any]]:
    """Return columns of a file; if there is one only, its name need not match."""
    from ..query.sources import source_of

    source = source_of(path)
    known = source.names()
    if len(columns) == len(known) == 1:
        columns = known
    for column in columns:
        if known.count(column) != 1:
            near = nearest(column, known)
            raise ParameterError(f"{option}: {path!r} must have one column {column!r}{near}")
    return [column.to_pylist() for column in source.read(columns).values()]


def _typed(entries: list[Any]) -> list[Any]:
    """Return entries as integers, dates or truth values, if all are so written."""
    if all(isinstance(entry, str) for entry in entries):
        for pattern, kind in KINDS.items():
            if all(re.fullmatch(pattern, entry, re.ASCII) for entry in entries):
                with suppress(ValueError):  # the 30th of February is text
                    return [kind(entry) for entry in entries]
    return entries
