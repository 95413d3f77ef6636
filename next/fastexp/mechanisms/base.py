"""The verbs of all mechanisms."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from ..data.segments import Segments
from ..draws.words import SYSTEM, seeds_of
from ..errors import ParameterTypeError
from ..parameters import checks
from ..privacy.guarantee import Guarantee
from ..types import Missing, Words


class Mechanism(ABC):
    """A mechanism: public parameters, and a promise for each release.

    A subclass is a frozen dataclass. It states what it reads, how it draws and what it answers.
    """

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

    @abstractmethod
    def _answer(self, drawn: Any) -> Any:
        """Return what a release answers for drawn indices."""

    def _simulated(self, drawn: Any) -> Any:
        """Return what a simulation returns for drawn indices."""
        return self._answer(drawn)

    def release(self, data: Any, *, nan: Missing = "raise") -> Any:
        """Release one private answer, using the operating system's randomness.

        The draw is exact: integers and lazily drawn bits decide it, so the law of the answer is
        that of the mechanism. There is no seed and no state: forks, threads, copies and pickles
        never repeat a draw.

        Parameters
        ----------
        data : array_like
            What the mechanism takes: utilities of shape (k,), or records of shape (n,).
        nan : {"raise", "drop", "lower", "upper"}
            For missing records (NaN, None, masked) of mechanisms of numbers: they are refused, left
            out, or read as the lower or the upper bound. Whether "raise" raises depends on the
            data, and no guarantee covers it; nor does one cover "drop" if `neighbors` is "replace",
            as the number of records then changes.

        Returns
        -------
        object
            One candidate (its index if there are no candidates), or one grid point.

        Raises
        ------
        ParameterError, ParameterTypeError
            If the form of the data is wrong.
        InvalidUtilities, InvalidRecords, ScoreError
            If a utility is not finite, a record is missing, or the score fails.
        RandomnessError, RoundingModeError
            If the system gives no randomness, or the processor does not round to nearest.

        Notes
        -----
        **Privacy**: each call costs `guarantee`: two releases of the same data cost it twice.

        **Timing**: there is no promise of constant time.
        """
        checks.arithmetic()
        segments = self._read(data, nan)
        if segments.rows is not None:
            raise ParameterTypeError("data must have one dimension: a release answers once")
        return self._answer(self._draw(segments, SYSTEM, None))

    def sample(
        self,
        data: Any,
        size: int | None = None,
        *,
        nan: Missing = "raise",
        rng: Any = None,
        streams: Any = None,
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

        Returns
        -------
        int, float or ndarray, shape (size,), (rows,) or (rows, size)
            Indices of candidates, or grid points. The bytes depend on data, seed, streams and size
            alone, not on the CPU or the data type of equal numbers.

        Raises
        ------
        ParameterError, ParameterTypeError, InvalidUtilities, InvalidRecords, ScoreError
            As for `release`, and for `size`, `rng` and `streams`.
        """
        checks.arithmetic()
        draws = None if size is None else checks.whole("size", size, 1, checks.MOST_SIZE)
        segments = self._read(data, nan)
        rows = 1 if segments.rows is None else segments.rows
        return self._simulated(self._draw(segments, seeds_of(rng, streams, rows), draws))
