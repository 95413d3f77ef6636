"""``fastexp select`` over utilities: those of a file (``--utilities``), or counts for top-k."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._intake import number_columns
from ..._keys.group_lists import listed_keys
from ..._keys.key_columns import joined, read
from ..._parameters.descriptions import parameters
from ...budget.question import Question
from ...grouped.request import FROM_DATA
from ...mechanisms.table import TABLE
from ...query.calls.frame_columns import CountCall
from ...query.engines.frame import Column, ColumnRead, Frame
from ..options.values import written
from ..terminal.errors import UserMistake
from . import mechanism_options, public_lists
from .from_options import WHY_PUBLIC, check, option
from .input_file import InputFile, open_rows
from .payment import Payment

if TYPE_CHECKING:
    from ..._typing import AnyArray, Neighbors
    from ...mechanisms._finite import UtilityMechanism
    from ...privacy import Guarantee

OF_QUERIES = ("by", "groups", "person", "max_groups", "max_rows", "membership", "key", "output")
OF_COUNTS = ("column", "candidates", "neighbors")
# Larger utilities would be rounded by more than a sensitivity allows for.
MAX_UTILITY = 2.0**63


@dataclass(frozen=True)
class Scores:
    """Candidates with utilities."""

    candidates: tuple[Any, ...]
    sensitivity: float
    monotonic: bool
    read: Callable[[], AnyArray]  # returns the utilities; called after the charge
    check: Callable[[], None] = lambda: None  # refuses a wrong file; called before the charge
    neighbors: Neighbors | None = None  # the relation of the sensitivity; None: not stated


def uses_scores(options: Namespace) -> bool:
    """Whether the mechanism selects by utilities, and does not count records by itself."""
    return bool(options.utilities) or not TABLE[options.mechanism].counts


def frame_of(options: Namespace) -> AbstractContextManager[Frame]:
    """Check the options of a command, and return the rows of its file."""
    of_counts = "neighbors" in TABLE[options.mechanism].parameters  # its utilities are counts, too
    is_general = options.utilities and not of_counts
    which = "--utilities" if is_general else f"--mechanism {options.mechanism}"
    other = (*OF_COUNTS[:2], "monotonic") if of_counts else OF_COUNTS
    for name in OF_QUERIES + (other if options.utilities else ()):
        if getattr(options, name) not in (None, False):
            raise UserMistake(f"{option(name)} does not go with {which}")
    if options.accuracy:
        raise UserMistake(f"--accuracy does not go with {which}: --law shows the expected loss")
    if options.candidates == FROM_DATA:
        raise UserMistake(f"--candidates from-data does not go with {which}")
    check(options)
    source = InputFile(options.file, options.delimiter)
    return open_rows(source, options.memory, 1, options.temp)


def scores_of(options: Namespace, frame: Frame) -> tuple[UtilityMechanism, Scores]:
    """Return the mechanism of a command, and the candidates with their utilities."""
    scores = scores_in(frame, options)
    stated = {name: getattr(scores, name) for name in ("candidates", "sensitivity", "monotonic")}
    build = mechanism_options.by_word(options.mechanism, options, stated)

    def promise(mechanism: UtilityMechanism, neighbors: Neighbors | None) -> Guarantee:
        return Question(mechanism, stated=scores.neighbors).promise(neighbors)

    return mechanism_options.with_epsilon(options, build, promise), scores


def scores_in(frame: Frame, options: Namespace) -> Scores:
    """Return the candidates with their utilities from a file, or with their counts of records."""
    if options.utilities and options.sensitivity is None:
        raise UserMistake(
            "--utilities needs --sensitivity: the most that one record changes the utility of any "
            "one candidate"
        )
    if not (options.utilities or options.candidates):
        raise UserMistake(WHY_PUBLIC)
    return _of_file(frame, options) if options.utilities else _counts(frame, options)


def _of_file(frame: Frame, options: Namespace) -> Scores:
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
    has_gaps = False
    uses = [ColumnRead(names[0], "text"), ColumnRead(names[1], "numbers")]
    for texts, cells in frame.parts(uses):
        labels.append(read(texts, "--utilities"))
        values, missing = number_columns.read(cells, "--utilities") or (np.zeros(0), None)
        has_gaps = has_gaps or (missing is not None and bool(missing.any()))
        utilities.append(values)
    candidates = listed_keys(joined(labels, "--utilities"), "--utilities").labels()
    if not candidates:
        raise UserMistake(f"--utilities: {options.file!r} has no candidates")

    def checked() -> AnyArray:  # after the charge, as a refusal may depend on the data
        whole = np.concatenate(utilities)
        if has_gaps:
            raise UserMistake("--utilities: each candidate must have a utility")
        if (np.isfinite(whole) & (np.abs(whole.astype(np.float64)) >= MAX_UTILITY)).any():
            raise UserMistake("--utilities: numbers must be below 2**63 in magnitude")
        if np.isfinite(whole).all() and bool((whole == np.trunc(whole)).all()):
            return whole.astype(np.int64)  # they may be counts: a file of text has no types
        return whole

    return Scores(tuple(candidates), options.sensitivity, options.monotonic, checked)


def _counts(frame: Frame, options: Namespace) -> Scores:
    import fastexp as fx

    neighbors: Neighbors = options.neighbors or "add-remove"
    source = InputFile(options.file, options.delimiter)
    candidates = public_lists.candidates(options.candidates, options.column, source)
    counts = CountCall(fx.Query(), fx.MostCommon(1.0, candidates), options.column, frame)
    # Counts are monotonic under add-remove only: replacing a record changes two of them.
    monotonic = neighbors == "add-remove"
    return Scores(candidates, 1.0, monotonic, counts.read, counts.check, neighbors)


class ScoreRelease:
    """The release of a selection by utilities: promise and cost, and then the candidates.

    It has the interface of `PaidRelease`.
    """

    folders: list[str]
    payment: Payment

    output = None
    breaks_promise = False

    def __init__(
        self, options: Namespace, payment: Payment, mechanism: UtilityMechanism, scores: Scores
    ) -> None:
        from ... import Query

        self.query, self.payment, self.folders = Query(), payment, list[str]()
        self._mechanism, self._scores = mechanism, scores
        path = str(Path(options.file).absolute())
        form = "scores", path, options.column, options.delimiter
        column = options.column or ""
        self._question = Question(mechanism, form=form, column=column, stated=scores.neighbors)

    @property
    def promise(self) -> Guarantee:
        """The guarantee of the selection, under the budget's relation if there is a budget."""
        return self.payment.promise(self._question)

    @property
    def epsilon_of_row(self) -> float:
        """The cost of one row of a person."""
        return self._mechanism.guarantee.epsilon or 0.0

    def answer_facts(self) -> dict[str, dict[str, Any]]:
        """Return the public parameters of the selection, for ``--json``."""
        neighbors = self._question.guarantee.neighbors
        return {"selected": {**parameters(self._mechanism), "neighbors": neighbors}}

    def remarks(self) -> list[str]:
        """Return no remarks: the candidates are only printed."""
        return []

    def columns(self) -> list[Column]:
        """Return the selected candidates, in order."""

        def draw() -> Any:
            return self._mechanism.release(self._scores.read())

        answer = self.payment.answers(self._question, draw, self._scores.check)
        selected = list(answer) if isinstance(answer, (list, tuple)) else [answer]
        return [Column("selected", "text", selected)]
