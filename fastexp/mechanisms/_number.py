"""What every mechanism that releases a number of a public grid does: release, sample, law."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .._compiler.rounding import check_rounding
from .._intake.number_columns import opened
from .._intake.records import Source, intake
from .._numbers import cells
from .._numbers.cells import Shape
from .._numbers.rank import valued
from .._numbers.rank_rows import matrix
from .._parameters import validate
from .._randomness.release_key import ReleaseKey
from .._typing import AnyArray, ArrayLike, IntArray, Membership, Neighbors, RNGLike, SeedLike
from ..budget.budget import Budget, once
from ..errors import ParameterError
from ..grouped import verbs
from ..grouped.accuracy import Exact, Measure
from ..grouped.mechanism import GroupedMechanism, Kind, Reading
from ..grouped.numbers import read_numbers
from ..grouped.request import Request, check_key
from ..grouped.segments import Draws, Segments, placed
from ..grouped.shapes import ShapeDraws
from ..grouped.words import Words
from ..privacy import Guarantee, total

if TYPE_CHECKING:
    from ..laws.continuous import ContinuousLaw
    from ..laws.grid import GridLaw

ASSUMES = "one person is one record; bounds and grid were chosen without looking at the data"


class NumberMechanism(GroupedMechanism, ABC):
    """Public parameters and the three verbs. Subclasses say how records become cells."""

    epsilon: float
    bounds: tuple[Any, Any]
    step: Any
    grid: Any
    _measure: ClassVar[Measure] = "error"

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """What one draw promises."""

    @abstractmethod
    def _shape(self, source: Source) -> Shape:
        """The cells of a data set, for draws."""

    def _simulate_rows(self, records: AnyArray, *how: Any) -> Any:
        """Draws from each row of a matrix; subclasses may have a way of their own."""
        size, rng, streams, threads, method, nan, _ = how
        verbs.only_enveloped(method, streams)
        return verbs.sample(self, records, Request(), size, rng, threads, nan)

    @abstractmethod
    def _law_of(self, source: Source) -> GridLaw:
        """The exact law on the grid."""

    @abstractmethod
    def _continuous_of(self, source: Source) -> ContinuousLaw:
        """The density that the papers write down."""

    def total(
        self,
        rows: int = 1,
        disjoint: bool = False,
        groups: bool = False,
        membership: Membership = "private",
        max_groups: int = 1,
        max_rows: int = 1,
        *,
        neighbors: Neighbors | None = None,
    ) -> Guarantee:
        """The promise of several releases together; `fastexp.privacy.total`.

        Parameters
        ----------
        rows : int
            How many releases look at the same records.
        disjoint, groups, membership, max_groups, max_rows
            As for `fastexp.privacy.total`.
        neighbors : {"add-remove", "replace"}, optional
            The relation wanted; default: the guarantee's own.

        Returns
        -------
        Guarantee

        Raises
        ------
        ParameterError, ParameterTypeError
            If a parameter is outside its range, or `guarantee` does not hold under
            `neighbors`.
        """
        return total(
            self.guarantee,
            rows=rows,
            disjoint=disjoint,
            groups=groups,
            membership=membership,
            max_groups=max_groups,
            max_rows=max_rows,
            neighbors=neighbors,
        )

    def release(
        self,
        records: Any,
        *,
        by: Any = None,
        groups: Any = None,
        offsets: Any = None,
        person: Any = None,
        max_groups: int = 1,
        max_rows: int = 1,
        disjoint: bool = False,
        membership: Membership = "private",
        key: ReleaseKey | None = None,
        label: str | None = None,
        budget: Budget | None = None,
        threads: int = 1,
        nan: str = "raise",
        assume_sorted: bool = False,
    ) -> Any:
        """One private number, or one for each group, from the operating system's randomness.

        Exact: integers and lazily drawn bits decide, so the output law *is* the mechanism's
        on the public grid. There is no seed and no state.

        Parameters
        ----------
        records : array_like, str, Path, callable or tuple
            One number a person: an array, list, series or Arrow column of integers or floats,
            a path to a .npy file, a callable that returns arrays one after the other (anew at
            each call), or a tuple of two sequences, (values, counts). Decimals and fractions
            are read as the nearest double. What lies outside the bounds is clamped.
            An array of shape (rows, n) or an Arrow column of lists has an answer a row.
        by : array_like, shape (n,), or list of them, optional
            The group of each record: integers, text, booleans, dates or timestamps without a
            zone, of any array or column type; ``[city, year]``: of several columns. Records
            of groups that are not in `groups`, and of none (null), are left out.
        groups : sequence, or what `fastexp.product` gives, optional
            With `by`: the public list of groups to answer, without repetition, for several
            columns of tuples; also those without records are answered. ``"from-data"`` takes
            the groups that the data have, which are private: with a `PrivacyWarning`. With
            `offsets`, rows or lists: their names, one each.
        offsets : array_like of int, shape (m + 1,), optional
            Records that already lie group by group: those of the i-th are
            ``records[offsets[i]:offsets[i + 1]]``.
        person : array_like, shape (n,), optional
            Whose each record is: keys as in `by`. Of each person at most `max_groups` groups
            (of those listed) and in each of them at most `max_rows` records count, chosen by
            a keyed hash. Records of nobody (null) are left out.
        max_groups, max_rows : int
            In how many groups one person is, and how many records of theirs each has, at
            most. Without `person` this is your claim, which nobody checks.
        disjoint, membership
            As for `total`: what a budget is charged for rows and groups. With `person`
            membership is private: in which groups a person counts may depend on their records.
        key : ReleaseKey, optional
            The same key, label, mechanism, group and records repeat their answer, so that a
            retry is not a second release; see `release_key` for what it is not for. With
            `label`.
        label : str, optional
            What the release is called; with `budget` or `key`. A `Budget.file` keeps its
            answers under this name, and the same call gives them again, whatever the data are
            by now, without a charge. Of a key it names the query: one key never serves two.
        budget : Budget, optional
            Is charged `total` of the call before the records are looked at, and never
            refunded.
        threads : int
            1; 0 for all that the process may use. Pays from some 1e6 records.
        nan : {"raise", "drop", "lower", "upper"}
            Missing records (NaN, null, masked): refuse (this depends on the data and is
            outside the guarantee), leave them out, or read them as the lower or upper bound.
            Under neighbors="replace", "drop" would change their number: use a bound.
        assume_sorted : bool
            The records are said to be sorted: a release checks it, in one pass; if they are
            not, it takes them as unsorted, without a word. Of no use with groups.

        Returns
        -------
        int, float or ndarray
            A point of `grid`: int where bounds and step are. An array of them, int64 or
            float64 of shape (m,), in the order of `groups`, for groups, rows and lists; with
            ``groups="from-data"`` a tuple of the groups (sorted) and that array.

        Raises
        ------
        ParameterTypeError, ParameterError
            If the form of the records is wrong, or what is said of groups, persons and keys
            does not fit together.
        BudgetExceeded
            If the rest of the budget does not cover it: nothing is drawn or charged.
        LabelError
            If the label is another question's, or was used up by a failure.
        BudgetError
            If the budget cannot be used.
        InvalidRecords
            If a record is missing and nan="raise". A budget is charged before, and a label
            used up.
        RandomnessError
            If the operating system gives no randomness.

        Notes
        -----
        **Privacy**: `guarantee`, for every call anew; of groups and rows
        ``total(groups=True, ...)`` or ``total(rows=m, ...)``. **Timing**: depends on the
        number of records and, mildly, on the data: see SECURITY.md.

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
        check_rounding()
        workers = validate.threads(threads)
        self._policy(nan)
        promised = validate.flag("assume_sorted", assume_sorted)
        validate.parts(disjoint, membership)
        request = Request(by, groups, offsets, person, max_groups, max_rows)
        records = opened(records)
        if request.given(records) or request.claimed() or key is not None:
            how = key, label, budget, workers, nan, disjoint, membership
            return verbs.release(self, records, request, *how)
        label = check_key(None, label, budget)

        def draw() -> Any:
            source = intake(records, nan, promised, workers, check_sorted=True, grid=self.grid)
            return self.grid.value(cells.release(self._shape(source)))

        if budget is None:  # then nobody needs the question
            return draw()
        question = request.question(self, 1, disjoint, membership, nan, label)
        return once(budget, label, question, draw)

    def sample(
        self,
        records: Any,
        size: int | None = None,
        *,
        by: Any = None,
        groups: Any = None,
        offsets: Any = None,
        person: Any = None,
        max_groups: int = 1,
        max_rows: int = 1,
        rng: SeedLike | RNGLike | None = None,
        streams: ArrayLike | None = None,
        threads: int = 1,
        method: str | None = None,
        nan: str = "raise",
        assume_sorted: bool = False,
    ) -> Any:
        """Simulation draws of the law of `release`, reproducible from `rng`; not private.

        Parameters
        ----------
        records : array_like, str, Path, callable or tuple
            As in `release`; an array of shape (rows, n) is a data set a row.
        by, groups, offsets, person, max_groups, max_rows
            As in `release`. A group's draws are those of its own stream, named by the group:
            they do not depend on other groups, on the records' order, or on the engine.
        size : int, optional
            How many draws of each data set; None: one, as a scalar.
        rng : {None, int, array_like[ints], SeedSequence, BitGenerator, Generator}, optional
            None: fresh from the operating system; else as in SPEC 7. **A seeded draw is not
            a private release.**
        streams : array_like of int, shape (rows,), optional
            The names of the data sets' streams; default 0, 1, ....
        threads : int
            1; 0 for all. Never changes the draws.
        method : {None, "envelope", "gumbel"}, optional
            Pins the kernel that chooses the cell; None is "envelope", which is exact.
        nan : {"raise", "drop", "lower", "upper"}
            As in `release`.
        assume_sorted : bool
            Take the records as sorted without a look: of a memory-mapped file only some pages
            are read. If they are not, the draws are wrong.

        Returns
        -------
        int, float or ndarray of int64 or float64
            Of shape (size,); (rows,) or (rows, size) for rows, groups and lists. (The rows
            of a matrix have other streams than lists and offsets.) With
            ``groups="from-data"`` a tuple of the groups and the draws.
            They are points of `grid`. The bytes depend on records, key, stream and size alone:
            not on the records' order, their parts, threads or CPU.

        Raises
        ------
        ParameterTypeError, ParameterError, InvalidRecords
            As in `release`, and for `size`, `rng`, `streams` and `method`.
        """
        check_rounding()
        self._policy(nan)
        promised = validate.flag("assume_sorted", assume_sorted)
        request = Request(by, groups, offsets, person, max_groups, max_rows)
        records = opened(records)
        rows = None if request.given(()) else matrix(records, self.grid)
        if rows is not None:
            how = size, rng, streams, threads, method, nan, promised
            return self._simulate_rows(rows, *how)
        if request.given(records):
            verbs.only_enveloped(method, streams)
            return verbs.sample(self, records, request, size, rng, threads, nan)
        source = intake(records, nan, promised, validate.threads(threads), grid=self.grid)
        found = cells.simulate(self._shape(source), size, rng, streams, threads, method)
        return valued(self.grid, found)

    def law(self, records: Any, *, nan: str = "raise", assume_sorted: bool = False) -> GridLaw:
        """The exact law of `release` and `sample` on these records, **which it holds**.

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
        check_rounding()
        self._policy(nan)
        promised = validate.flag("assume_sorted", assume_sorted)
        return self._law_of(intake(records, nan, promised, grid=self.grid))

    def continuous_law(self, records: Any, *, nan: str = "raise") -> ContinuousLaw:
        """The density that the papers write down, on the clamped records; for analysis.

        Nothing is released from it: floats cannot. On a fine grid `law` comes close, except
        where records are equal, which a density cannot see (`law` and `widen` can).

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
        check_rounding()
        self._policy(nan)
        return self._continuous_of(intake(records, nan))

    def _reading(self) -> Reading:
        """Files without types hold their numbers as text."""
        return "numbers"

    def _read_as(self, nan: str) -> Hashable:
        """The grid says what becomes of integers beyond int64."""
        return "numbers", nan, self.grid

    def _read(self, records: Any, nan: str) -> tuple[AnyArray, AnyArray | None]:
        """Records by group as numbers, and which are missing."""
        return read_numbers(records, nan, self.grid)

    def _place(self, values: AnyArray) -> IntArray:
        """The grid index of each record."""
        return placed(self.grid, values)

    def _draws(self, segments: Segments, words: Words, size: int) -> Draws:
        """Draws of each segment; kernels for many of them are in subclasses."""
        return ShapeDraws(self._shape, self.grid, segments, words, size)

    def _exact(self, values: AnyArray) -> Exact:
        """The exact law of a draw for these records, and the true number of them."""
        ordered = np.sort(values)
        truth = self._truth(ordered) if ordered.size else None
        return Exact(self.law(ordered, assume_sorted=True), truth)

    @abstractmethod
    def _truth(self, ordered: AnyArray) -> Any:
        """The true number of sorted records, one or more."""

    @property
    def _in_passes(self) -> bool:
        """Whether a draw can go through the records in parts, holding few of them."""
        return False

    def _streamed(self, records: Callable[[], Iterator[AnyArray]], threads: int) -> int | None:
        """One released draw for records that are read anew in each pass, where that can be."""
        if not self._in_passes:
            return None
        source = intake(records, threads=threads, grid=self.grid)
        return cells.release(self._shape(source))

    def _kind(self, released: bool) -> Kind:  # noqa: ARG002
        """All points of a grid are of one kind."""
        return "integers" if self.grid.whole else "floats"

    def _answer(self, index: Any, released: bool) -> Any:  # noqa: ARG002
        """Grid indices to what is returned."""
        listed = self.grid.values(index)
        return listed if np.ndim(index) else listed.item()

    def _policy(self, nan: Any) -> str:
        """A policy for missing records, checked before any look at them."""
        policy = validate.choice("nan", nan, ("raise", "drop", "lower", "upper"))
        ends = self.grid.value(0), self.grid.value(self.grid.size - 1)
        if policy in ("lower", "upper") and max(map(abs, ends)) >= 2**63:
            raise ParameterError(
                'nan must be "raise" or "drop" where bounds are beyond 64-bit integers'
            )
        return policy

    def __repr__(self) -> str:
        parts = []
        for item in fields(self):  # type: ignore[arg-type]  # subclasses are dataclasses
            value = getattr(self, item.name)
            if item.name == "grid":
                if self.step is None and self.grid.points is not None:
                    parts.append(f"grid=<{self.grid.size} points>")
            elif item.repr and item.init and (item.default is MISSING or value != item.default):
                parts.append(f"{item.name}={value!r}")
        return f"{type(self).__name__}({', '.join(parts)})"
