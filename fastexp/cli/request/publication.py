"""A publication: a file that describes a release, to review and check before it is made.

It contains public settings only: no SQL, no code, no variables. Its paths are relative to its own
folder.
"""

from __future__ import annotations

import inspect
import os
import stat
from collections.abc import Callable, Iterable
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ..._parameters import toml_text
from ..._parameters.digits import of_table
from ...grouped.request import FROM_DATA
from ...mechanisms.table import DEFAULT, TABLE, Row
from ..options import values
from ..terminal.errors import UserMistake, did_you_mean, in_terms, reason_of
from . import list_entries, public_lists
from .input_file import STDIN, InputFile, PublicCall

if TYPE_CHECKING:
    from ...grouped.mechanism import GroupedMechanism
    from ...query.query import Query

T = TypeVar("T")
LARGEST = 400  # decimal exponent; mechanisms themselves refuse numbers beyond float64
NEEDED = ("source", "budget", "label", "answers")
TABLES = ("query", "answers")
PATHS = ("source", "budget", "output", "key")
KEYS = ("source", "delimiter", "budget", "label", "output", "key", "note", *TABLES)
OF_ANSWERS = ("mechanism", "column", "nan")
OF_PRIVATE = ("delta", "groups_epsilon")
MECHANISMS: dict[str, tuple[Row, dict[str, str]]] = {  # by word, with settings that it implies
    **{word: (row, {}) for word, row in TABLE.items() if row.grouped},
    **{
        word: (TABLE[row.counts], {"mechanism": word})
        for word, row in TABLE.items()
        if row.counts not in ("", word) and word != DEFAULT
    },
}


def read(file: str, *, force: bool = False) -> PublicCall:
    """Return the call of a publication, a TOML file; it has a budget and a label.

    Neither its source nor its key is opened. Errors in the file name the table and the key.
    """
    try:
        return _call(file, _parsed(file), force)
    except UserMistake as mistake:
        raise UserMistake(f"{file!r}: {mistake}") from None


