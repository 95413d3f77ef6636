"""Mechanisms that release numbers of a public grid: release, sample, law.

Nearly half of the file is documentation and overloads.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Hashable
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, Unpack, overload

import numpy as np

from .._intake.arrays import canonical
from .._intake.record_sources import Counted, RecordSource
from .._intake.records import Records
from .._numbers import cells
from .._numbers.cells import Shape
from .._numbers.distance_statistic import within
from .._parameters import validate
from .._parameters.digits import DigitGrid
from .._parameters.grid import Grid, Rule, decimal, make_grid, plain_bounds
from .._parameters.validate import MAX_EXACT
from .._randomness.sampling import Sampling
from .._typing import (
    AnyArray,
    ArrayLike,
    Converted,
    FloatArray,
    IntArray,
    Membership,
    Method,
    Missing,
    Number,
    NumberArray,
    RNGLike,
    SeedLike,
)
from ..errors import ParameterError
from ..grouped.call_options import DEFAULTS, CallOptions
from ..grouped.mechanism import AnswerKind, GroupedMechanism, RecordReading
from .base import Mechanism, written

if TYPE_CHECKING:
    from .._randomness.release_key import ReleaseKey
    from ..budget.budget import Budget
    from ..grouped.segments import Draws, Segments
    from ..grouped.words import WordSource
    from ..laws.densities import ContinuousLaw
    from ..laws.figures import Figures
    from ..laws.grid import GridLaw
    from ._options import NumberReleaseOptions, NumberSampleOptions

ASSUMES = "one person is one record; bounds and grid were chosen without looking at the data"


Answers: TypeAlias = int | float | NumberArray  # one answer, or one for each row of a matrix
Ends: TypeAlias = tuple[Number, Number]
Bounds: TypeAlias = Converted[Ends | None, Ends]  # the field `bounds`; None if only a grid is given
Points: TypeAlias = Converted[ArrayLike | Grid | None, Grid]  # the field `grid`


class GridMechanism(Mechanism, GroupedMechanism):
    """A mechanism of records that are numbers; a draw has one or several points of a grid."""

    bounds: Bounds
    step: Number | None
    grid: Points
    _assumes = ASSUMES
    _rule: ClassVar[Rule] = "nearest"  # the point of the grid at which a record counts
    _sorts_few: ClassVar[bool] = True  # whether few records are sorted, to look up ranks

    def _check(self) -> None:
        points: Any = self.grid  # as they were given
        bounds: Any = self.bounds  # likewise
        grid = make_grid(bounds, self.step, points, rule=self._rule)
        super()._check()
        self._set_frozen(
            grid=grid,
            bounds=grid.ends if bounds is None else plain_bounds(bounds),
            step=self.step.item() if isinstance(self.step, np.generic) else self.step,
        )

    def _answered(self, data: Any, options: CallOptions) -> Any:
        records = Records(data)
        if records.is_batch or (options is not DEFAULTS and options.is_of_persons):
            from ..grouped.verbs import release_groups

            return release_groups(self, records, options)
        if options.budget is None:
            return self._released_number(records, options)
        return self._charged(options, partial(self._released_number, records, options))

    def _released_number(self, records: Records, options: CallOptions) -> Any:
        """Return one released answer."""
        indices = self._released(self._source(records, options, check_sorted=True))
        return self._answer(indices, released=True)

    @abstractmethod
    def _released(self, source: RecordSource) -> Any:
        """Draw grid indices (most mechanisms: one) from the operating system's randomness."""

    @abstractmethod
    def _simulated(self, source: RecordSource, sampling: Sampling) -> Any:
        """Grid indices of `sample`."""

    def _simulate_rows(self, rows: AnyArray, options: CallOptions, sampling: Sampling) -> Any:
        """Draw for each row of a matrix."""
        from ..grouped.verbs import sample_groups

        return sample_groups(self, Records(rows), options, sampling)

    @abstractmethod
    def _law_of(self, source: RecordSource) -> GridLaw:
        """The exact law on the grid."""

    @overload
    def release(
        self,
        records: object,
        *,
        by: None = None,
        groups: object = None,
        **options: Unpack[NumberReleaseOptions],
    ) -> Answers: ...
    @overload
    def release(  # type: ignore[overload-overlap]  # which are also objects
        self,
        records: object,
        *,
        by: object,
        groups: Literal["from-data"],
        **options: Unpack[NumberReleaseOptions],
    ) -> tuple[list[Any], NumberArray]: ...
    @overload
    def release(
        self,
        records: object,
        *,
        by: object,
        groups: object,
        **options: Unpack[NumberReleaseOptions],
    ) -> NumberArray: ...
    def release(
        self,
        records: object,
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
        nan: Missing = "raise",
        assume_sorted: bool = False,
    ) -> Any:
        """Release one private number, or one for each group, using the system's randomness.

        The draw is exact: integers and lazily drawn bits decide it, so the law of the output *is*
        that of the mechanism on the public grid. There is no seed and no state.

        Parameters
        ----------
        records
        by, groups, offsets, person
        max_groups, max_rows
        disjoint, membership
        key, label, budget
        threads : int
            The number of threads; 0: as many as the process may use. Faster from about 1e6
            records.
        nan : {"raise", "drop", "lower", "upper"}
            What to do with missing records (NaN, null, masked): raise an error (which depends on
            the data and is outside the guarantee), leave them out, or read them as the lower or
            upper bound. Under neighbors="replace", "drop" would change the number of records: use
            a bound.
        assume_sorted : bool
            The records are said to be sorted. A release checks this in one pass and, if it is
            false, treats them as unsorted, without a warning. Has no effect with groups.

        Returns
        -------
        int, float or ndarray
            A point of `grid`: an int if bounds and step are. For groups, rows and lists an array
            of them, int64 or float64 of shape (m,), in the order of `groups`; with
            ``groups="from-data"`` or `PrivateGroups` a tuple of the groups (sorted) and that array.

        Raises
        ------
        ParameterTypeError, ParameterError
            If the form of the records is wrong, or the options of groups, persons and keys do not
            fit together.
        BudgetExceeded
        LabelError
        BudgetError
        InvalidRecords
            If a record is missing and nan="raise". The budget has been charged, and the label is
            used up.
        RandomnessError

        Notes
        -----
        **Privacy**: each call costs `guarantee`; with groups ``total(groups=True, ...)``, with rows
        ``total(rows=m, ...)``.

        **Timing**: depends on the number of records and, mildly, on the data: see SECURITY.md.

        Examples
        --------
        >>> import fastexp as fx
        >>> median = fx.Median(epsilon=1.0, bounds=(0, 120), step=1)
        >>> ages = [30, 31, 32] * 40 + [60, 61, 62] * 40
        >>> city = ["Rome"] * 120 + ["Oslo"] * 120
        >>> answers = median.release(ages, by=city, groups=["Oslo", "Rome", "Bern"])
        >>> [int(answer) // 10 for answer in answers[:2]], len(answers)
        ([6, 3], 3)
        """
        answers = self._release(
            records,
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
                assume_sorted,
            ),
        )
        return self._returned(answers)

    @overload
    def sample(
        self,
        records: object,
        size: None = None,
        *,
        by: None = None,
        groups: object = None,
        **options: Unpack[NumberSampleOptions],
    ) -> Answers: ...
    @overload
    def sample(
        self,
        records: object,
        size: int,
        *,
        by: None = None,
        groups: object = None,
        **options: Unpack[NumberSampleOptions],
    ) -> NumberArray: ...
    @overload
    def sample(  # type: ignore[overload-overlap]  # which are also objects
        self,
        records: object,
        size: int | None = None,
        *,
        by: object,
        groups: Literal["from-data"],
        **options: Unpack[NumberSampleOptions],
    ) -> tuple[list[Any], NumberArray]: ...
    @overload
    def sample(
        self,
        records: object,
        size: int | None = None,
        *,
        by: object,
        groups: object,
        **options: Unpack[NumberSampleOptions],
    ) -> NumberArray: ...
    def sample(
        self,
        records: object,
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
        nan: Missing = "raise",
        assume_sorted: bool = False,
    ) -> Any:
        """Draw from the law of `release`, reproducibly from `rng`: a simulation, not private.

        Parameters
        ----------
        records : array_like, str, Path, callable or tuple
            As in `release`. In an array of shape (rows, n) each row is a data set.
        size
        by, groups, offsets, person
        max_groups, max_rows
        rng, streams, threads
        method : {None, "envelope", "gumbel"}, optional
            The kernel that chooses the cell. None is "envelope", which is exact.
        nan : {"raise", "drop", "lower", "upper"}
            As in `release`.
        assume_sorted : bool
            Take the records as sorted without a check, so that only some pages of a
            memory-mapped file are read. If they are not sorted, the draws are wrong.

        Returns
        -------
        int, float or ndarray of int64 or float64
            Points of `grid`. The shape is (size,); for rows, groups and lists (rows,) or
            (rows, size). (The rows of a matrix have other streams than lists and offsets.) With
            ``groups="from-data"`` a tuple of the groups and the draws. The draws of a group come
            from its own stream, named by the group, and do not depend on other groups. The bytes
            depend only on records, key, stream and size, not on the order of the records, their
            parts, threads or CPU.

        Raises
        ------
        ParameterTypeError, ParameterError, InvalidRecords
            As in `release`, and for `size`, `rng`, `streams` and `method`.
        """
        options = self._checked(
            CallOptions(
                by,
                groups,
                offsets,
                person,
                max_groups,
                max_rows,
                threads=threads,
                nan=nan,
                assume_sorted=assume_sorted,
            )
        )
        sampling = Sampling(size, rng, streams, options.threads, method)
        return self._returned(self._sampled(Records(records), options, sampling))

    def _sampled(self, records: Records, options: CallOptions, sampling: Sampling) -> Any:
        """Return the draws of `sample` for checked options."""
        rows = None if options.is_grouped else records.matrix(self.grid)
        if rows is not None:
            return self._simulate_rows(rows, options, sampling)
        if records.is_batch or options.is_grouped:
            from ..grouped.verbs import sample_groups

            return sample_groups(self, records, options, sampling)
        indices = self._simulated(self._source(records, options), sampling)
        return self._answer(indices, released=False)

    def _returned(self, answers: Any) -> Any:
        """Return answers in the form of `release` and `sample`; a total may be split off."""
        return answers

    def law(
        self, records: object, *, nan: Missing = "raise", assume_sorted: bool = False
    ) -> GridLaw:
        """Return the exact law of `release` and `sample` on these records: as private as these.

        Parameters
        ----------
        records : array_like, str, Path, callable or tuple
            As in `release`.
        nan : {"raise", "drop", "lower", "upper"}
            As in `release`.
        assume_sorted : bool
            As in `sample`.

        Returns
        -------
        GridLaw
        """
        options = self._checked(CallOptions(nan=nan, assume_sorted=assume_sorted))
        return self._with_maker(self._law_of(self._source(Records(records), options)))

    def _source(
        self, records: Records, options: CallOptions, check_sorted: bool = False
    ) -> RecordSource:
        return records.source(
            options.nan,
            grid=self.grid,
            assume_sorted=options.assume_sorted,
            check_sorted=check_sorted,
            threads=options.threads,
            sort_few=self._sorts_few,
        )

    def _check_nan(self, nan: object) -> None:
        self._policy(nan)

    def _reading(self) -> RecordReading:
        """Return "doubles" if doubles hold all numbers between the bounds exactly."""
        return "doubles" if max(map(abs, self.grid.ends)) <= MAX_EXACT else "numbers"

    def _read_as(self, nan: str) -> Hashable:
        """Return a key of how records are read; the grid decides on integers beyond int64."""
        return "numbers", nan, self.grid

    def _read(self, records: object, nan: str) -> tuple[AnyArray, AnyArray | None]:
        """Return records by group as numbers, and which are missing."""
        return Records(records).numbers(nan, self.grid)

    @property
    def _places(self) -> int:
        """The number of points of the grid."""
        return self.grid.size

    def _place(self, values: AnyArray) -> IntArray:
        """Return the grid index of each record."""
        from ..grouped.segments import placed

        return placed(self.grid, values)

    def _exact(self, values: AnyArray) -> GridLaw:
        """Return the exact law of a draw for these records."""
        return self.law(np.sort(values), assume_sorted=True)

    @abstractmethod
    def _truth(self, source: RecordSource) -> Any:
        """Return the statistic of the records without noise; None without records."""

    @property
    def _in_passes(self) -> bool:
        """Whether a draw can go through the records in parts, holding few of them."""
        return False

    def _streamed(self, records: AnyArray | RecordSource, threads: int) -> Any:
        """Draw once for an array, for records in passes, or counted; None: only by group."""
        if isinstance(records, Counted):
            records = Counted(records.numbers, records.often, self.grid)
        elif not self._in_passes:
            return None
        if not isinstance(records, RecordSource):
            records = Records(records).source(grid=self.grid, threads=threads)
        return self._released(records)

    def _kind(self, released: bool) -> AnswerKind:  # noqa: ARG002  # of `GroupedMechanism`
        """Return the kind of all points of the grid."""
        return "integers" if self.grid.whole else "floats"

    def _answer(self, index: int | IntArray, released: bool) -> Any:  # noqa: ARG002  # likewise
        """Turn grid indices into answers."""
        if isinstance(index, int):
            return self.grid.value(index)
        numbers = self.grid.values(np.asarray(index))
        return numbers if np.ndim(index) else numbers.item()

    def _policy(self, nan: object) -> str:
        """Check the policy for missing records, before any look at them, and return it."""
        policy = validate.choice("nan", nan, ("raise", "drop", "lower", "upper"))
        if policy in ("lower", "upper") and max(map(abs, self.grid.ends)) >= 2**63:
            raise ParameterError(
                'nan must be "raise" or "drop" where bounds are beyond 64-bit integers'
            )
        return policy

    def _written(self, name: str, value: object) -> str | None:
        """Write the points of a grid if they were given."""
        if name != "grid":
            return super()._written(name, value)
        points = self.grid.parameter
        if isinstance(points, DigitGrid):
            return points.call
        return None if points is None else written("points", points.tolist())


