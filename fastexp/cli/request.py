"""Options as a call of the public API; nothing is read but public lists."""

from __future__ import annotations

import csv
import re
from argparse import Namespace
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import FastexpError, ParameterError
from . import table
from .parser import number, option

if TYPE_CHECKING:
    from ..query.query import Query

PRIVATE, FROM_DATA = "private", "from-data"
TYPED = ".parquet", ".pq", ".arrow", ".feather", ".ipc"
TABLES = ".csv", ".tsv", *TYPED
KINDS: dict[str, Any] = {  # of entries for typed files, if all of them are so written
    r"0|-?[1-9]\d{0,17}": int,
    r"\d{4}-\d\d-\d\d": date.fromisoformat,
    r"[Tt]rue|[Ff]alse|TRUE|FALSE": lambda text: text.lower() == "true",
}


def request(options: Namespace) -> tuple[Query, dict[str, Any], Any]:
    """Return a query, its answers and its source; refuse options that do not go together."""
    import fastexp as fx

    row = table.MECHANISMS[options.command]
    given = {name: x for name, x in vars(options).items() if x is not None and x is not False}
    _check(given, row.needs)
    by = _split("--by", given["by"]) if "by" in given else []
    if options.column in by:
        raise ParameterError("--by and --column must be different columns")
    limits = {name: given[name] for name in table.QUERY.split() if name in given} | {"by": by}
    if options.groups == PRIVATE:
        try:
            limits["groups"] = fx.PrivateGroups(options.delta, options.groups_epsilon)
        except FastexpError as error:
            raise ParameterError(str(error).replace("epsilon", "groups_epsilon")) from None
    elif by and options.groups != FROM_DATA:
        limits["groups"] = _entries("--groups", options.groups, by, options.file)
    parameters = {name: given[name] for name in row.parameters.split() if name in given}
    for name in parameters.keys() & {"candidates", "grid"}:
        entries = _entries(option(name), parameters[name], [options.column], options.file)
        parameters[name] = [number(str(x)) for x in entries] if name == "grid" else entries
    if "digits" in parameters:
        parameters["grid"] = fx.digits(parameters.pop("digits"))
    if len(parameters.get("q", ())) == 1:
        (parameters["q"],) = parameters["q"]
    mechanism = getattr(fx, row.mechanism)(epsilon=options.epsilon, **parameters)
    form = {name: given[name] for name in table.CSV.split() if name in given}
    if "missing" in form:
        form["missing"] = _split("--missing", form["missing"])
    source = fx.CSV(options.file, **form) if form else options.file
    return fx.Query(**limits), {options.column: (mechanism, options.column)}, source


def _check(given: dict[str, Any], needs: str) -> None:
    """Refuse a call without what it needs, or with options that do not go together."""
    needed = [table.NEEDS[name] for name in given if name in table.NEEDS]
    for names in [*table.ALWAYS.split(), *needs.split(), *needed]:
        either = names.split("|")
        count = len(given.keys() & set(either))
        if count > 1:
            raise ParameterError(f"give only one of {', '.join(map(option, either))}")
        if not count:
            why = table.WHY.get(either[0]) or table.OPTIONS[either[0]].partition("  ")[2]
            raise ParameterError(f"{option(either[0])} is needed: {why}")
    if ("delta" in given) != (given.get("groups") == PRIVATE):
        raise ParameterError("--groups private needs --delta and --groups-epsilon, and only it")
    if given.get("groups") == FROM_DATA and "budget" in given:
        raise ParameterError("--budget does not go with --groups from-data, which promises nothing")
    if "accuracy" in given and given.keys() & {"budget", "output", "check"}:
        raise ParameterError("--accuracy is no release: without --budget, --output and --check")


def _entries(name: str, text: str, columns: list[str], source: str) -> Any:
    """Return the entries of a public list; tuples of them for several columns."""
    from ..query.scope import labels_of

    path, is_file, is_source = Path(text), False, False
    with suppress(OSError, ValueError):  # of a list that can be no path, or of no source
        is_file = path.is_file()
        is_source = is_file and path.samefile(source)
    if is_source:
        raise ParameterError(f"{name} must be public, but {text!r} is FILE, which is private")
    is_table = path.suffix.lower() in TABLES
    if is_file:
        form = f"a table with the header {','.join(columns)}" if is_table else "UTF-8 text"
        try:
            if is_table:
                return labels_of(path, tuple(columns))
            lines = re.split(r" *\n *", path.read_text("utf-8-sig").strip())
        except (FastexpError, OSError, ValueError) as error:
            why = str(getattr(error, "strerror", error)).replace("frame", "it")
            raise ParameterError(f"{name} {text!r} must be readable as {form}: {why}") from None
        is_quoted = re.compile('"([^"]|"")+"').fullmatch
        lines = [x[1:-1].replace('""', '"') if is_quoted(x) else x for x in lines]
        return _typed(name, lines, source)
    if "," not in text:
        raise ParameterError(
            f"{name}: there is no file {text!r}; give A,B,C (of one entry: {text},) or a file, or "
            "for --groups private or from-data"
        )
    return _typed(name, _split(name, text.removesuffix(",")), source)


def _split(name: str, text: str) -> list[str]:
    """Return entries that commas separate; with a comma or outer blanks they are quoted."""
    if '"' not in text:
        return _filled(name, re.split(r"\s*,\s*", text.strip()))
    (cells,) = csv.reader([text], skipinitialspace=True)
    return _filled(name, cells)


def _filled(name: str, entries: list[str]) -> list[str]:
    if not entries or not all(entries):
        raise ParameterError(f"{name} has an empty entry: a comma or a line too many?")
    return entries


def _typed(name: str, entries: list[str], source: str) -> list[Any]:
    """Return entries: text for cells of text, else of the type that all of them look like."""
    entries = _filled(name, entries)
    for pattern, kind in KINDS.items() if Path(source).suffix.lower() in TYPED else ():
        if all(re.fullmatch(pattern, entry, re.ASCII) for entry in entries):
            with suppress(ValueError):  # the 30th of February is text
                return [kind(entry) for entry in entries]
    return entries
