"""The exact law of one quantile, with the face of several."""

from __future__ import annotations

from typing import Any, NoReturn

from ..errors import ParameterError
from .grid import GridLaw
from .quantiles import QuantilesLaw
from .targets import Target


class OneQuantileLaw(QuantilesLaw):
    """The law of `Quantile`, where several could be: each figure is an array of one."""

    def __init__(self, alone: GridLaw, *several: Any) -> None:
        super().__init__(*several)
        self._alone = self._marginals[0] = alone

    def _identity(self) -> tuple[object, ...]:
        return *super()._identity(), self._alone

    @property
    def log_normalizer(self) -> float:
        """As of `Quantile.law`."""
        return self._alone.log_normalizer

    def total(self) -> NoReturn:
        """Refused: one quantile has no total beside it."""
        raise ParameterError("total needs two quantiles or more, got one")

    def _epsilon_for(self, target: Target) -> float:
        return self._alone._epsilon_for(target)
