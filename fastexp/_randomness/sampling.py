"""The arguments that say how a simulation draws."""

from __future__ import annotations

from typing import NamedTuple

from .._parameters import validate
from .._typing import WordArray
from .streams import seeds_of


class Sampling(NamedTuple):
    """The sampling arguments of `sample`, not checked yet."""

    size: object = None
    rng: object = None
    streams: object = None
    threads: object = 1
    method: object = None

    def checked(
        self, methods: tuple[str, ...] = ("envelope", "gumbel"), rows: int = 1
    ) -> tuple[str, int | None, int, WordArray]:
        """Return the method, the number of draws (None: one), threads, and the rows' seeds."""
        way = validate.method(self.method, methods)
        draws, workers = validate.size(self.size), validate.threads(self.threads)
        return way, draws, workers, seeds_of(self.rng, validate.streams(self.streams, rows))
