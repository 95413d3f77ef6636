"""Mechanisms that count records of public candidates: their verbs, also by group."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from numbers import Number
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Unpack, overload

import numpy as np

from .. import utilities
from .._intake import utilities as _data
from .._intake.record_sources import Counted, RecordSource
from .._intake.records import Records
from .._parameters import validate
from .._randomness.release_key import ReleaseKey
from .._randomness.sampling import Sampling
from .._typing import (
    AnyArray,
    ArrayLike,
    IntArray,
    Label,
    Membership,
    Method,
    NaN,
    RNGLike,
    SeedLike,
    WordArray,
)
from ..budget.budget import Budget
from ..budget.question import Question
from ..errors import ParameterError, ParameterTypeError
from ..grouped.call_options import CallOptions
from ..grouped.counts import ExponentialCountDraws, FlipCountDraws
from ..grouped.labels import are_numbers, check_type, read_labels
from ..grouped.mechanism import AnswerKind, GroupedMechanism, RecordReading
from ..grouped.segments import Draws, Segments
from ..grouped.verbs import release_groups, sample_groups
from ..grouped.words import WordSource
from ._finite import FiniteMechanism, UtilityMechanism
from ._options import CountReleaseOptions, CountSampleOptions

if TYPE_CHECKING:
    from ..laws.finite import FiniteLaw

UNCLEAR = (
    "data must be a mapping {candidate: count} if candidates are numbers, because integers could "
    "be counts or records: collections.Counter(records) is one"
)


class CountingMechanism(FiniteMechanism, GroupedMechanism, Generic[Label]):
    """A mechanism of public candidates, over their records or their counts."""

    _over_records: ClassVar[bool] = True
    candidates: Any  # a tuple if there may be records

    @property
    def _labels(self) -> tuple[Any, ...]:
        labels: tuple[Any, ...] = self.candidates
        return labels

    def _check_records(self) -> None:
        """Refuse records if the mechanism has no use for them."""

    def _in_order(self, data: object) -> bool:  # noqa: ARG002  # subclasses use it
        """Whether the data are counts without labels, by their type alone."""
        return False

    def _utilities(self, data: object, nan: NaN) -> tuple[WordArray, int]:
        counts = utilities.counts(data, self.candidates)
        return _data.utilities(counts, None, nan)

    @overload
    def release(
        self,
        data: object,
        *,
        by: None = None,
        groups: object = None,
        **options: Unpack[CountReleaseOptions],
    ) -> Label: ...
    @overload
    def release(  # type: ignore[overload-overlap]  # which are also objects
        self,
        data: object,
        *,
        by: object,
        groups: Literal["from-data"],
        **options: Unpack[CountReleaseOptions],
    ) -> tuple[list[Any], list[Label]]: ...
    @overload
    def release(
        self, data: object, *, by: object, groups: object, **options: Unpack[CountReleaseOptions]
    ) -> list[Label]: ...
    def release(
        self,
        data: object,
        *,
        by: object = None,
        groups: object = None,
        offsets: object = None,
        person: object = None,
        max_groups: int = 1,
        max_rows: int = 1,
        disjoint: bool = False,
        membership: Membership = "private",
        key: ReleaseKey | None = None,
        label: str | None = None,
        budget: Budget | None = None,
        threads: int = 1,
        nan: NaN = "raise",
    ) -> Any:
        """Release one private selection, or one for each group, using the system's randomness.

        Parameters
        ----------
        data : array_like
            Records, one label for each person, as a sequence, array or column; or counts with
            labels.
        by, groups, offsets, person
        max_groups, max_rows
        disjoint, membership
        key, label, budget, threads
        nan : {"raise"}
            Records that equal no candidate are not counted, missing or not.

        Returns
        -------
        object
            The selected candidate; for groups a list of candidates in their order, with
            ``groups="from-data"`` a tuple of the groups (sorted) and that list.

        Raises
        ------
        ParameterTypeError, ParameterError
            If the form of the records is wrong, or the options of groups, persons and keys do not
            fit together.
        BudgetExceeded
        LabelError
        BudgetError
        InvalidRecords
            If records cannot be counted. The budget has been charged, and the label is used up.
        RandomnessError

        Notes
        -----
        **Privacy**: each call costs `guarantee`; with groups ``total(groups=True, ...)``.

        Examples
        --------
        >>> import fastexp as fx
        >>> drink = fx.MostCommon(epsilon=1.0, candidates=["tea", "coffee"])
        >>> cups = ["tea"] * 60 + ["coffee"] * 60
        >>> drink.release(cups, by=[1] * 60 + [2] * 60, groups=[2, 1])
        ['coffee', 'tea']
        """
        return self._release(
            data,
            CallOptions(
                by,
                groups,
                offsets,
                person,
                max_groups,
                max_rows,
                disjoint,
                membership,
                key,
                label,
                budget,
                threads,
                nan,
            ),
        )

    def _answered(self, data: Any, options: CallOptions) -> Any:
        if not self._are_counts(data, options):
            check_type(data, self.candidates)
            records = Records(data, labels=True)
            if records.is_batch or options.is_of_persons:
                return release_groups(self, records, options._replace(nan="drop"))
            data = records.data
        return super()._answered(data, options)

    def _are_counts(self, data: object, options: CallOptions) -> bool:
        """Whether the data are counts, which have neither groups nor persons."""
        if self.candidates is not None and utilities.has_labels(data, self.candidates):
            if options.is_of_persons:
                raise ParameterError(
                    "by, groups, offsets, person, max_groups, max_rows and key need records, got "
                    "counts with labels"
                )
            return True
        if not options.is_of_persons and self._in_order(data):
            return True
        self._check_records()
        return False

    def _question(self, options: CallOptions, rows: int | None) -> Question:
        """Return the question of a release; it is the same with a key."""
        return super(FiniteMechanism, self)._question(options._replace(nan="drop"), rows)

    @overload
    def sample(
        self,
        data: object,
        size: None = None,
        *,
        by: None = None,
        groups: object = None,
        **options: Unpack[CountSampleOptions],
    ) -> int | IntArray: ...
    @overload
    def sample(
        self,
        data: object,
        size: int,
        *,
        by: None = None,
        groups: object = None,
        **options: Unpack[CountSampleOptions],
    ) -> IntArray: ...
    @overload
    def sample(  # type: ignore[overload-overlap]  # which are also objects
        self,
        data: object,
        size: int | None = None,
        *,
        by: object,
        groups: Literal["from-data"],
        **options: Unpack[CountSampleOptions],
    ) -> tuple[list[Any], IntArray]: ...
    @overload
    def sample(
        self,
        data: object,
        size: int | None = None,
        *,
        by: object,
        groups: object,
        **options: Unpack[CountSampleOptions],
    ) -> IntArray: ...
    @overload
    def sample(
        self,
        data: object,
        size: int | None = None,
        *,
        by: object = None,
        groups: object = None,
        labels: Literal[True],
        **options: Unpack[CountSampleOptions],
    ) -> Any: ...
    def sample(  # pyright: ignore[reportIncompatibleMethodOverride]  # more parameters
        self,
        data: object,
        size: int | None = None,
        *,
        by: object = None,
        groups: object = None,
        offsets: object = None,
        person: object = None,
        max_groups: int = 1,
        max_rows: int = 1,
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
            Records or counts with labels, as in `release`.
        size
        by, groups, offsets, person
        max_groups, max_rows
        rng, streams, threads
        method : {None, "envelope", "gumbel"}, optional
            As of `Exponential.sample`; with groups "envelope".
        nan : {"raise"}
            As in `release`.
        labels : bool
            Return candidates, as `release` does, instead of their indices.

        Returns
        -------
        int or ndarray of int64, shape (size,), (groups,) or (groups, size)
            Indices of candidates; with ``groups="from-data"`` a tuple of the groups and these.

        Raises
        ------
        ParameterTypeError, ParameterError, InvalidRecords
            As in `release`, and for `size`, `rng`, `streams` and `method`.
        """
        with_labels = self._gives_labels(labels)
        options = self._checked(
            CallOptions(by, groups, offsets, person, max_groups, max_rows, threads=threads)
        )
        sampling = Sampling(size, rng, streams, options.threads, method)
        if not self._are_counts(data, options):
            records = Records(data, labels=True)
            if records.is_batch or options.is_grouped:
                return sample_groups(
                    self, records, options._replace(nan="drop"), sampling, with_labels
                )
            data = records.data
        bits, kind = self._utilities(data, nan)
        drawn = self._simulator()(bits, kind, self._weighting, sampling)
        return self._labelled(drawn) if with_labels else drawn

    def _check_nan(self, nan: object) -> None:
        validate.choice("nan", nan, ("raise", "lowest"))

    def _policy(self, nan: object) -> str:
        """Return "drop": records that equal no candidate are not counted, missing or not."""
        validate.choice("nan", nan, ("raise", "lowest", "drop", "lower", "upper"))
        self._check_records()
        return "drop"

    def _reading(self) -> RecordReading:
        """Return how records are read, by the types of the candidates."""
        kinds = {type(label) for label in self.candidates}
        if kinds == {int}:
            return "integers"
        if kinds == {bool}:
            return "booleans"
        return "numbers" if kinds <= {int, float} else "text"

    def _read_as(self, nan: str) -> Hashable:  # noqa: ARG002  # missing ones are no candidate
        """Return a key: mechanisms with the same candidates read records in the same way."""
        return "candidates", tuple((type(label), label) for label in self.candidates)

    def _streamed(self, records: AnyArray | RecordSource, threads: int) -> Any:
        """Draw once for records as indices of candidates: an array, parts of one, or counted."""
        if isinstance(records, Counted):
            counts = np.zeros(len(self.candidates), np.int64)
            counts[records.numbers] = records.often
            return self._drawn(*_data.utilities(counts, None, "raise"), threads)
        parts = records.parts() if isinstance(records, RecordSource) else [records]
        return self._drawn(*self._counted(parts), threads)

    def _exact(self, values: AnyArray) -> FiniteLaw:
        """Return the exact law of a draw for records as indices of candidates."""
        return self._law(*self._counted([values]))

    def _counted(self, parts: Iterable[AnyArray]) -> tuple[WordArray, int]:
        """Count indices of candidates, and return the counts in the form that kernels take."""
        counts = np.zeros(len(self.candidates), np.int64)
        for part in parts:
            counts += np.bincount(part, minlength=counts.size)
        return _data.utilities(counts, None, "raise")

    def _kind(self, released: bool) -> AnswerKind:
        """Return the one kind of the candidates; for samples that of their indices."""
        kinds = {type(label) for label in self.candidates}
        if not released:
            return "integers"
        if kinds == {int}:
            if min(self.candidates) >= -(1 << 63) and max(self.candidates) < 1 << 63:
                return "integers"
            raise ParameterError("candidates must be in [-2**63, 2**63), to match a column")
        if kinds == {str}:
            if all(map(validate.is_utf8, self.candidates)):
                return "text"
            raise ParameterError("candidates must have no lone surrogates, to match a column")
        if kinds == {bool}:
            return "booleans"
        raise ParameterTypeError(
            "candidates must be all int, all text or all bool, to match a column"
        )

    def _read(
        self,
        records: object,
        nan: str,  # noqa: ARG002  # missing ones are no candidate
    ) -> tuple[AnyArray, AnyArray | None]:
        """Return records by group as indices of candidates."""
        return read_labels(records, self.candidates)

    @property
    def _in_passes(self) -> bool:
        """True: counting holds no records."""
        return True

    @property
    def _places(self) -> int:
        """The number of candidates."""
        return len(self.candidates)

    def _place(self, values: AnyArray) -> IntArray:
        """Return the values: they are indices already."""
        return values

    def _draws(self, segments: Segments, words: WordSource, size: int) -> Draws:
        """Draws of each segment."""
        draws = ExponentialCountDraws if self._has_bounded_range else FlipCountDraws
        return draws(len(self.candidates), self._weighting.rate, segments, words, size)

    def _answer(self, index: int | IntArray, released: bool) -> Any:
        """Turn indices into candidates; those of samples stay indices."""
        number = index if np.ndim(index) else int(index)
        return self._labelled(number) if released else number


