"""Laws of mechanisms: figures, and draws."""

from __future__ import annotations

from typing import Any

from ..data.segments import Segments
from ..draws.words import seeds_of
from ..laws.figures import Figures
from ..laws.runs import Runs
from ..parameters import checks


class Law(Figures):
    """The exact distribution of a mechanism's answer on one data set: not private."""

    def __init__(self, mechanism: Any, data: Segments, runs: Runs) -> None:
        super().__init__(runs)
        self.mechanism, self._data = mechanism, data

    __hash__ = None  # type: ignore[assignment]  # it would be a fingerprint of the data

    def __repr__(self) -> str:
        return f"Law({self.mechanism!r})"

    def sample(self, size: int | None = None, *, rng: Any = None) -> Any:
        """Return the draws of ``mechanism.sample(data, size, rng=rng)``, byte by byte."""
        draws = None if size is None else checks.whole("size", size, 1, checks.MOST_SIZE)
        drawn = self.mechanism._draw(self._data, seeds_of(rng, None, 1), draws)
        return self.mechanism._simulated(drawn)