class NumberMechanism(GridMechanism):
    """A mechanism with one number for a draw. Subclasses define how records become cells."""

    @abstractmethod
    def _shape(self, source: RecordSource) -> Shape:
        """Return the cells of a data set, for draws."""

    def _released(self, source: RecordSource) -> int:
        """Draw one grid index from the operating system's randomness."""
        return cells.release(self._shape(source))

    def _simulated(self, source: RecordSource, sampling: Sampling) -> int | IntArray:
        """Grid indices of `sample`."""
        return cells.simulate(self._shape(source), sampling)

    @abstractmethod
    def _continuous_of(self, source: RecordSource) -> ContinuousLaw:
        """Return the density of the papers."""

    def continuous_law(self, records: object, *, nan: Missing = "raise") -> ContinuousLaw:
        """Return the density of the papers, on the clamped records; for analysis.

        Nothing is released from it, as floats cannot be. On a fine grid `law` is close to it,
        except where records are equal, which a density does not see (`law` and `widen` do).

        Parameters
        ----------
        records : array_like, str, Path, callable or tuple
            As in `release`.
        nan : {"raise", "drop", "lower", "upper"}
            As in `release`.

        Returns
        -------
        ContinuousLaw
        """
        source = Records(records).source(self._checked(CallOptions(nan=nan)).nan)
        law = self._continuous_of(source)
        law.truth = self._truth(source)
        return self._with_maker(law)

    def _draws(self, segments: Segments, words: WordSource, size: int) -> Draws:
        """Return the draws of each segment; subclasses have kernels for many segments."""
        from ..grouped.prices import ShapeDraws

        return ShapeDraws(self._shape, self.grid, segments, words, size)

    def _figures(
        self, ordered: AnyArray, truths: FloatArray | None, names: Collection[str]
    ) -> Figures:
        """Return the known ones of the named exact figures of sorted rows.

        `truths` None: the statistics of the rows.
        """
        from ..laws.figures import of_laws

        rows = (canonical(row, self.grid) for row in ordered)
        laws = (self._law_of_value(self.law(row, assume_sorted=True)) for row in rows)
        return of_laws(laws, None if truths is None else truths.tolist(), names)

    def _reach(self, widen: Number) -> tuple[int, tuple[IntArray, IntArray] | None]:
        """Return `widen` in steps of an evenly spaced grid, or as ranges of a grid of points.

        Floats are read as the decimals that print: 0.8 is within 0.1 of 0.7.
        """
        number = validate.at_least("widen", widen, 0.0)
        if number == 0.0:
            return 0, None
        is_float = isinstance(widen, (float, np.floating))
        exact = decimal(number) if is_float else validate.as_fraction(widen)
        if not self.grid.even:
            return 0, within([decimal(point) for point in self.grid.points.tolist()], exact)
        _, s, d = self.grid.unit
        return min(int(exact * d / s), self.grid.size - 1), None
