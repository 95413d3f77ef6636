"""``fastexp median``, ``quantile``, ``maximum``, ``mode``, ``price`` and ``select``.

One call gives one kind of output: a private release, or the exact law, simulated draws, or how
accurate answers are (these three are not private).
"""

from __future__ import annotations

from argparse import Namespace

from ..render import sentences, waiting
from ..render.release_report import carry_out
from ..request import score_release
from ..request.from_options import call_of, from_data
from ..request.paid_release import PaidRelease
from ..request.payment import Payment
from ..terminal.printing import note


def answer(options: Namespace) -> None:
    """Release the answer of a command, or print its law, draws or accuracy."""
    if options.command == "select" and score_release.uses_scores(options):
        _select_by_scores(options)
        return
    call = call_of(options, options.command)
    for name in from_data(options):
        note(sentences.FROM_DATA.format(what=f"the {name}"))
    hint = sentences.hint_of_step(call)
    if not _is_analysis(options):
        carry_out(PaidRelease(call), as_json=options.json, quiet=options.quiet, hint=hint)
        return
    from . import not_private

    if not options.quiet:
        if hint:
            note(hint)
        waiting.announce_compilation()
    not_private.analyse(call, options)


def _select_by_scores(options: Namespace) -> None:
    with score_release.frame_of(options) as frame:
        payment = Payment(options.budget, options.label, options.note)
        mechanism, scores = score_release.scores_of(options, frame)
        if not _is_analysis(options):
            release = score_release.ScoreRelease(options, payment, mechanism, scores)
            carry_out(release, as_json=options.json, quiet=options.quiet)
            return
        from . import not_private

        if not options.quiet:
            waiting.announce_compilation()
        not_private.analyse_scores(mechanism, scores.read(), options)


def _is_analysis(options: Namespace) -> bool:
    return bool(options.law or options.accuracy or options.draws is not None)
