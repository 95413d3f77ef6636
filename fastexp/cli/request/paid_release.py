"""The release of a call: read its key, charge it, read its file once, draw answers as columns."""

from __future__ import annotations

import os
import shlex
import stat
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..._parameters.descriptions import parameters
from ..._parameters.text import printable
from ...errors import OutputError, PrivacyWarning
from ...query.calls.answers import answers_of
from ...query.calls.appearance import visible
from ...query.calls.execute import execute
from ...query.calls.verbs import ReleaseCall, questions_of
from ...query.output.output_file import holds, output_of, repeated, values_of
from ..terminal.errors import UserMistake, reason_of
from ..terminal.printing import note
from .input_file import Columns, open_rows
from .payment import Payment

if TYPE_CHECKING:
    from ..._randomness.release_key import ReleaseKey
    from ...privacy import Guarantee
    from ...query.calls.scope import Check, Draw
    from ...query.engines.frame import Column
    from .input_file import PublicCall

LONGEST_KEY = 1 << 12  # bytes that are read of a key file
OTHERS = stat.S_IRWXG | stat.S_IRWXO  # permissions of other users


class PaidRelease(ReleaseCall):
    """The release of a call: what it promises and costs, and then its answers.

    The budget, the key and the place of the output are examined at once; the source is not.
    `output_exists`: whether the output file had exactly these answers already, and was left as is.
    """

    output: str | None
    payment: Payment

    def __init__(self, call: PublicCall) -> None:
        self.call = call
        has_delta = call.query.private is not None
        payment = Payment(call.budget, call.label, call.note, has_delta=has_delta)
        self.payment, self.output = payment, call.output
        output = output_of(call.output, call.force, call.source.path, payment.budget, call.label)
        key = None if call.key is None or payment.has_stored_answer else read_key(call.key)
        if output is not None:
            output = output._replace(quotes_formulas=call.quotes_formulas)
        self._output = output
        self.output_exists: bool = False
        answers = answers_of(call.answers, call.query.by, call.nan, expand=True)
        place = call.origin or str(Path(call.source.path).absolute())
        origin = "file", place, call.source.delimiter or ""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PrivacyWarning)  # the command line has its own words
            super().__init__(
                call.query,
                answers,
                key,
                call.label,
                self.payment.budget,
                call.threads,
                call.note,
                origin,
            )

    @property
    def promise(self) -> Guarantee:
        """The guarantee of the whole call, under the budget's relation if there is a budget."""
        return self.payment.promise(questions_of(self.query, self.answers))

    @property
    def breaks_promise(self) -> bool:
        """Whether a list was taken from the data, so that nothing is promised."""
        query = self.query
        from_data = bool(query.by) and query.groups is None and query.private is None
        return from_data or self.call.candidates_from_data

    @property
    def epsilon_of_row(self) -> float:
        """The cost of one row of a person: the sum of the epsilons of the answers."""
        return sum(answer.mechanism.guarantee.epsilon or 0.0 for answer in visible(self.answers))

    @property
    def folders(self) -> list[str]:
        """The folder of the output file, if there is one."""
        return [] if self._output is None else [str(Path(self._output.file).parent)]

    def answer_facts(self) -> dict[str, dict[str, Any]]:
        """Return the public parameters of each answer, for ``--json``."""
        nan = self.call.nan
        return {
            name: {**parameters(mechanism), "column": column, "nan": nan[name]}
            for name, (mechanism, column) in self.call.answers.items()
        }

    def remarks(self) -> list[str]:
        """Return remarks on a release, for after its answers are printed."""
        texts = []
        if self.call.key is not None:
            texts.append("the same key, label and records give the same answers")
        if self.output is not None:
            same = f"{self.output} has these answers already"
            texts.append(same if self.output_exists else f"written: {self.output}")
        return texts

    def charge_and_draw(self, draw: Draw, check: Check) -> list[Any]:
        """Return the answers of `draw`, charged before a row is read, or those of the ledger."""
        no_retry = self.query.private is not None
        answers: list[Any] = self.payment.answers(self.question, draw, check, no_retry=no_retry)
        return answers

    def columns(self) -> list[Column]:
        """Return the columns of groups and of values of answers; write them to the output, too."""
        call, output = self.call, self._output
        columns: list[Column]
        try:
            if not self.payment.has_stored_answer:
                with open_rows(call.source, call.memory, call.threads, call.temp) as frame:
                    columns = execute(self, frame, output)
            else:
                unread: Any = Columns()
                columns = execute(self, unread)
                self.output_exists = output is not None and repeated(columns, output)
        except OutputError as error:
            if error.answers is None:
                raise
            columns = error.answers  # the budget is charged for them
            if output is None or not holds(output, columns):
                self.payment.rescue(lambda: {"rows": rows_of(columns)}, self.folders)
                raise
            self.output_exists = True  # an equal call wrote it at the same time
        return columns


def rows_of(columns: Sequence[Column]) -> list[dict[str, Any]]:
    """Return answers as dicts of plain values, one for each group."""
    names = [column.name for column in columns]
    cells = [values_of(column) for column in columns]
    return [dict(zip(names, row, strict=True)) for row in zip(*cells, strict=True)]


def read_key(file: str) -> ReleaseKey:
    """Return the key in a file, or in stdin for ``-``; warn if others can read it."""
    from ... import FastexpError, ReleaseKey

    if file == "-" and sys.stdin is None:
        raise UserMistake("--key is -, but there is no stdin")
    try:
        with sys.stdin.buffer if file == "-" else Path(file).open("rb") as raw:
            mode, content = os.fstat(raw.fileno()).st_mode, raw.read(LONGEST_KEY)
    except (OSError, ValueError) as error:
        is_missing = isinstance(error, FileNotFoundError)
        hint = f"; make a key with: fastexp key {printable(shlex.quote(file))}" * is_missing
        raise UserMistake(f"cannot read {file!r}: {reason_of(error)}{hint}") from None
    try:
        key = ReleaseKey.restore(content.decode("ascii"))
    except (FastexpError, UnicodeDecodeError):
        key = None
    if key is None:
        raise UserMistake(f"--key {file!r} holds no release key; make one with: fastexp key FILE")
    if os.name == "posix" and stat.S_ISREG(mode) and mode & OTHERS:
        quoted = printable(shlex.quote(file))
        note(f"WARNING: others can read {file!r}, which is a secret: chmod 600 {quoted}")
    return key
