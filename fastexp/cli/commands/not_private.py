"""``--law``, ``--draws`` and ``--accuracy``: output that is not private."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

import numpy as np

from ..._parameters.descriptions import candidates_of
from ...pictures import canvas
from ...query.calls.answers import answers_of
from ...query.calls.laws import AccuracyCall, accuracy_of, laws_of
from ...query.output.output_file import values_of
from ..render import law_tables
from ..render.law_facts import TAIL, LawFacts, of_one_place
from ..request.input_file import open_rows

if TYPE_CHECKING:
    from ..._typing import AnyArray
    from ...mechanisms._finite import UtilityMechanism
    from ...query.calls.laws import Laws
    from ...query.engines.frame import Column
    from ..request.input_file import PublicCall


def analyse(call: PublicCall, options: Namespace) -> None:
    """Print the law, the draws or the accuracy of a call with one answer."""
    if options.plot is not None:
        canvas.check(options.plot)
    if options.accuracy:
        columns = figures(call, options.seed)
        law_tables.accuracy(call, columns, as_json=options.json, plot=options.plot)
        return
    with open_rows(call.source, call.memory, call.threads, call.temp) as frame:
        laws = laws_of(
            call.query,
            call.answers,
            frame,
            size=options.draws,
            rng=options.seed,
            nan=dict(call.nan),
            threads=call.threads,
        )
    _show(_subject(call, laws), options)


def figures(call: PublicCall, seed: int | None = None) -> list[Column]:
    """Return how accurate the answers of a call are on its source, by `Query.accuracy`.

    `seed` decides which rows of a person count, if there are too many.
    """
    answers = answers_of(call.answers, call.query.by, call.nan)
    way = AccuracyCall(call.query, answers, TAIL, seed, call.threads)
    with open_rows(call.source, call.memory, call.threads, call.temp) as frame:
        columns: list[Column] = accuracy_of(way, frame)
    return columns


def analyse_scores(mechanism: UtilityMechanism, utilities: AnyArray, options: Namespace) -> None:
    """Print the law or the draws of a mechanism over utilities; for top-k, those of place 1."""
    if options.plot is not None:
        canvas.check(options.plot)
    law = mechanism.law(utilities)
    draws = None
    if options.draws is not None:
        indices = np.asarray(mechanism.sample(utilities, size=options.draws, rng=options.seed))
        draws = indices.reshape(1, options.draws, -1)[:, :, 0]
    subject = LawFacts(
        mechanism,
        "utility" if options.utilities else options.column,
        [of_one_place(law)],
        [None if options.utilities else utilities],
        candidates=candidates_of(mechanism),
        records=[] if options.utilities else [int(np.sum(utilities))],
        draws=draws,
    )
    _show(subject, options)


def _show(subject: LawFacts, options: Namespace) -> None:
    law_tables.show(subject, as_json=options.json, seed=options.seed, plot=options.plot)


def _subject(call: PublicCall, laws: Laws) -> LawFacts:
    ((name, (mechanism, column)),) = call.answers.items()
    cells = zip(*map(values_of, laws.groups), strict=True)
    labels = [dict(zip(call.query.by, row, strict=True)) for row in cells]
    candidates, exact, by = candidates_of(mechanism), laws.laws[name], call.query.by
    truths, records, draws = laws.truths[name], laws.records[name].tolist(), laws.draws.get(name)
    several = mechanism._entries if candidates is None else ()
    if several:  # each answer becomes a group of its own
        names = [entry for entry in several if entry != "total"]
        part, groups = "quantile" if "quantile" not in by else "entry", labels if by else [{}]
        by, labels = (*by, part), [{**label, part: q} for label in groups for q in names]
        exact = [law.marginal(j) for law in exact for j in range(len(names))]
        truths, records = [law.truth for law in exact], [n for n in records for _ in names]
        if draws is not None:
            draws = draws[..., : len(names)].swapaxes(1, 2).reshape(len(exact), -1)
    if mechanism._entries and draws is not None and candidates is not None:
        draws = draws[..., 0]
    return LawFacts(
        mechanism,
        column,
        [of_one_place(law) for law in exact],
        truths,
        grid=exact[0].grid if exact and candidates is None else None,
        candidates=candidates,
        records=records,
        by=by,
        labels=labels,
        draws=draws,
        best=exact[0]._best_utility() if exact and not several else None,
        nan=call.nan[name] if candidates is None else None,
    )