class CountsMechanism(CountingMechanism, UtilityMechanism):
    """A mechanism of counts: integers of a stated sensitivity, with labels or of records."""

    def _check_records(self) -> None:
        if self.candidates is None:
            raise ParameterError("candidates must be given with records, and so with groups")
        if self.sensitivity != 1:
            raise ParameterError(
                "sensitivity must be 1 with records, each of which adds 1 to one count (max_rows "
                f"limits those of a person), got {self.sensitivity!r}"
            )

    def _in_order(self, data: object) -> bool:
        if self.candidates is None:
            return True
        if not are_numbers(data):
            return False
        if any(isinstance(label, (Number, np.bool_)) for label in self.candidates):
            raise ParameterTypeError(UNCLEAR)
        return True

    def _in_data(self, data: object) -> bool:
        return self._has_labels(data) or not self._in_order(data)

    def _question(self, options: CallOptions, rows: int | None) -> Question:
        parent = CountingMechanism if rows is None else UtilityMechanism
        return parent._question(self, options, rows)

    def _utilities(self, data: object, nan: NaN) -> tuple[WordArray, int]:
        if self._has_labels(data) or self._in_order(data):
            bits, kind = UtilityMechanism._utilities(self, data, nan)
        else:
            self._check_records()
            bits, kind = super()._utilities(data, nan)
        if kind == _data.FLOAT:
            raise ParameterTypeError(
                "counts must be integers, got floating-point numbers: round them, and state a "
                "sensitivity that holds then"
            )
        return bits, kind
