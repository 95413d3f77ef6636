"""Mechanisms with finitely many candidates: release, sample, law."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, Unpack, overload

import numpy as np

from .._compiler.rounding import check_rounding
from .._intake import utilities
from .._parameters import validate
from .._randomness.sampling import Sampling
from .._selection import draw as _draw
from .._selection import permute_flip
from .._selection.rows import Rows
from .._selection.weighting import Weighting
from .._typing import (
    ABSENT,
    ArrayLike,
    Candidates,
    FloatArray,
    IntArray,
    Membership,
    Method,
    NaN,
    RNGLike,
    SeedLike,
    WordArray,
)
from ..errors import ParameterError, ParameterTypeError
from ..grouped.call_options import DEFAULTS, CallOptions
from ..privacy import selection_rate
from ..utilities import counts, has_labels
from .base import Mechanism

if TYPE_CHECKING:
    from ..budget.budget import Budget
    from ..budget.question import Question
    from ..laws.accuracy import Measure
    from ..laws.finite import FiniteLaw
    from ._options import UtilitySimulation

ASSUMES = (
    "sensitivity bounds how much one record changes the utility of any one candidate, in the "
    "numbers as they are represented"
)
MONOTONIC = "; one record moves no two utilities in opposite directions (monotonic)"


# Draws from utilities, their kind and their weighting.
Simulator: TypeAlias = Callable[[WordArray, int, Weighting, Sampling], int | IntArray]


class FiniteMechanism(Mechanism):
    """A mechanism with finitely many candidates. Subclasses define how data become utilities.

    If its range is bounded, it is the exponential mechanism, otherwise permute-and-flip.
    """

    _rate: Fraction
    _measure: ClassVar[Measure] = "loss"
    _over_records: ClassVar[bool] = False  # if so, even a look at the data costs, as it may fail

    def _weigh(self, rate: Fraction) -> None:
        """Check and set the rate of the weights."""
        validate.rate(rate)
        self._set_frozen(_rate=rate)

    @cached_property
    def _weighting(self) -> Weighting:
        """The weights in the form that kernels take."""
        return Weighting(self._rate, self._base)

    @property
    def _base(self) -> FloatArray | None:
        """The public base measure; None: 1 for all candidates."""
        return None

    @property
    @abstractmethod
    def _labels(self) -> tuple[Any, ...] | None:
        """The candidates, of which a release returns one; None: it returns an index."""

    @abstractmethod
    def _utilities(self, data: object, nan: NaN) -> tuple[WordArray, int]:
        """Return the utilities of the candidates, in the form that kernels take."""

    def release(
        self,
        data: object,
        *,
        budget: Budget | None = None,
        label: str | None = None,
        threads: int = 1,
        nan: NaN = "raise",
        disjoint: bool = False,
        membership: Membership = "private",
    ) -> Any:
        """Release one private selection, or one for each row, using the system's randomness.

        The draw is exact: integers and lazily drawn bits decide it, so the law of the output *is*
        that of the mechanism. There is no seed and no state: forks, threads, copies and pickles
        never repeat a draw.

        Parameters
        ----------
        data : array_like
            Utilities of shape (k,) or (rows, k), k >= 2, or records, as the mechanism takes them.
            If the mechanism has candidates, also counts with labels: a mapping or a series, as for
            `MostCommon`; a candidate without a count has 0.
        budget, label
        threads : int
            The number of threads; 0: as many as the process may use. Faster from about 1e6
            candidates.
        nan : {"raise", "lowest"}
            What to do with NaN utilities: raise an error (which depends on the data and is outside
            the guarantee), or read them as the lowest finite number. Infinite ones always raise.
        disjoint, membership
            As for `total`: they decide what a budget is charged for a matrix. It is the number of
            rows times epsilon, unless the rows are disjoint parts of the data.

        Returns
        -------
        object
            The selected candidate; its index (int) where the mechanism has no candidates.
            For a matrix a list of candidates in the rows' order, or an array of int64.

        Raises
        ------
        ParameterTypeError, ParameterError
            If the form of the data is wrong.
        BudgetExceeded
        LabelError
        BudgetError
        InvalidUtilities, InvalidRecords, ScoreError
            If a utility is not finite, records cannot be counted, or the score fails. The budget
            has been charged, and the label is used up.
        RandomnessError

        Notes
        -----
        **Privacy**: each call costs `guarantee`: two releases of the same data cost it twice.

        **Numerics**: epsilon, sensitivity and utilities are read as the exact numbers that they
        are.

        **Timing**: there is no promise of constant time; see the mechanism and SECURITY.md.
        """
        options = DEFAULTS
        if not (
            disjoint is False
            and membership is DEFAULTS.membership
            and label is None
            and budget is None
            and threads is DEFAULTS.threads
            and nan is DEFAULTS.nan
        ):
            options = CallOptions(
                disjoint=disjoint,
                membership=membership,
                label=label,
                budget=budget,
                threads=threads,
                nan=nan,
            )
        return self._release(data, options)

    def _in_data(self, data: object) -> bool:  # noqa: ARG002  # counts with labels are
        """Whether even the form of the utilities is private, so that a look at them costs."""
        return self._over_records

    def _answered(self, data: Any, options: CallOptions) -> Any:
        if options.budget is not None:
            return self._paid(data, options)
        bits, kind = self._utilities(data, options.nan)
        if bits.shape[-1] == 1:
            _refuse_one(1)
        return self._released(bits, kind, options.threads)

    def _paid(self, data: Any, options: CallOptions) -> Any:
        """`_answered` with a budget; separate, as its closures would cost other releases 0.2 us."""
        read: Callable[[], tuple[WordArray, int]] = partial(self._utilities, data, options.nan)
        in_data = self._in_data(data)
        if not in_data and options.label is None:  # mistakes in the form cost nothing
            bits_and_kind = read()
            read, data = (lambda: bits_and_kind), bits_and_kind[0]
        rows, count = (None, None) if in_data else utilities.form(data)

        def draw() -> Any:
            bits, kind = read()
            if (bits.shape[0] if bits.ndim == 2 else None) != rows:
                raise ParameterTypeError(utilities.NOT_NUMBERS)
            return self._released(bits, kind, options.threads)

        return self._charged(options, draw, partial(_refuse_one, count), rows)

    def _released(self, bits: WordArray, kind: int, threads: int) -> Any:
        """Return a released candidate for each row."""
        chosen = self._drawn(bits, kind, threads)
        return chosen if self._labels is None else self._labelled(chosen)

    def _question(self, options: CallOptions, rows: int | None) -> Question:
        """Return the question of a release; of a matrix, with its number of rows."""
        from ..budget.question import Question

        return Question(
            self,
            1 if rows is None else rows,
            options.disjoint,
            membership=options.membership,
            form=("utilities", rows is not None, options.nan),
        )

    def _drawn(self, bits: WordArray, kind: int, threads: int) -> int | IntArray:
        """Draw once for each row, from the operating system's randomness."""
        if self._has_bounded_range:
            release = _draw.release if bits.ndim == 1 else _draw.release_rows
            return release(bits, kind, self._weighting, threads)
        if bits.ndim == 1:
            return permute_flip.release_one(bits, kind, self._weighting)
        return permute_flip.release(Rows(bits, kind, self._weighting), threads)

    def _labelled(self, chosen: int | IntArray) -> Any:
        """Turn an index into a candidate, and arrays of indices into lists of candidates."""
        labels = self._labels
        if labels is None:
            return chosen
        if isinstance(chosen, int):
            return labels[chosen]
        return [self._labelled(row) if row.ndim else labels[int(row)] for row in chosen]

    @overload
    def sample(
        self, data: object, size: None = None, **options: Unpack[UtilitySimulation]
    ) -> int | IntArray: ...
    @overload
    def sample(self, data: object, size: int, **options: Unpack[UtilitySimulation]) -> IntArray: ...
    @overload
    def sample(
        self,
        data: object,
        size: int | None = None,
        *,
        labels: Literal[True],
        **options: Unpack[UtilitySimulation],
    ) -> Any: ...
    def sample(
        self,
        data: object,
        size: int | None = None,
        *,
        rng: SeedLike | RNGLike | None = None,
        streams: ArrayLike | None = None,
        threads: int = 1,
        method: Method | None = None,
        nan: NaN = "raise",
        labels: bool = False,
    ) -> Any:
        """Draw from the law of `release`, reproducibly: a simulation.

        **This is not a release**: a seeded draw is not private, and many draws cost many times ε.

        Parameters
        ----------
        data : array_like
            Utilities of shape (k,) or (rows, k), or records, as the mechanism takes them.
        size, rng, streams, threads
        method : {None, "envelope", "gumbel"}, optional
            The kernel. The default, "envelope", is exact, and the only one of permute-and-flip.
            "gumbel" takes the largest of the utilities plus Gumbel noise, right to about 1e-15. For
            top-k "gumbel" is the default, and "envelope" is slow.
        nan : {"raise", "lowest"}
            As in `release`.
        labels : bool
            Return candidates, as `release` does, instead of their indices.

        Returns
        -------
        int or ndarray of int64, shape (size,), (rows,) or (rows, size)
            Indices of candidates; for top-k with a last axis of length k. The bytes depend only on
            data, key, stream and size, not on threads, CPU or the data type of equal integers.

        Raises
        ------
        ParameterTypeError, ParameterError, InvalidUtilities
            As in `release`, and for `size`, `rng`, `streams` and `method`.
        """
        check_rounding()
        with_labels = self._gives_labels(labels)
        bits, kind = self._utilities(data, nan)
        sampling = Sampling(size, rng, streams, threads, method)
        drawn = self._simulator()(bits, kind, self._weighting, sampling)
        return self._labelled(drawn) if with_labels else drawn

    def _gives_labels(self, labels: bool) -> bool:
        """Whether draws are returned as candidates; refuse this if there are none."""
        with_labels = validate.flag("labels", labels)
        if with_labels and self._labels is None:
            raise ParameterError("labels=True needs candidates, and this mechanism has none")
        return with_labels

    def _simulator(self) -> Simulator:
        """Return the function that draws for `sample`."""
        return _draw.simulate if self._has_bounded_range else permute_flip.simulate

    def law(self, data: object, *, nan: NaN = "raise") -> FiniteLaw:
        """Return the exact law of `release` and `sample` on this data: as private as the data.

        Parameters
        ----------
        data : array_like
            Utilities of shape (k,), or records, as the mechanism takes them.
        nan : {"raise", "lowest"}
            As in `release`.

        Returns
        -------
        FiniteLaw or TopKLaw
        """
        check_rounding()
        bits, kind = self._utilities(data, nan)
        utilities.one_row(bits)
        return self._with_maker(self._law(bits.copy(), kind))  # a copy: the array may change

    def _law(self, bits: WordArray, kind: int) -> FiniteLaw:
        from ..laws.finite import FiniteLaw, PermuteAndFlipLaw

        law = FiniteLaw if self._has_bounded_range else PermuteAndFlipLaw
        return law(bits, kind, self._weighting, self.epsilon, self._labels)


