"""The arguments that say how draws of a simulation are made."""

from __future__ import annotations

from typing import NamedTuple

from .._parameters import validate
from .._typing import WordArray
from .streams import seeds_of


class Sampling(NamedTuple):
    """Those of `sample`, as they were given."""

    size: object = None
    rng: object = None
    streams: object = None
    threads: object = 1
    method: object = None

    def checked(
        self, methods: tuple[str, ...] = ("envelope", "gumbel"), rows: int = 1
    ) -> tuple[str, int | None, int, WordArray]:
        """The method, how many draws (None: one), threads, and the seeds of so many rows."""
        way = validate.method(self.method, methods)
        draws, workers = validate.size(self.size), validate.threads(self.threads)
        return way, draws, workers, seeds_of(self.rng, validate.streams(self.streams, rows))
