"""``fastexp select`` over utilities: those of a file (``--utilities``), or counts for top-k."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._intake import number_columns
from ..._keys.group_lists import listed_keys
from ..._keys.key_columns import read
from ...budget.question import Question
from ...pictures.words import parameters
from ...query.calls.counts import CountCall
from ...query.engines.frame import Frame, Use
from ..ask import lists, mechanisms
from ..ask.asked import check, option
from ..ask.payment import Payment
from ..ask.source import Source, opened
from ..errors import UserMistake
from ..options.values import written
from ..tell import compiling, tables, words

if TYPE_CHECKING:
    from ..._typing import AnyArray, Neighbors
    from ...privacy import Guarantee

OF_QUERIES = ("by", "groups", "person", "max_groups", "max_rows", "membership", "key", "output")
MOST = 2.0**63  # of utilities: larger ones would be rounded by more than a sensitivity allows for
OF_COUNTS = ("column", "candidates", "neighbors")


@dataclass(frozen=True)
class Scored:
    """What is asked about candidates with utilities.

    Attributes
    ----------
    candidates : tuple
    sensitivity : float
    monotonic : bool
    read : callable
        The utilities, read after the charge.
    check : callable
        Refuses a file that cannot have them, before it.
    neighbors : {"add-remove", "replace"} or None
        The relation that the sensitivity is for; None: that which its user had in mind.
    """

    candidates: tuple[Any, ...]
    sensitivity: float
    monotonic: bool
    read: Callable[[], AnyArray]
    check: Callable[[], None] = lambda: None
    neighbors: Neighbors | None = None


def is_asked(options: Namespace) -> bool:
    """Whether utilities decide, and not by itself how many records have a value."""
    return bool(options.utilities) or options.mechanism == mechanisms.TOP_K


def select(options: Namespace) -> None:
    """Select by utilities.

    Parameters
    ----------
    options : Namespace
        Of the command ``select``.
    """
    _check(options)
    payment = Payment(options.budget, options.label, options.note)
    source = Source(options.file, options.delimiter)
    with opened(source, options.memory, 1, options.temp) as frame:
        scored = _of_file(frame, options) if options.utilities else _counted(frame, options)
        build = mechanisms.of_scores(
            options, scored.candidates, scored.sensitivity, monotonic=scored.monotonic
        )

        def promise(mechanism: Any, relation: Any) -> Guarantee:
            return Question(mechanism, stated=scored.neighbors).promise(relation)

        mechanism = mechanisms.with_epsilon(options, build, promise)
        if options.law or options.draws is not None:
            from . import known

            if not options.quiet:
                compiling.announce()
            known.tell_scores(mechanism, scored.read(), options)
        else:
            _release(options, payment, mechanism, scored)


def _release(options: Namespace, payment: Payment, mechanism: Any, scored: Scored) -> None:
    import fastexp as fx

    form = "scores", str(Path(options.file).absolute()), options.column, options.delimiter
    column = options.column or ""
    question = Question(mechanism, form=form, column=column, stated=scored.neighbors)
    promise, query = payment.promise(question), fx.Query()
    if not options.quiet:
        tables.note(words.promised(promise, query, mechanism.guarantee.epsilon))
        if not payment.is_settled:
            compiling.announce()
    answer = payment.obtained(question, lambda: mechanism.release(scored.read()), scored.check)
    selected = list(answer) if isinstance(answer, (list, tuple)) else [answer]

    stated = question.guarantee.neighbors

    def facts() -> dict[str, Any]:
        return {
            "kind": "release",
            "private": True,
            "answers": {"selected": {**parameters(mechanism), "neighbors": stated}},
            **words.query_facts(query),
            "promised": words.promise_facts(promise),
            "budget": payment.facts(),
            "output": None,
            "rows": [{"selected": candidate} for candidate in selected],
        }

    with payment.shown(facts):
        if options.json:
            tables.as_json(facts())
        else:
            for candidate in selected:
                tables.line(str(candidate))
    if not options.quiet and (line := payment.words()):
        tables.note(line)


def _of_file(frame: Frame, options: Namespace) -> Scored:
    """Candidates, which are public, with their utilities."""
    names = frame.names() or []
    if len(names) != 2:
        raise UserMistake(
            f"--utilities: {options.file!r} must have two columns, candidate and utility (is "
            "--delimiter right?)"
        )
    if written(names[1]) is not None:
        raise UserMistake(
            f"--utilities: the first row of {options.file!r} must be a header, such as "
            "candidate,utility: it would be skipped, and it seems to hold a utility"
        )
    labels: list[Any] = []
    utilities: list[AnyArray] = []
    gaps = False
    for candidates, scores in frame.parts(
        [Use(names[0], "text"), Use(names[1], "numbers")], [], None
    ):
        labels += read(candidates, "--utilities")
        values, missing = number_columns.read(scores, "--utilities") or (np.zeros(0), None)
        gaps = gaps or (missing is not None and bool(missing.any()))
        utilities.append(values)
    listed = listed_keys(labels, "--utilities").labels()
    if not listed:
        raise UserMistake(f"--utilities: {options.file!r} has no candidates")

    def checked() -> AnyArray:  # after the charge, as what is refused may tell of the data
        whole = np.concatenate(utilities)
        if gaps:
            raise UserMistake("--utilities: each candidate must have a utility")
        if (np.isfinite(whole) & (np.abs(whole.astype(np.float64)) >= MOST)).any():
            raise UserMistake(
                "--utilities: integers must fit into 64 bits, and decimals be as small"
            )
        return whole

    return Scored(tuple(listed), options.sensitivity, bool(options.monotonic), checked)


def _counted(frame: Frame, options: Namespace) -> Scored:
    """Candidates of a list, with how many records have each."""
    import fastexp as fx

    relation: Neighbors = options.neighbors or "add-remove"
    source = Source(options.file, options.delimiter)
    candidates = lists.candidates(options.candidates, options.column, source)
    counts = CountCall(fx.Query(), fx.MostCommon(1.0, candidates), options.column, frame)
    # Counts are monotone under add-remove only: replacing a record moves two of them.
    monotonic = relation == "add-remove"
    return Scored(tuple(candidates), 1.0, monotonic, counts.read, counts.check, relation)


def _check(options: Namespace) -> None:
    """Refuse options that do not go together."""
    which = "--utilities" if options.utilities else "--mechanism top-k"
    refused = OF_QUERIES + (OF_COUNTS if options.utilities else ())
    for name in refused:
        if getattr(options, name) not in (None, False):
            raise UserMistake(f"{option(name)} does not go with {which}")
    if options.accuracy:
        raise UserMistake(f"--accuracy does not go with {which}: --law tells the expected loss")
    if options.utilities and options.sensitivity is None:
        raise UserMistake(
            "--utilities needs --sensitivity: the most that one record changes the utility of any "
            "one candidate"
        )
    if options.candidates == lists.FROM_DATA:
        raise UserMistake(f"--candidates from-data does not go with {which}")
    if options.mechanism == mechanisms.TOP_K and options.k is None:
        raise UserMistake("--mechanism top-k needs --k: how many candidates are selected")
    check(options)
