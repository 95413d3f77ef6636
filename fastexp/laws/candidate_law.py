"""What laws of candidates share: utilities, labels, draws; and those of several in order."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import islice, permutations
from typing import Any, ClassVar

import numpy as np

from .._compiler.rounding import check_rounding
from .._parameters import validate
from .._randomness.sampling import Sampling
from .._selection.weighting import Weighting
from .._typing import AnyArray, ArrayLike, IntArray, WordArray
from ..errors import ParameterError
from .law import Law, Many_co, One_co
from .loss_groups import exact_values

SELECTIONS = 1 << 20  # that a privacy loss is computed of


class CandidateLaw(Law[One_co, Many_co]):
    """A law of candidates by their utilities, as kernels take them."""

    _simulate: ClassVar[Callable[..., Any]]

    def __init__(
        self,
        bits: WordArray,
        kind: int,
        weighting: Weighting,
        epsilon: float,
        candidates: tuple[Any, ...] | None,
    ) -> None:
        self._bits, self._kind, self._weighting = bits, kind, weighting
        self._epsilon, self._candidates = epsilon, candidates
        self._check_utilities()

    def _check_utilities(self) -> None:
        """Refuse what the law is not defined for."""

    @property
    def candidates(self) -> tuple[Any, ...] | None:
        """The labels, in the order of the indices; None: there are none."""
        return self._candidates

    @property
    def utilities(self) -> AnyArray:
        """The utilities of the candidates, shape (k,), read-only: int64, uint64 or float64.

        As they were given, scored or counted; NaN that was to be read as the lowest is that.
        """
        values: AnyArray = self._bits.view((np.float64, np.int64, np.uint64)[self._kind])
        values.flags.writeable = False
        return values

    @property
    def _names(self) -> Sequence[Any]:
        return range(self._bits.size) if self._candidates is None else self._candidates

    @property
    def _utilities(self) -> AnyArray:
        """The utilities as the numbers that they are."""
        return exact_values(self._bits, self._kind)

    def _exact_rate(self) -> Fraction:
        return self._weighting.rate

    def _output_at(self, index: int) -> Any:
        return self._names[index]

    def _draw(self, sampling: Sampling) -> Any:
        return self._simulate(self._bits, self._kind, self._weighting, sampling)


class OrderedSelections(CandidateLaw[IntArray, IntArray]):
    """A law of k candidates in order."""

    def __init__(
        self,
        bits: WordArray,
        kind: int,
        weighting: Weighting,
        places: int,
        epsilon: float,
        candidates: tuple[Any, ...] | None,
    ) -> None:
        super().__init__(bits, kind, weighting, epsilon, candidates)
        self._places = places

    @property
    def k(self) -> int:
        """How many candidates are selected."""
        return self._places

    def _sizes(self) -> dict[str, int]:
        return {"candidates": self._bits.size}

    def log_probability(self, selection: ArrayLike) -> float:
        """ln P(exactly these candidates are selected, in this order).

        Parameters
        ----------
        selection : array_like of int, shape (k,)
            Indices of distinct candidates. By rounds also fewer than k: of the first places.

        Returns
        -------
        float
            -inf where it is beyond float64.

        Raises
        ------
        ParameterError
            If there are too many or too few, one is out of range, or one comes twice.
        """
        check_rounding()
        return self._log_probability(self._checked(selection))

    def _checked(self, selection: ArrayLike) -> list[int]:
        return validate.indices("selection", selection, self._places, self._bits.size)

    @abstractmethod
    def _log_probability(self, indices: list[int]) -> float:
        """`log_probability`, of checked indices."""

    def _selections(self, kind: str) -> int:
        """How many selections there are, where a privacy loss can be computed of all."""
        count = math.perm(self._bits.size, self._places)
        if count > SELECTIONS:
            raise ParameterError(
                f"privacy_loss of {kind} needs at most 2**20 possible selections, got {count}"
            )
        return count

    def _draw(self, sampling: Sampling) -> Any:
        return self._simulate(self._places, self._bits, self._kind, self._weighting, sampling)

    def _output_at(self, index: int) -> tuple[Any, ...]:
        return next(islice(permutations(self._names, self._places), index, None))
