"""The verbs of all mechanisms."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.segments import Segments, shape
from ..draws.words import SYSTEM, seeds_of, some_seeds
from ..errors import ParameterError, ParameterTypeError
from ..parameters import checks
from ..privacy.guarantee import Guarantee
from ..types import Missing, Words

if TYPE_CHECKING:
    from ..privacy.budget import Budget  # with sqlite3: at first use
    from .law import Law  # figures are loaded at first use

DISJOINT = (
    "data must have one dimension, or disjoint must be True or False: one answer for each row "
    "costs epsilon once if rows are of disjoint parts of the records, else epsilon for each row"
)


class Mechanism(ABC):
    """A mechanism: public parameters, and a promise for each release.

    A subclass is a frozen dataclass. It states what it reads, how it draws and what it answers.
    """

    _times: Any = None  # the grid (`data/times.py`), if answers are times

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """The promise of one release."""

    @abstractmethod
    def _read(self, data: Any, nan: Missing) -> Segments:
        """Return the data as draws take them."""

    @abstractmethod
    def _draw(self, data: Segments, seeds: Words, size: int | None) -> Any:
        """Return indices: an int, or int64 of shape (size,), (rows,) or (rows, size)."""

    def _draw_keys(self, data: Segments, seeds: Words, size: int | None) -> Any:  # noqa: ARG002
        """Return such indices by the method "gumbel"."""
        raise ParameterError("method must be 'envelope', got 'gumbel'")

    def _runs(self, data: Segments) -> Any:  # noqa: ARG002
        """Return the runs of the law of one data set (`laws/runs.py`)."""
        raise ParameterError(f"{type(self).__name__} has no exact law: sample shows its answers")

    def _answer(self, drawn: Any) -> Any:
        """Return what a release answers for what was drawn."""
        return drawn

    def _simulated(self, drawn: Any) -> Any:
        """Return what a simulation returns for drawn indices."""
        return self._answer(drawn)

    def _form(self, data: Any, nan: Missing) -> Segments:
        """Return data of the same public form, which for records is that of none, or refuse it."""
        return self._read(np.empty((*shape(data)[:-1], 0)), nan)

    def release(
        self,
        data: Any,
        *,
        nan: Missing = "raise",
        disjoint: bool | None = None,
        budget: Budget | None = None,
        label: str | None = None,
    ) -> Any:
        """Release one private answer, or one for each row, using the system's randomness.

        The draw is exact: integers and lazily drawn bits decide it, so the law of the answer is
        that of the mechanism. There is no seed and no state: forks, threads, copies and pickles
        never repeat a draw.

        Parameters
        ----------
        data : array_like
            What the mechanism takes: utilities of shape (k,), or records of shape (n,); or a matrix
            of one data set a row.
        nan : {"raise", "drop", "lower", "upper"}
            For missing records (NaN, None, masked) of mechanisms of numbers: they are refused, left
            out, or read as the lower or the upper bound. Whether "raise" raises depends on the
            data, and no guarantee covers it; nor does one cover "drop" if `neighbors` is "replace",
            as the number of records then changes.
        disjoint : bool
            Must be stated for a matrix: whether one record can change one row only, as it can if
            rows are of disjoint parts of the records (and, under replace, a record stays in its
            part). See **Privacy**.
        budget : Budget, optional
            It is charged before a record is read. Only a wrong public form is refused before: a
            wrong option, or the shape of a matrix.
        label : str, optional
            Public text, with `budget`: the answers are kept under it, and the same question gives
            them again at no cost, without reading the data.

        Returns
        -------
        object
            One candidate (its index if there are no candidates), or one grid point; for a matrix a
            list or an array of the rows' answers, in order.

        Raises
        ------
        ParameterError, ParameterTypeError
            If the form of the data is wrong.
        InvalidUtilities, InvalidRecords, ScoreError
            If a utility is not finite, a record is missing, or the score fails.
        RandomnessError, RoundingModeError
            If the system gives no randomness, or the processor does not round to nearest.
        BudgetExceeded, LabelError, BudgetError
            If the budget does not cover the promise, the label belongs to another question or to a
            release that failed, or the budget cannot be used. Nothing is drawn.

        Notes
        -----
        **Privacy**: each call costs `guarantee`: two releases of the same data cost it twice. All
        answers of a matrix together cost it once if they are `disjoint`, else once for each row.

        **Timing**: there is no promise of constant time.
        """
        checks.arithmetic()
        if disjoint is not None:
            checks.flag("disjoint", disjoint)
        if budget is not None or label is not None:
            return self._charged(data, nan, disjoint, budget, label)
        segments = self._read(data, nan)
        if segments.rows is not None and disjoint is None:
            raise ParameterTypeError(DISJOINT)
        return self._answer(self._draw(segments, SYSTEM, None))

    def _charged(
        self,
        data: Any,
        nan: Missing,
        disjoint: bool | None,
        budget: Budget | None,
        label: str | None,
    ) -> Any:
        """Release with a budget: charge, draw, keep; or return what was kept."""
        from ..privacy.budget import charge
        from ..privacy.question import Question

        form = self._form(data, nan)
        if form.rows is not None and disjoint is None:
            raise ParameterTypeError(DISJOINT)
        public: Any = self
        values = tuple(getattr(self, field.name) for field in fields(public) if field.init)
        parts = (nan, disjoint, form.rows, form.values.size, values)
        times = 1 if disjoint or form.rows is None else form.rows
        question = Question(type(self).__name__, self.guarantee, times, parts)
        with charge(budget, label, question) as receipt:
            if receipt.kept:
                return self._answer(receipt.answer)
            segments = self._read(data, nan)
            if segments.rows != form.rows:
                raise ParameterTypeError("data must be lists of numbers, arrays, or one data set")
            checks.arithmetic()  # after foreign code
            return self._answer(receipt.keep(self._draw(segments, SYSTEM, None)))

    def law(self, data: Any, *, nan: Missing = "raise") -> Law:
        """Return the exact law of `release`: **not private**, and for analysis only.

        Parameters
        ----------
        data : array_like
            One data set, as for `release`.
        nan : {"raise", "drop", "lower", "upper"}
            As for `release`.

        Returns
        -------
        Law
            Its probabilities, errors, losses and draws.

        Raises
        ------
        ParameterError, ParameterTypeError, InvalidUtilities, InvalidRecords, ScoreError
            As for `release`; or if the mechanism has no exact law.
        """
        from .law import Law

        checks.arithmetic()
        segments = self._read(data, nan)
        if segments.rows is not None:
            raise ParameterTypeError("data must be one data set, of one dimension")
        return Law(self, segments, self._runs(segments))

    def sample(
        self,
        data: Any,
        size: int | None = None,
        *,
        nan: Missing = "raise",
        rng: Any = None,
        streams: Any = None,
        threads: int = 1,
        method: str | None = None,
    ) -> Any:
        """Draw from the law of `release`, reproducibly: a simulation.

        **This is not a release**: a seeded draw is not private, and many draws cost many times ε.

        Parameters
        ----------
        data : array_like
            As for `release`, or a matrix of one data set a row.
        size : int, optional
            The number of draws of each row; default: one, without an axis of its own.
        nan : {"raise", "drop", "lower", "upper"}
            As for `release`.
        rng : None, int, sequence of int, SeedSequence, Generator or BitGenerator
            The seed, or a generator of `numpy.random`, which moves on.
        streams : array_like of int, shape (rows,), optional
            The name of each row's stream, in [0, 2**64); default: 0, 1, ... Rows with their names
            can be drawn in parts.
        threads : int
            At most so many threads draw the rows of a matrix; 0: as many as the process may use.
        method : {"envelope", "gumbel"}, optional
            "envelope", the default, is exact. "gumbel" draws the candidates of the greatest utility
            plus noise, in one pass without a normaliser: other draws, of probabilities that are
            right within a relative 1e-15 or so. `PermuteAndFlip` and numbers do not have it.

        Returns
        -------
        int, float or ndarray, shape (size,), (rows,) or (rows, size)
            Indices of candidates, or grid points. The bytes depend on data, seed, streams, size and
            method alone, not on threads, the CPU or the data type of equal numbers.

        Raises
        ------
        ParameterError, ParameterTypeError, InvalidUtilities, InvalidRecords, ScoreError
            As for `release`, and for the other parameters.
        """
        checks.arithmetic()
        draws = None if size is None else checks.whole("size", size, 1, checks.MOST_SIZE)
        draw = self._draw
        if method and checks.choice("method", method, ("envelope", "gumbel")) == "gumbel":
            draw = self._draw_keys
        most = 1 if threads == 1 else checks.whole("threads", threads, 0, 1 << 10)
        segments = self._read(data, nan)
        rows = 1 if segments.rows is None else segments.rows
        seeds = seeds_of(rng, streams, rows)
        most = most or len(os.sched_getaffinity(0))
        if most == 1 or rows < 2 * most or segments.offsets is not None:
            return self._simulated(draw(segments, seeds, draws))
        from concurrent.futures import ThreadPoolExecutor

        k, each = segments.values.size // rows, -(-rows // most)  # a row has its own stream

        def part(a: int) -> Any:
            some = Segments(
                segments.values[a * k :][: each * k], segments.kind, min(each, rows - a)
            )
            return draw(some, some_seeds(seeds, slice(a, a + each)), draws)

        with ThreadPoolExecutor(most) as pool:
            return self._simulated(np.concatenate(list(pool.map(part, range(0, rows, each)))))