class UtilityMechanism(FiniteMechanism):
    """A mechanism that takes utilities of a stated sensitivity."""

    sensitivity: float
    monotonic: bool
    candidates: Candidates = ABSENT

    @property
    def _labels(self) -> tuple[Any, ...] | None:
        return self.candidates

    def _check(self) -> None:
        self._set_frozen(
            sensitivity=validate.sensitivity(self.sensitivity),
            monotonic=validate.flag("monotonic", self.monotonic),
        )
        super()._check()
        if self.candidates is not None:
            self._set_frozen(candidates=validate.candidates(self.candidates))
            most = len(self.candidates)
            if (k := getattr(self, "k", 1)) > most:
                raise ParameterError(f"k must be at most the number of candidates, {most}, got {k}")

    def _weigh_epsilon(self, epsilon: float | Fraction) -> None:
        """Set the rate of a selection that spends epsilon."""
        self._weigh(selection_rate(epsilon, self.sensitivity, self.monotonic))

    @property
    def _assumes(self) -> str:
        """The text of what the caller must ensure."""
        return ASSUMES + MONOTONIC * self.monotonic

    def _in_data(self, data: object) -> bool:
        return self._over_records or self._has_labels(data)

    def _has_labels(self, data: object) -> bool:
        """Whether the data are counts with labels."""
        labels = self.candidates
        return labels is not None and type(data) is not np.ndarray and has_labels(data, labels)

    def _utilities(self, data: object, nan: NaN) -> tuple[WordArray, int]:
        labels = self.candidates
        if labels is not None and self._has_labels(data):
            data = counts(data, labels)
        return utilities.utilities(data, self._size, nan)

    @property
    def _size(self) -> int | None:
        """The required number of utilities; None: two or more."""
        return None if self.candidates is None else len(self.candidates)


def _refuse_one(candidates: int | None) -> None:
    """Refuse a single candidate: the answer would be a constant."""
    if candidates == 1:
        raise ParameterError(f"utilities must be of at least two candidates: {validate.ALONE}")
