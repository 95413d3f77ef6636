"""What every mechanism with finitely many candidates does: release, sample, law."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import MISSING, fields
from typing import Any, ClassVar, overload

from .._compiler.rounding import check_rounding
from .._intake import utilities
from .._parameters import validate
from .._selection import draw as _draw
from .._selection.weighting import Weighting
from .._typing import (
    ArrayLike,
    IntArray,
    Membership,
    NaN,
    Neighbors,
    RNGLike,
    SeedLike,
    WordArray,
)
from ..budget.budget import Budget, once
from ..budget.question import Question
from ..errors import ParameterError, ParameterTypeError
from ..grouped.request import check_key
from ..laws.finite import FiniteLaw
from ..privacy import Guarantee, total

SHOWN = 8  # candidates in a repr
ASSUMES = (
    "sensitivity bounds how much one record changes the utility of any one candidate, in the "
    "numbers as they are represented"
)
MONOTONIC = "; one record moves no two utilities in opposite directions (monotonic)"


class FiniteMechanism(ABC):
    """Public parameters and the three verbs. Subclasses say how data becomes utilities."""

    epsilon: float
    candidates: tuple[Any, ...] | None
    _weighting: Weighting
    _over_records: ClassVar[bool] = False  # then even to look at the data costs, as it may fail

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """What one draw promises."""

    @abstractmethod
    def _utilities(self, data: Any, nan: NaN) -> tuple[WordArray, int]:
        """The utilities of the candidates, as kernels take them."""

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
        """The promise of a whole batched or grouped release; `fastexp.privacy.total`.

        Parameters
        ----------
        rows : int
            How many draws look at the same records; how many rows a matrix has.
        disjoint : bool
            The rows are disjoint parts of the data.
        groups : bool
            Each draw is made once for each of several disjoint groups.
        membership : {"private", "public"}
            Whether somebody who is replaced may change their row or group, or stays.
        max_groups, max_rows : int
            In how many groups or disjoint rows one person can be, and how many records of
            theirs each can hold.
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
        data: Any,
        *,
        budget: Budget | None = None,
        label: str | None = None,
        threads: int = 1,
        nan: NaN = "raise",
        disjoint: bool = False,
        membership: Membership = "private",
    ) -> Any:
        """One private selection, or one for each row, from the operating system's randomness.

        Exact: integers and lazily drawn bits decide, so the output law *is* the
        mechanism's. There is no seed and no state: forks, threads, copies and pickles never
        repeat a draw.

        Parameters
        ----------
        data : array_like
            What the mechanism takes: utilities of shape (k,) or (rows, k), k >= 2, or records.
        budget : Budget, optional
            Is charged `total` of the whole call before anything is drawn, and never
            refunded: not even if the release then fails.
        label : str, optional
            With `budget`: what the release is called. A `Budget.file` keeps its answers under
            this name, and the same call gives them again, whatever the data are by now,
            without a charge.
        threads : int
            1; 0 for all that the process may use. Pays from about 1e6 candidates.
        nan : {"raise", "lowest"}
            NaN utilities: refuse (this depends on the data and is outside the guarantee),
            or read them as the lowest finite number. Infinite ones are always refused.
        disjoint, membership
            As for `total`: what a budget is charged for a matrix. rows times epsilon, unless
            its rows are disjoint parts of the data.

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
            If the rest of the budget does not cover it: nothing is drawn or charged.
        LabelError
            If the label is another question's, or was used up by a failure.
        BudgetError
            If the budget cannot be used.
        InvalidUtilities, InvalidRecords, ScoreError
            If a utility is not finite, records cannot be counted, or the score fails. A
            budget is charged before this is looked at, and a label used up.
        RandomnessError
            If the operating system gives no randomness.

        Notes
        -----
        **Privacy**: `guarantee`, for every call anew: two releases of the same data cost
        twice. **Numerics**: epsilon, sensitivity and utilities are read as the exact
        numbers that they are. **Timing**: see the mechanism, and SECURITY.md: no
        promise of constant time.
        """
        check_rounding()
        if type(threads) is not int or threads != 1:
            threads = validate.threads(threads)
        validate.parts(disjoint, membership)
        if label is not None:
            label = check_key(None, label, budget)
        elif budget is None or not self._over_records:  # mistakes in the form cost nothing
            bits, kind = self._utilities(data, nan)
            _refuse_one(bits.shape[-1])
            if budget is None:
                return self._labelled(self._release(bits, kind, threads))
            rows = bits.shape[0] if bits.ndim == 2 else None
            question = self._question(rows, disjoint, membership, nan)
            found = once(budget, None, question, lambda: self._release(bits, kind, threads))
            return self._labelled(found)
        rows, count = (None, None) if self._over_records else utilities.form(data)
        question = self._question(rows, disjoint, membership, nan)

        def draw() -> Any:
            bits, kind = self._utilities(data, nan)
            if (bits.shape[0] if bits.ndim == 2 else None) != rows:
                raise ParameterTypeError(utilities.NOT_NUMBERS)
            return self._labelled(self._release(bits, kind, threads))

        return once(budget, label, question, draw, lambda: _refuse_one(count))

    def _question(
        self, rows: int | None, disjoint: bool, membership: Membership, nan: NaN
    ) -> Question:
        """What a release asks; of a matrix with so many rows."""
        form = "utilities", rows is not None, nan
        count = 1 if rows is None else rows
        return Question(self, count, disjoint, membership=membership, form=form)

    def _release(self, bits: WordArray, kind: int, threads: int) -> int | IntArray:
        if bits.ndim == 2:
            return _draw.release_rows(bits, kind, self._weighting, threads)
        return _draw.release(bits, kind, self._weighting, threads)

    def _labelled(self, chosen: int | IntArray) -> Any:
        """Indices, as numbers or arrays, to candidates, as one or as lists."""
        labels = self.candidates
        if labels is None:
            return chosen
        if isinstance(chosen, int):
            return labels[chosen]
        return [self._labelled(row) if row.ndim else labels[int(row)] for row in chosen]

    @overload
    def sample(
        self,
        data: Any,
        size: None = None,
        *,
        rng: SeedLike | RNGLike | None = None,
        streams: ArrayLike | None = None,
        threads: int = 1,
        method: str | None = None,
        nan: NaN = "raise",
    ) -> int: ...
    @overload
    def sample(
        self,
        data: Any,
        size: int,
        *,
        rng: SeedLike | RNGLike | None = None,
        streams: ArrayLike | None = None,
        threads: int = 1,
        method: str | None = None,
        nan: NaN = "raise",
    ) -> IntArray: ...
    def sample(
        self,
        data: Any,
        size: int | None = None,
        *,
        rng: SeedLike | RNGLike | None = None,
        streams: ArrayLike | None = None,
        threads: int = 1,
        method: str | None = None,
        nan: NaN = "raise",
    ) -> int | IntArray:
        """Simulation: reproducible draws of the law that `release` draws from.

        **Not a release**: a seeded draw is not private, and ten thousand draws are not one.

        Parameters
        ----------
        data : array_like
            What the mechanism takes: utilities of shape (k,) or (rows, k), or records.
        size : int, optional
            How many draws of each row; None: one.
        rng : {None, int, array_like[ints], SeedSequence, BitGenerator, Generator}, optional
            None: fresh from the operating system. An int or `SeedSequence` always gives
            the same draws, a generator moves on (Scientific Python's SPEC 7).
        streams : array_like of int, shape (rows,), optional
            The name of each row's stream, in [0, 2**64); default its number. Utilities of
            shape (k,) are row 0; row i alone with ``streams=[i]`` gives the same draws.
        threads : int
            1; 0 for all. Never changes the draws.
        method : {None, "envelope", "gumbel"}, optional
            Pins the kernel. The default, "envelope", is exact, and permute-and-flip's only
            one; "gumbel" takes the greatest
            of utilities with Gumbel noise, right to some 1e-15, and needs no second look.
        nan : {"raise", "lowest"}
            As in `release`.

        Returns
        -------
        int or ndarray of int64, shape (size,), (rows,) or (rows, size)
            Indices of candidates. The bytes depend on data, key, stream and size alone: not
            on threads, CPU or data type of equal integers.

        Raises
        ------
        ParameterTypeError, ParameterError, InvalidUtilities
            As in `release`, and for `size`, `rng`, `streams` and `method`.
        """
        check_rounding()
        bits, kind = self._utilities(data, nan)
        return self._simulate(bits, kind, size, rng, streams, threads, method)

    def _simulate(self, bits: WordArray, kind: int, *how: Any) -> int | IntArray:
        return _draw.simulate(bits, kind, self._weighting, *how)

    def law(self, data: Any, *, nan: NaN = "raise") -> FiniteLaw:
        """The exact law of `release` and `sample` on this data, **which it holds**.

        Parameters
        ----------
        data : array_like
            What the mechanism takes: utilities of shape (k,), or records.
        nan : {"raise", "lowest"}
            As in `release`.

        Returns
        -------
        FiniteLaw
        """
        check_rounding()
        bits, kind = self._utilities(data, nan)
        utilities.one_row(bits)
        kept = bits.copy()  # a later change of the caller's array must not change the law
        return self._law(kept, kind)

    def _law(self, bits: WordArray, kind: int) -> FiniteLaw:
        return FiniteLaw(bits, kind, self._weighting, self.epsilon, self.candidates)