def _parsed(file: str) -> dict[str, Any]:
    """Return the tables of the file, with numbers exactly as they are written."""
    try:
        if not stat.S_ISREG(Path(file).stat().st_mode):
            raise UserMistake("must be a regular file")
        with Path(file).open("rb") as raw:
            content = raw.read(toml_text.MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise UserMistake(f"cannot be read: {reason_of(error)}") from None
    if len(content) > toml_text.MAX_BYTES:
        raise UserMistake(f"must be a TOML file of at most {toml_text.MAX_BYTES >> 20} MB")
    try:
        parsed = toml_text.parsed(content, _decimal)
        _check_integers(parsed)
    except UnicodeDecodeError:
        raise UserMistake("must be UTF-8 text") from None
    except ValueError as error:  # names the line
        raise UserMistake(f"is not valid TOML: {error}") from None
    return parsed


def _decimal(text: str) -> Decimal:
    number = Decimal(text)
    if not number.is_finite() or abs(number.adjusted()) > LARGEST:
        raise ValueError("a number must be finite and fit into 64 bits")
    return number


def _check_integers(value: object) -> None:
    """Refuse integers beyond 64 bits, which nothing can use, and which take long to print."""
    if isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            _check_integers(item)
    elif isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
        raise ValueError("an integer must fit into 64 bits")


def _call(file: str, parsed: dict[str, Any], force: bool) -> PublicCall:
    _check_keys("", parsed, KEYS, NEEDED)
    for key, value in parsed.items():
        kind, words = (dict, "a non-empty table") if key in TABLES else (str, "non-empty text")
        if not isinstance(value, kind) or not value:
            raise UserMistake(f"{key} must be {words}")
    if len(parsed.get("delimiter", ",")) != 1:
        raise UserMistake("delimiter must be one character")
    if parsed["source"] == STDIN:
        raise UserMistake("source must be a file, not stdin")
    folder = os.path.dirname(file)  # noqa: PTH120  # joined as text, below
    paths = {key: _path(key, folder, parsed[key]) for key in PATHS if key in parsed}
    source = InputFile(paths["source"], parsed.get("delimiter"), has_public_types=False)
    lists = Lists(folder, source, files=[])
    query = _query(parsed.get("query", {}), lists)
    groups_file = next(filter(list_entries.is_file, lists.files), None)
    pairs = {name: _answer(name, table, query, lists) for name, table in parsed["answers"].items()}
    answers = {name: answer for name, (answer, _) in pairs.items()}
    _attempt("answers", lambda: query.total(answers))
    if "output" in paths:
        others = [file, *(path for key, path in paths.items() if key != "output"), *lists.files]
        if os.path.realpath(paths["output"]) in map(os.path.realpath, others):
            raise UserMistake("output must be a file of its own")
    return PublicCall(
        query,
        answers,
        {name: nan for name, (_, nan) in pairs.items()},
        source._replace(has_public_types=True),
        budget=paths["budget"],
        label=parsed["label"],
        note=parsed.get("note"),
        key=paths.get("key"),
        output=paths.get("output"),
        groups_file=groups_file,
        force=force,
        origin=_origin(paths["source"], paths["budget"]),
    )


def _path(key: str, folder: str, text: str) -> str:
    return os.path.join(folder, _printable(key, text))  # noqa: PTH118  # one from the root stays


def _printable(key: str, text: str) -> str:
    if not text or not text.isprintable():
        raise UserMistake(f"{key} must be a path of printable characters")
    return text


def _origin(source: str, budget: str) -> str:
    """Return the name of the source in the question: its path relative to the budget's folder.

    A folder with both can therefore be moved, and equal publications in two folders that share a
    budget are two questions.
    """
    try:
        return os.path.relpath(source, Path(budget).parent)
    except ValueError:  # Windows: on another drive
        return source


class Lists(NamedTuple):
    """Public lists that a publication names by a text, which is read like that of an option."""

    folder: str
    source: InputFile
    files: list[str]  # paths that may have been read

    def _text(self, key: str, text: str) -> str:
        path = public_lists.in_folder(self.folder, _printable(key, text))
        self.files.extend((path, path.rpartition(":")[0]))  # FILE:COLUMN, or a path with a colon
        return path

    def groups(self, text: str, by: object) -> Any:
        """Return the groups that a text names, for the columns `by`."""
        columns = [by] if isinstance(by, str) else list(by) if isinstance(by, list) else []
        return public_lists.groups(self._text("groups", text), columns, self.source, "groups")

    def candidates(self, text: str, column: object) -> tuple[Any, ...]:
        """Return the candidates that a text names, for this column."""
        path = self._text("candidates", text)
        return public_lists.candidates(path, str(column), self.source, "candidates")

    def grid(self, text: str) -> list[int | float]:
        """Return the grid points that a text names."""
        return public_lists.points(self._text("grid", text), "grid")


def _query(table: dict[str, Any], lists: Lists) -> Query:
    """Return the query: which groups are answered, and how much of a person counts."""
    from ... import PrivateGroups, Query, product

    where, groups = "query", table.get("groups")
    _check_keys(where, table, [*inspect.signature(Query).parameters, *OF_PRIVATE])
    if not isinstance(table.get("by", ""), (str, list)):
        raise _mistake(where, "by must be a column or a list of columns")
    if groups == FROM_DATA:
        raise _mistake(
            where,
            f"groups must be a public list, not {FROM_DATA}: which groups the data have is private",
        )
    if "by" in table and not isinstance(groups, (str, list, dict)):
        raise _mistake(
            where,
            "groups must be the public list of groups: a list, a table with a "
            "list for each column of by, or a file with these columns",
        )

    private = {key: value for key, value in table.items() if key in OF_PRIVATE}
    if private and groups != public_lists.PRIVATE:
        raise _mistake(where, f'{" and ".join(private)} must stand with groups = "private"')
    table = {key: value for key, value in table.items() if key not in OF_PRIVATE}

    def checked() -> Query:
        if groups == public_lists.PRIVATE:
            if "delta" not in private:
                raise UserMistake('groups = "private" needs delta, such as 1e-8')
            which = PrivateGroups(private["delta"], private.get("groups_epsilon"))
            return Query(**{**table, "groups": which})
        if isinstance(groups, str) and "by" in table:
            return Query(**{**table, "groups": lists.groups(groups, table["by"])})
        if isinstance(groups, dict):
            return Query(**{**table, "groups": product(**groups)})
        if isinstance(groups, list):
            keys = [tuple(group) if isinstance(group, list) else group for group in groups]
            return Query(**{**table, "groups": keys})
        return Query(**table)

    query = _attempt(where, checked)
    if query.groups is not None and not query.groups.size:
        raise _mistake(where, "groups must name a group or more")
    return query


def _answer(
    name: str, table: object, query: Query, lists: Lists
) -> tuple[tuple[GroupedMechanism, str], str]:
    """Return a mechanism with its column, and the treatment of missing records."""
    from ...query.calls.answers import answers_of

    where = f"answers.{name}"
    if not isinstance(table, dict):
        raise _mistake(where, "must be a table")
    word = table.get("mechanism")
    if not isinstance(word, str) or word not in MECHANISMS:
        hint = did_you_mean(word, MECHANISMS) if isinstance(word, str) else ""
        raise _mistake(where, f"mechanism must be one of {', '.join(MECHANISMS)}{hint}")
    row, settings = MECHANISMS[word]
    build = row.kind
    parameters = dict(inspect.signature(build).parameters)
    parameters.pop("mechanism", None)  # the word implies it
    needed = [key for key, parameter in parameters.items() if parameter.default is parameter.empty]
    if "candidates" in table and "candidates" not in parameters:
        raise _mistake(where, f"{word} has no candidates: did you mean 'most-common'?")
    if "count" not in parameters and isinstance(table.get("q"), list):
        raise _mistake(where, f"{word} has no list q: did you mean 'quantiles'?")
    _check_keys(where, table, [*OF_ANSWERS, *parameters], ["column", *needed])
    if table.get("candidates") == FROM_DATA:
        raise _mistake(
            where,
            f"candidates must be a public list, not {FROM_DATA}: which of them "
            "the data have is private",
        )
    arguments = {key: value for key, value in table.items() if key in parameters}
    column, nan = table["column"], table.get("nan", "raise")

    def checked() -> GroupedMechanism:
        if isinstance(arguments.get("candidates"), str):
            arguments["candidates"] = lists.candidates(arguments["candidates"], column)
        if isinstance(arguments.get("grid"), str):
            arguments["grid"] = lists.grid(arguments["grid"])
        elif isinstance(arguments.get("grid"), dict):
            arguments["grid"] = of_table(arguments["grid"])
        if "q" in arguments:
            arguments["q"] = _exact(arguments["q"])
        mechanism: GroupedMechanism = build(**arguments, **settings)
        answers_of({name: (mechanism, column)}, query.by, {name: nan})
        mechanism._kind(released=True)  # refuses candidates that no column can have
        return mechanism

    return (_attempt(where, checked), column), nan


def _exact(q: Any) -> Any:
    """Return quantiles as they are written; a fraction such as "1/3" is text."""
    if isinstance(q, list):
        return [_exact(one) for one in q]
    try:
        return values.quantile(q) if isinstance(q, str) else q
    except values.Refused as refused:
        raise UserMistake(f"q {refused}") from None


def _check_keys(
    where: str, table: dict[str, Any], known: Iterable[str], needed: Iterable[str] = ()
) -> None:
    """Refuse keys that a table cannot have, and a table that lacks a needed key."""
    for key in table:
        if key not in known:
            hint = did_you_mean(key, known) or f"; there are {', '.join(known)}"
            raise _mistake(where, f"unknown key {key!r}{hint}")
    for key in needed:
        if key not in table:
            raise _mistake(where, f"{key} is missing")


def _attempt(where: str, make: Callable[[], T]) -> T:
    """Return what `make` returns; add the table's name to its refusal."""
    from ...errors import FastexpError

    try:
        return make()
    except UserMistake as mistake:
        raise _mistake(where, str(mistake)) from None
    except FastexpError as error:
        raise _mistake(where, in_terms(str(error), publication=True)) from None


def _mistake(where: str, text: str) -> UserMistake:
    return UserMistake(f"[{where}] {text}" if where else text)
