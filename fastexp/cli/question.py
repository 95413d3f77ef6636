"""Options to a mechanism and the data that it is asked about."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from . import mechanisms, public_list, reading
from .budget import check_budget
from .errors import UserMistake
from .output import note
from .share import mechanism_of

WHY_PUBLIC = """\
--candidates is needed: the list to select from, chosen without looking at FILE
why:   a list made from the data shows that each value on it occurs, so that somebody with
       a rare one took part, whatever epsilon is
do:    take it from the form, code book or standard behind the data, as in
       --candidates "yes,no,no answer"; candidates that nobody has do no harm
else:  for data that is public anyway there is --candidates from-data"""
FROM_DATA = """\
WARNING: the candidates were taken from the file: that a value occurs at all is not protected,
WARNING: so the output does not keep the promise of epsilon. Use it for public data only."""
WORDS = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class Question:
    """A mechanism, its data and the names under which its candidates are printed."""

    mechanism: Any
    data: Any
    candidates: tuple[str, ...]
    from_data: bool = False
    several: int | None = None  # places of top-k
    name: str = "exponential"


def ask(options: Namespace) -> Question:
    """The question with its data; `asked` at once."""
    question: Question
    *_, question = asked(options)[1]
    return question


def asked(options: Namespace) -> tuple[Question, Iterator[Any]]:
    """Check the options against each other, then read the file.

    Parameters
    ----------
    options : Namespace
        Of the command ``select``.

    Returns
    -------
    tuple of (Question, iterator)
        The question without data, for those who may not see them; None once the file is open
        and has the column, then the question with its data. (Of utilities, and where the
        candidates are taken from the data, all is read for the former.)

    Raises
    ------
    UserMistake
        If options do not go together or the file is not as it must be.
    """
    check(options)
    if not options.utilities and not options.candidates_from_data:
        listed = candidates(options)
        made = mechanism_of(options, lambda: mechanisms.counting(options, listed))
        public = _named(options, made, None)
        return public, _counted(options, public)
    whole = _scored(options) if options.utilities else _from_data(options)
    return replace(whole, data=None), iter([None, whole])


def _named(options: Namespace, made: Any, data: Any) -> Question:
    labels, unsafe = tuple(map(str, made.candidates)), options.candidates_from_data
    return Question(made, data, labels, unsafe, options.k, options.mechanism)


def check(options: Namespace) -> None:
    """Refuse options that do not go together.

    Parameters
    ----------
    options : Namespace
        Of the command ``select``.

    Raises
    ------
    UserMistake
    """
    if options.draws is None:
        for name in ("seed", "plot"):
            if getattr(options, name) is not None:
                raise UserMistake(f"--{name} belongs to --draws")
    mechanisms.check(options)
    check_budget(options)
    if options.budget is not None and options.candidates_from_data:
        raise UserMistake(
            "--budget does not go with --candidates from-data, which keeps no promise"
        )
    if options.utilities:
        _refuse(options, "does not go with --utilities", "column", "candidates", "neighbors")
        _refuse(options, "does not go with --utilities", "candidates_from_data")
        if options.sensitivity is None:
            raise UserMistake(
                "--utilities needs --sensitivity: the most that one record changes the utility "
                "of any one candidate"
            )
        return
    _refuse(options, "is for --utilities (counts have sensitivity 1)", "sensitivity", "monotonic")
    if options.column is None:
        raise UserMistake("--column is needed: the column of FILE whose values are counted")
    if options.candidates is None and not options.candidates_from_data:
        raise UserMistake(WHY_PUBLIC)
    if options.candidates is not None and options.candidates_from_data:
        raise UserMistake("--candidates does not go with --candidates from-data")


def _refuse(options: Namespace, why: str, *names: str) -> None:
    for name in names:
        if getattr(options, name) not in (None, False):
            raise UserMistake(f"--{name.replace('_', '-')} {why}")


def _scored(options: Namespace) -> Question:
    import numpy as np

    pairs = reading.pairs(options.file, options.delimiter)
    how = {"sensitivity": options.sensitivity, "monotonic": options.monotonic}
    made = mechanism_of(options, lambda: mechanisms.scoring(options, pairs.candidates, **how))
    return _named(options, made, np.array(pairs.utilities))


def _from_data(options: Namespace) -> Question:
    found = reading.records(options.file, options.column, options.delimiter)
    note(FROM_DATA)
    listed = _occurring(found.values)
    made = mechanism_of(options, lambda: mechanisms.counting(options, listed))
    return _named(options, made, found.values)


def _counted(options: Namespace, public: Question) -> Iterator[Any]:
    """None once the file is open, then the question with its data."""
    listed = public.mechanism.candidates
    if options.file.lower().endswith(reading.PARQUET):
        from .grouped_parquet import LABELS, Parquet

        (kind,) = Parquet(options.file, [options.column]).kinds
        for label in listed:
            as_column(label, LABELS.get(kind, "text"))  # refused before a record is read
    for found in reading.steps(options.file, options.column, options.delimiter):
        if found is None:
            yield None
            continue
        typed = tuple(as_column(label, found.kind) for label in listed)
        made = public.mechanism if typed == listed else mechanisms.counting(options, typed)
        yield replace(public, mechanism=made, data=found.values)


def candidates(options: Namespace) -> tuple[Any, ...]:
    """The public list: texts as they are written, or values of Parquet."""
    text, where = options.candidates, (options.delimiter, options.column, options.file)
    return tuple(public_list.listed(public_list.CANDIDATES, text, *where).labels)


def _occurring(values: list[Any]) -> tuple[Any, ...]:
    """The distinct values, sorted; without gaps (empty, null or NaN)."""
    distinct = sorted({v for v in values if v is not None and v != "" and v == v})
    if not distinct:
        raise UserMistake("the column holds no values to take candidates from")
    return tuple(distinct)


def as_column(label: Any, kind: str) -> Any:
    """A candidate as the values of a column of this kind are.

    Parameters
    ----------
    label : object
        Text as it is written, or a value of a Parquet list.
    kind : {"text", "numbers", "booleans"}
    """
    if kind == "booleans":
        if str(label).lower() not in WORDS:
            raise UserMistake("the column holds booleans: the candidates are true and false")
        return WORDS[str(label).lower()]
    if isinstance(label, str):
        if kind == "text":
            return label
        for number in (int, float):
            with suppress(ValueError):
                return number(label)
    elif isinstance(label, (int, float)) and not isinstance(label, bool):
        return str(label) if kind == "text" else label
    raise UserMistake(f"the column holds {kind}, but the candidate {label!r} is none")