def _refuse_one(candidates: int | None) -> None:
    """One candidate alone is not released: its answer would be a constant."""
    if candidates == 1:
        raise ParameterError(f"utilities must be of at least two candidates: {validate.ALONE}")


def check_selection(mechanism: Any) -> None:
    """Validate what every mechanism has that takes utilities, and put in exact values."""
    put = object.__setattr__
    put(mechanism, "any_epsilon", validate.flag("any_epsilon", mechanism.any_epsilon))
    put(mechanism, "sensitivity", validate.sensitivity(mechanism.sensitivity))
    put(mechanism, "monotonic", validate.flag("monotonic", mechanism.monotonic))
    if getattr(mechanism, "rho", None) is None:  # which `TopK` may have instead
        put(mechanism, "epsilon", validate.epsilon(mechanism.epsilon, mechanism.any_epsilon))
    if getattr(mechanism, "candidates", None) is not None:
        put(mechanism, "candidates", validate.candidates(mechanism.candidates))


def selection_repr(mechanism: Any) -> str:
    """A mechanism as it is written, with the parameters that are not the default."""
    parts = []
    for item in fields(mechanism):
        value = getattr(mechanism, item.name)
        if item.repr and item.init and (item.default is MISSING or value != item.default):
            parts.append(f"{item.name}={shown(value) if isinstance(value, tuple) else repr(value)}")
    return f"{type(mechanism).__name__}({', '.join(parts)})"


def shown(values: tuple[Any, ...] | None) -> str:
    """A public tuple in a repr: in full if short, else its length."""
    if values is None or len(values) <= SHOWN:
        return repr(values)
    return f"<{len(values)} values>"
