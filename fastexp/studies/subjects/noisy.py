"""Statistics with noise added: smooth and global sensitivity, exact by closed forms."""

from __future__ import annotations

from collections.abc import Collection
from typing import cast

import numpy as np

from ..._numbers.noise import medians, simulate
from ..._typing import AnyArray, FloatArray
from ...laws.figures import Figures
from ...laws.noises import ClampedNoise, Noise
from ...mechanisms._noisy import NoisyMedian
from .subject import Block, TrueNumber


class Noisy(TrueNumber):
    """Clamped T + scale * Z: figures of all data sets of a block at once."""

    mechanism: NoisyMedian

    def __init__(self, mechanism: NoisyMedian, bounds: tuple[float, float]) -> None:
        super().__init__(mechanism, bounds)
        self.closed: bool = mechanism._noise is not None

    @property
    def _noise(self) -> Noise:
        """The noise of a mechanism with closed forms."""
        return cast("Noise", self.mechanism._noise)

    def truths(self, block: Block) -> FloatArray:
        """The median: of records beyond the bounds it is not the centre of the noise."""
        midpoint = getattr(self.mechanism, "midpoint", False)
        return medians(np.asarray(block.ordered, dtype=np.float64), -np.inf, np.inf, midpoint)

    def _placed(self, block: Block) -> tuple[FloatArray, FloatArray]:
        """Centres and scales, computed once a block."""
        if self not in block.shared:
            ordered = np.asarray(block.ordered, dtype=np.float64)
            block.shared[self] = self.mechanism._centres_and_scales(ordered)
        pairs: tuple[FloatArray, FloatArray] = block.shared[self]
        return pairs

    def exact(self, block: Block, names: Collection[str]) -> Figures:
        return self._outputs(block).figures(self.truths(block), names)

    def _outputs(self, block: Block) -> ClampedNoise:
        return ClampedNoise(self._noise, *self._placed(block), (self.low, self.high))

    def draw(self, block: Block, size: int, key: int) -> AnyArray:
        """What `sample` gives, with the centres and scales that are known."""
        (centres, scales), mechanism = self._placed(block), self.mechanism
        return simulate(
            mechanism._kind, centres, scales, mechanism._limits, key, block.streams, size, 1
        )

    def within(self, block: Block, figure: str, edges: FloatArray) -> FloatArray:
        centres, scales = (part[:, None] for part in self._placed(block))
        outputs = ClampedNoise(self._noise, centres, scales, (self.low, self.high))
        truths = self.truths(block)[:, None]
        return 1.0 - outputs.tails(truths + edges)[1] - outputs.before(truths - edges)[0]
