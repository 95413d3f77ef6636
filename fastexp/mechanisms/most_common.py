"""The most common value, privately.

One class; nearly half of the file is its documentation and the overloads of its methods.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, Unpack, overload

import numpy as np

from .. import utilities
from .._compiler.rounding import check_rounding
from .._intake import utilities as _data
from .._intake.records import Records
from .._parameters import validate
from .._randomness.release_key import ReleaseKey
from .._selection import permute_flip
from .._typing import (
    AnyArray,
    ArrayLike,
    IntArray,
    Membership,
    Method,
    NaN,
    Neighbors,
    RNGLike,
    SeedLike,
    WordArray,
)
from ..budget.budget import Budget
from ..budget.question import Question
from ..errors import ParameterError, ParameterTypeError
from ..grouped import verbs
from ..grouped.counts import ExponentialCountDraws, FlipCountDraws
from ..grouped.labels import check_type, read_labels
from ..grouped.mechanism import GroupedMechanism, Kind, Reading
from ..grouped.request import Request
from ..grouped.segments import Draws, Segments
from ..grouped.words import Words
from ..privacy import Guarantee, count_rate, pure_guarantee, selection_guarantee
from ._finite import FiniteMechanism, Simulator
from ._mechanism import ALWAYS
from ._options import CountReleaseOptions, CountSampleOptions

if TYPE_CHECKING:
    from ..laws.finite import FiniteLaw

Selecting: TypeAlias = Literal["exponential", "permute-and-flip"]
EXPONENTIAL: Selecting = "exponential"
PERMUTE_AND_FLIP: Selecting = "permute-and-flip"
ASSUMES = "one person is one record; the candidates were chosen without looking at the data"


@dataclass(frozen=True, repr=False)
class MostCommon(FiniteMechanism, GroupedMechanism):
    """The most common of public candidates: r with probability ∝ exp(ε·count(r)).

    Or by permute-and-flip: candidates in random order, each accepted with
    exp(ε·(count(r) − the highest count)).

    Parameters
    ----------
    epsilon
    candidates : sequence of hashable
        Public labels, two or more, distinct. Records that equal none of them are not counted.
        **Do not take them from the data**: that a rare value occurs at all is private.
    neighbors : {"add-remove", "replace"}
        What one person may do: join or leave (weight exp(ε·count): counts are monotonic), or
        change their record (weight exp(ε·count/2), since then they are not).
    mechanism : {"exponential", "permute-and-flip"}
        Permute-and-flip has the same ε and an expected loss that is never greater, but its
        range is not bounded by ε: where several releases are composed under ρ, the exponential
        mechanism costs less.
    any_epsilon

    Raises
    ------
    ParameterError, ParameterTypeError

    Notes
    -----
    Takes records: a list, array or series of labels, compared as Python compares them: 1 equals
    1.0 but not "1", and a misspelt candidate counts 0, without an error. Where all candidates
    are integers, or all text, an array or column of another type is refused before anything is
    charged; integers may come as floats or decimals. **Counts with labels** instead of records: a
    mapping {label: count}, or, where all candidates are text, a series of integers with an index
    of labels, as `value_counts()` of pandas gives it. They are brought into the candidates' order:
    a label that is missing counts 0, one that is no candidate is ignored. A series of integers for
    candidates that are not text is one of records, whatever its index: write ``.to_dict()``.

    **Privacy**: ε-DP under `neighbors`; by the exponential mechanism ε-bounded-range, so that ρ =
    ε²/8, by permute-and-flip ρ = ε·tanh(ε/2).

    **Numerics**: counts are exact integers and the draw is exact.

    References
    ----------
    Near and Abuah, "Programming Differential Privacy" (the exponential mechanism notebook);
    McSherry and Talwar 2007; Durfee and Rogers 2019 (monotone utilities). McKenna and Sheldon
    2020 (permute-and-flip).

    Examples
    --------
    >>> import fastexp as fx
    >>> mechanism = fx.MostCommon(epsilon=0.5, candidates=["red", "green", "blue"])
    >>> mechanism.release(["red"] * 80 + ["blue"] * 3)
    'red'
    >>> mechanism.law(["red", "red", "blue"]).probabilities.round(4)
    array([0.5065, 0.1863, 0.3072])
    >>> colours = ["red", "green", "blue"]
    >>> flips = fx.MostCommon(epsilon=0.5, candidates=colours, mechanism="permute-and-flip")
    >>> flips.law(["red", "red", "blue"]).probabilities.round(4)
    array([0.5872, 0.1468, 0.2661])
    """

    _over_records: ClassVar[bool] = True

    epsilon: float
    candidates: tuple[Any, ...]
    neighbors: Neighbors = field(default="add-remove", kw_only=True, metadata=ALWAYS)
    mechanism: Selecting = field(default=EXPONENTIAL, kw_only=True)
    any_epsilon: bool = field(default=False, kw_only=True, compare=False)

    if TYPE_CHECKING:  # wider than the fields: a sequence becomes a tuple

        def __init__(
            self,
            epsilon: float,
            candidates: Iterable[Any],
            *,
            neighbors: Neighbors = "add-remove",
            mechanism: Selecting = EXPONENTIAL,
            any_epsilon: bool = False,
        ) -> None: ...

    def __post_init__(self) -> None:
        """Validate once; the mechanism is immutable afterwards."""
        self._put(
            any_epsilon=validate.flag("any_epsilon", self.any_epsilon),
            epsilon=validate.epsilon(self.epsilon, self.any_epsilon),
            candidates=validate.candidates(self.candidates),
            neighbors=validate.neighbors(self.neighbors),
            mechanism=validate.choice("mechanism", self.mechanism, (EXPONENTIAL, PERMUTE_AND_FLIP)),
        )
        self._weigh(count_rate(self.epsilon, self.neighbors))

    @property
    def _labels(self) -> tuple[Any, ...]:
        return self.candidates

    @property
    def _flips(self) -> bool:
        return self.mechanism == PERMUTE_AND_FLIP

    @cached_property
    def guarantee(self) -> Guarantee:
        """ε-DP under `neighbors`; by the exponential mechanism ε-bounded-range, too."""
        if self._flips:
            return pure_guarantee(self.epsilon, self.neighbors, ASSUMES)
        return selection_guarantee(self.epsilon, self.neighbors, ASSUMES)

    def _utilities(self, data: object, nan: NaN) -> tuple[WordArray, int]:
        counts = utilities.counts(data, self.candidates)
        return _data.utilities(counts, None, nan)

    def _release(self, bits: WordArray, kind: int, threads: int) -> int | IntArray:
        if not self._flips:
            return super()._release(bits, kind, threads)
        return permute_flip.release_one(bits, kind, self._weighting)

    def _simulator(self) -> Simulator:
        return permute_flip.simulate if self._flips else super()._simulator()

    def _law(self, bits: WordArray, kind: int) -> FiniteLaw:
        if not self._flips:
            return super()._law(bits, kind)
        from ..laws.permute_flip import PermuteAndFlipLaw

        return PermuteAndFlipLaw(bits, kind, self._weighting, self.epsilon, self.candidates)

    @overload
    def release(
        self,
        data: object,
        *,
        by: None = None,
        groups: object = None,
        **options: Unpack[CountReleaseOptions],
    ) -> Any: ...
    @overload
    def release(  # type: ignore[overload-overlap]  # which are also objects
        self,
        data: object,
        *,
        by: object,
        groups: Literal["from-data"],
        **options: Unpack[CountReleaseOptions],
    ) -> tuple[list[Any], list[Any]]: ...
    @overload
    def release(
        self, data: object, *, by: object, groups: object, **options: Unpack[CountReleaseOptions]
    ) -> list[Any]: ...
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
        """One private selection, or one for each group, from the operating system's randomness.

        Parameters
        ----------
        data : array_like
            Records: one label a person, a sequence, array or column; or counts with labels.
        by, groups, offsets, person
        max_groups, max_rows
        disjoint, membership
        key, label, budget, threads
        nan : {"raise"}
            Records that equal no candidate count nowhere, whatever they are.

        Returns
        -------
        object
            The selected candidate; for groups a list of candidates in their order, with
            ``groups="from-data"`` a tuple of the groups (sorted) and that list.

        Raises
        ------
        ParameterTypeError, ParameterError
            If the form of the records is wrong, or what is said of groups, persons and keys
            does not fit together.
        BudgetExceeded
        LabelError
        BudgetError
        InvalidRecords
            If records cannot be counted. A budget is charged before, and a label used up.
        RandomnessError

        Notes
        -----
        **Privacy**: `guarantee`, for every call anew; of groups ``total(groups=True, ...)``.

        Examples
        --------
        >>> import fastexp as fx
        >>> drink = fx.MostCommon(epsilon=1.0, candidates=["tea", "coffee"])
        >>> cups = ["tea"] * 60 + ["coffee"] * 60
        >>> drink.release(cups, by=[1] * 60 + [2] * 60, groups=[2, 1])
        ['coffee', 'tea']
        """
        check_rounding()
        request = Request(by, groups, offsets, person, max_groups, max_rows)
        validate.choice("nan", nan, ("raise", "lowest"))
        if not self._has_labels(data, request, key):
            check_type(data, self.candidates)
        records = Records(data, labels=True)
        if records.many or request.given() or request.claimed() or key is not None:
            return verbs.release(
                self,
                records,
                request,
                key=key,
                label=label,
                budget=budget,
                threads=threads,
                nan="drop",
                disjoint=disjoint,
                membership=membership,
            )
        return super().release(
            records.data,
            budget=budget,
            label=label,
            threads=threads,
            nan=nan,
            disjoint=disjoint,
            membership=membership,
        )

    def _has_labels(self, data: object, request: Request, key: ReleaseKey | None = None) -> bool:
        """Whether the data are counts with labels, which are of one data set and no person's."""
        labelled = utilities.has_labels(data, self.candidates)
        if labelled and (request.given() or request.claimed() or key is not None):
            raise ParameterError(
                "by, groups, offsets, person, max_groups, max_rows and key go with records, got "
                "counts with labels"
            )
        return labelled

    def _question(
        self,
        rows: int | None,  # noqa: ARG002  # numbers are bounded by n
        disjoint: bool,
        membership: Membership,
        nan: NaN,  # noqa: ARG002  # missing ones have no effect
    ) -> Question:
        """The question that it is with a key, too."""
        return Request().question(self, 1, disjoint, membership, "drop", "")

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
    def sample(  # pyright: ignore[reportIncompatibleMethodOverride]  # more of them
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
        """Simulation: reproducible draws of the law that `release` draws from.

        **Not a release**: a seeded draw is not private, and ten thousand draws are not one.

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
            Give candidates, as `release` does, one or as lists, and not their indices.

        Returns
        -------
        int or ndarray of int64, shape (size,), (groups,) or (groups, size)
            Indices of candidates; with ``groups="from-data"`` a tuple of the groups and these.

        Raises
        ------
        ParameterTypeError, ParameterError, InvalidRecords
            As in `release`, and for `size`, `rng`, `streams` and `method`.
        """
        check_rounding()
        named = self._named(labels)
        request = Request(by, groups, offsets, person, max_groups, max_rows)
        self._has_labels(data, request)
        records = Records(data, labels=True)
        if records.many or request.given():
            verbs.only_enveloped(method, streams)
            drawn = verbs.sample(self, records, request, size, rng, threads, "drop")
            if named and isinstance(drawn, tuple):  # with the groups of the data
                return drawn[0], self._labelled(drawn[1])
        else:
            bits, kind = self._utilities(records.data, nan)
            simulate = self._simulator()
            drawn = simulate(bits, kind, self._weighting, size, rng, streams, threads, method)
        return self._labelled(drawn) if named else drawn

    def _policy(self, nan: object) -> str:
        """Records that equal no candidate count nowhere, missing or not."""
        validate.choice("nan", nan, ("raise", "lowest", "drop", "lower", "upper"))
        return "drop"

    def _reading(self) -> Reading:
        """What the candidates are."""
        kinds = {type(label) for label in self.candidates}
        if kinds in ({int}, {bool}):
            return "integers" if kinds == {int} else "booleans"
        return "numbers" if kinds <= {int, float} else "text"

    def _read_as(self, nan: str) -> Hashable:  # noqa: ARG002  # missing ones are no candidate
        """The numbers of the same candidates."""
        return "candidates", tuple((type(label), label) for label in self.candidates)

    def _streamed(self, records: Callable[[], Iterator[AnyArray]], threads: int) -> int:
        """One released draw for records that are read in parts."""
        counts = np.zeros(len(self.candidates), np.int64)
        for part in records():
            counts += np.bincount(part, minlength=counts.size)
        return int(self._release(*_data.utilities(counts, None, "raise"), threads))

    def _exact(self, values: AnyArray) -> FiniteLaw:
        """The exact law of a draw for these numbers of candidates."""
        counts = np.bincount(values, minlength=len(self.candidates)).astype(np.int64)
        return self._law(*_data.utilities(counts, None, "raise"))

    def _kind(self, released: bool) -> Kind:
        """Candidates of one kind, or their numbers."""
        kinds = {type(label) for label in self.candidates}
        if not released:
            return "integers"
        if kinds == {int}:
            if min(self.candidates) >= -(1 << 63) and max(self.candidates) < 1 << 63:
                return "integers"
            raise ParameterError("candidates must be in [-2**63, 2**63), for a column of them")
        if kinds == {str}:
            if all(map(validate.is_utf8, self.candidates)):
                return "text"
            raise ParameterError("candidates must have no lone surrogates, for a column of them")
        if kinds == {bool}:
            return "booleans"
        raise ParameterTypeError(
            "candidates must be all int, all text or all bool, for a column of them"
        )

    def _read(
        self,
        records: object,
        nan: str,  # noqa: ARG002  # missing ones are no candidate
    ) -> tuple[AnyArray, AnyArray | None]:
        """Records by group as numbers of candidates."""
        return read_labels(records, self.candidates)

    def _place(self, values: AnyArray) -> IntArray:
        """They are numbers already."""
        return values

    def _draws(self, segments: Segments, words: Words, size: int) -> Draws:
        """Draws of each segment."""
        draws = FlipCountDraws if self._flips else ExponentialCountDraws
        return draws(len(self.candidates), self._weighting.rate, segments, words, size)

    def _answer(self, index: int | IntArray, released: bool) -> Any:
        """Numbers to candidates; of samples they stay numbers."""
        number = index if np.ndim(index) else int(index)
        return self._labelled(number) if released else number
