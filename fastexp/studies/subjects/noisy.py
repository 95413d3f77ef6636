"""Statistics with noise added: smooth and global sensitivity, exact by closed forms."""

from __future__ import annotations

import numpy as np

from ..._numbers import noise as _noise
from ..._numbers import smooth as _smooth
from ..._typing import AnyArray, FloatArray
from ...laws.clamped_noise import ClampedNoise
from ...laws.elementary import quiet
from .subject import Block, TrueNumber, squared


class Noisy(TrueNumber):
    """Clamped T + scale * Z: figures of all data sets of a block at once."""

    @property
    def closed(self) -> bool:
        """Whether the noise has closed forms; else there are draws alone."""
        return self.mechanism._noise is not None

    def truths(self, block: Block) -> FloatArray:
        return self._placed(block)[0]

    def _placed(self, block: Block) -> tuple[FloatArray, FloatArray]:
        """Centres and scales, which are asked for several times."""
        if self not in block.shared:
            self._place(block, np.asarray(block.ordered, dtype=np.float64))
        found: tuple[FloatArray, FloatArray] = block.shared[self]
        return found

    def _place(self, block: Block, ordered: FloatArray) -> None:
        block.shared[self] = self.mechanism._centres_and_scales(ordered)

    def exact(self, block: Block, figures: tuple[str, ...]) -> dict[str, FloatArray]:
        if not self.closed:
            return {}
        below, above = self._outputs(block).sides()
        means = {"error": below + above, "bias": above - below}
        return {figure: means[figure] for figure in figures}

    def variances(self, block: Block, exact: dict[str, FloatArray]) -> dict[str, FloatArray]:
        if not self.closed:
            return {}
        outputs = self._outputs(block)
        return squared(outputs.variance() + outputs.bias() ** 2, exact)

    def _outputs(self, block: Block) -> ClampedNoise:
        return ClampedNoise(self.mechanism._noise, *self._placed(block), (self.low, self.high))

    def draw(self, block: Block, size: int, key: int) -> AnyArray:
        """What `sample` gives, with the centres and scales that are known."""
        what = self.mechanism._kind, *self._placed(block), self.mechanism._limits
        return _noise.simulate(*what, key, block.streams, size, 1)

    @quiet
    def within(self, block: Block, figure: str, edges: FloatArray) -> FloatArray:  # noqa: ARG002
        """P(|output - T| <= edge): a side is all in from its bound on, as answers are clamped."""
        centres, scales = (part[:, None] for part in self._placed(block))
        sizes = np.minimum(edges / np.maximum(scales, np.finfo(np.float64).tiny), 1e300)
        half = 0.5 * self.mechanism._noise.tail(sizes)
        above = np.where(edges >= self.high - centres, 0.0, half)
        below = np.where(edges >= centres - self.low, 0.0, half)
        return np.where(scales > 0, 1.0 - above - below, 1.0)


class Smooth(Noisy):
    """Noise on smooth sensitivity: its kernel takes the betas of all such cells at once."""

    def _place(self, block: Block, ordered: FloatArray) -> None:
        own = self.mechanism
        low, high = own._limits
        how = own.neighbors, own.midpoint
        alike = [
            other
            for other in block.subjects
            if isinstance(other, Smooth)
            and (other.mechanism.neighbors, other.mechanism.midpoint) == how
        ]
        centres = _noise.medians(ordered, low, high, own.midpoint)
        betas = [other.mechanism.beta for other in alike]
        found = _smooth.rows(ordered, betas, low, high, None, *how)
        for other, smooth in zip(alike, found.T, strict=True):
            block.shared[other] = centres, smooth / other.mechanism.alpha
