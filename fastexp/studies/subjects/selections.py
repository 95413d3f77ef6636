"""Selections under study: from the utilities of candidates, which are a data set, to one or k."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, TypeAlias

import numpy as np

from ..._parameters.descriptions import name_of
from ..._typing import AnyArray, FloatArray, WordArray
from ...errors import StudyError
from ...laws.bounds import loss_bound
from ...laws.figures import SQUARES, Figures, of_laws
from ...mechanisms._counting import CountsMechanism
from ...mechanisms.joint_top_k import JointTopK
from ...privacy import Guarantee, pure_guarantee, selection_rate
from .subject import Block, Random, StudySubject, one_of_units, random_of

NODES, WEIGHTS = np.polynomial.legendre.leggauss(48)
MAX_PIECE = 4.0  # scales of the noise in a piece of the quadrature, at most
TAIL = 44.0  # scales to either side of the best utility: about e^-44 of the mass is beyond


def noisy_max_losses(losses: FloatArray, rate: float) -> FloatArray:
    """Return the probability that each candidate wins report-noisy-max, from candidates' losses.

    The noise is Laplace noise of scale 1 / rate. Candidate i wins with probability
    ∫ f(x - u_i) ∏_{j ≠ i} F(x - u_j) dx, with f and F the density and distribution function of the
    noise. Between neighbouring utilities the integrand is smooth; Gauss-Legendre quadrature with
    48 nodes on pieces of at most 4 scales has an error of some 1e-14.
    """
    distinct, group = np.unique(rate * losses, return_inverse=True)
    counts = np.bincount(group)
    x, weights = _nodes(-distinct)
    below = np.zeros_like(x)  # the logarithm of the product of all F
    shares = []
    for loss, count in zip(distinct, counts, strict=True):
        below += count * _log_below(x + loss)
    for loss in distinct:
        density = 0.5 * np.exp(-np.abs(x + loss))
        shares.append(float((weights * density * np.exp(below - _log_below(x + loss))).sum()))
    masses = np.array(shares)
    return np.asarray((masses / (masses * counts).sum())[group])


def _log_below(z: FloatArray) -> FloatArray:
    """Return the logarithm of the distribution function of the Laplace distribution."""
    low = np.minimum(z, 0.0)
    return np.where(z < 0, low - np.log(2.0), np.log1p(-0.5 * np.exp(-np.maximum(z, 0.0))))


def _nodes(utilities: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return nodes and weights from far below the best utility (0) to far above it."""
    inner = utilities[utilities > -TAIL]
    knots = np.unique(np.concatenate([[-TAIL, TAIL], inner]))
    parts = []
    for low, high in pairwise(knots):
        parts.append(np.linspace(low, high, int(np.ceil((high - low) / MAX_PIECE)) + 1)[:-1])
    ends = np.append(np.concatenate(parts), TAIL)
    half = np.diff(ends) / 2
    x = (ends[:-1] + half)[:, None] + half[:, None] * NODES
    return x.reshape(-1), (half[:, None] * WEIGHTS).reshape(-1)


class Utilities(StudySubject):
    """A mechanism whose `sample` takes rows of utilities."""

    takes: ClassVar[str] = "utilities"
    is_bounded: ClassVar[bool] = False

    def _as_input(self, rows: AnyArray) -> AnyArray:
        """Return utilities as the mechanism takes them: as integers if it takes counts."""
        if not isinstance(self.mechanism, CountsMechanism):
            return np.ascontiguousarray(rows)
        counts = np.ascontiguousarray(rows, dtype=np.int64)
        if not np.array_equal(counts, rows):
            name = name_of(self.mechanism)
            raise StudyError(f"{name} takes counts: the utilities of its data must be integers")
        return counts

    def draw(self, block: Block, size: int, key: int) -> AnyArray:
        rows = self._as_input(block.rows)
        return np.asarray(self.mechanism.sample(rows, size, rng=key, streams=block.streams))

    def most(self, figure: str, n: int) -> float:
        return float(self.mechanism.sensitivity) * 2.0**20

    def resolution(self, figure: str, n: int, whole: bool) -> float:
        return 1.0 if whole else 0.0

    def reach(self, block: Block, figure: str) -> float:
        rows = block.rows
        return 1.0 if figure == "error" else float((rows.max(axis=1) - rows.min(axis=1)).max())


class Selection(Utilities):
    """`Exponential`, `PermuteAndFlip`, `ReportNoisyMax`: figures by the law of each data set.

    With Laplace noise, probabilities are computed by quadrature, to some 1e-12, and no theorem
    holds. The error of a draw is 1 if its candidate is not among the best, and 0 otherwise: the
    expected error is the probability of a wrong selection.
    """

    figures: tuple[str, ...] = (
        "error",
        "loss",
        "loss_quantile",
        "theorem_6",
        "corollary_7",
    )

    def __init__(self, mechanism: Any) -> None:
        super().__init__(mechanism)
        self.is_laplace = getattr(mechanism, "noise", "") == "laplace"
        if self.is_laplace:
            self.figures = self.figures[:3]

    def exact(self, block: Block, names: Collection[str]) -> Figures:
        columns: dict[str, list[float]] = {name: [] for name in names}
        for row in block.rows:
            losses, masses = self._losses(row)
            for name, column in columns.items():
                number = losses if name.startswith("loss") else (losses > 0).astype(np.float64)
                power = number * number if name in SQUARES.values() else number
                column.append(math.fsum((masses * power).tolist()))
        return {name: np.array(column) for name, column in columns.items()}

    def _losses(self, row: AnyArray) -> tuple[FloatArray, FloatArray]:
        """Return the loss and the probability of each candidate."""
        losses = row.max() - row
        if self.is_laplace:
            return losses, noisy_max_losses(losses, float(self.mechanism._weighting.rate))
        return losses, self.mechanism.law(self._as_input(row)).probabilities

    def values(
        self, block: Block, drawn: AnyArray, figures: tuple[str, ...]
    ) -> dict[str, FloatArray]:
        losses = block.rows.max(axis=1)[:, None] - np.take_along_axis(block.rows, drawn, axis=1)
        return {"loss": losses, "error": (losses > 0).astype(np.float64)}

    def within(self, block: Block, figure: str, edges: FloatArray) -> FloatArray:
        below = []
        for row in block.rows:
            losses, masses = self._losses(row)
            order = np.argsort(losses, kind="stable")
            sums = np.concatenate([[0.0], np.cumsum(masses[order])])
            below.append(sums[np.searchsorted(losses[order], edges, "right")])
        return np.array(below)

    def bound(self, block: Block, figure: str, failure: float) -> FloatArray:
        m, t = self.mechanism, math.log(1 / failure)
        bounds = []
        for row in block.rows:
            best = int((row == row.max()).sum()) if figure == "theorem_6" else 1
            bounds.append(
                loss_bound(
                    t,
                    epsilon=m.epsilon,
                    sensitivity=m.sensitivity,
                    k=row.size,
                    optimal=best,
                    monotonic=m.monotonic,
                )
            )
        return np.array(bounds)


class Response(Selection):
    """`RandomizedResponse`: the true bit is the better of two candidates; ties have no error."""

    figures: tuple[str, ...] = ("error",)

    def _losses(self, row: AnyArray) -> tuple[FloatArray, FloatArray]:
        return row.max() - row, self.mechanism.law(int(row[1] > row[0])).probabilities

    def draw(self, block: Block, size: int, key: int) -> AnyArray:
        bits = (block.rows[:, 1] > block.rows[:, 0]).astype(np.int64)
        pairs = zip(bits, block.streams.tolist(), strict=True)
        sample = self.mechanism.sample
        return np.array([sample(np.full(size, bit), rng=[key, number]) for bit, number in pairs])


Noise: TypeAlias = Callable[[FloatArray, int, int, Random], AnyArray]


def flips(heights: FloatArray, k: int, size: int, random: Random) -> AnyArray:
    """Draw k rounds of permute-and-flip at epsilon / k, each among the candidates that are left.

    A round selects the greatest utility with exponential noise (Ding et al. 2021).
    """
    left = np.repeat(heights[None], size, axis=0)
    answers = np.empty((size, k), np.int64)
    for place in range(k):
        answers[:, place] = (left + random.standard_exponential(left.shape)).argmax(axis=1)
        left[np.arange(size), answers[:, place]] = -np.inf
    return answers


def laplace(heights: FloatArray, k: int, size: int, random: Random) -> AnyArray:
    """Draw the k candidates with the greatest noisy utilities, with Laplace noise, in their order.

    With the scale k * range sensitivity / epsilon this is epsilon-DP: in each of the k selected
    candidates, noise that makes up for the most that any other can gain costs epsilon / k (Qiao, Su
    and Zhang 2021).
    """
    noisy = heights + random.laplace(size=(size, heights.size))
    return np.argsort(-noisy, axis=1)[:, :k]


@dataclass(frozen=True)
class Rival:
    """A top-k mechanism of another paper, in floats: it is simulated, and never released."""

    k: int
    epsilon: float
    sensitivity: float
    monotonic: bool
    noise: Noise  # draws an array (size, k) from utilities in units of the noise scale

    @cached_property
    def guarantee(self) -> Guarantee:
        """The pure guarantee, for the neighbors of the sensitivity."""
        return pure_guarantee(self.epsilon, None, "noise without roundings")

    def sample(self, rows: AnyArray, size: int, *, rng: int, streams: WordArray) -> AnyArray:
        """Draw for each row, with a generator that depends on the row's stream alone."""
        rate = float(selection_rate(self.epsilon, self.sensitivity, self.monotonic) / self.k)
        pairs = zip(rate * (rows - rows.max(axis=1, keepdims=True)), streams.tolist(), strict=True)
        draws = [self.noise(row, self.k, size, random_of(rng, name)) for row, name in pairs]
        return np.array(draws)


RIVALS: dict[str, Noise] = {"flips": flips, "laplace": laplace}


class TopSelection(Utilities):
    """`TopK`, a `rival` of it, or `JointTopK`, which has exact figures of the loss.

    The loss of place i is the i-th greatest utility minus the utility at place i. `loss` is the
    greatest of all places, `total_loss` the sum of absolute values, and `last_loss` the k-th
    greatest utility minus the least utility in the answer (l-infinity, l1 and k-relative errors in
    Gillenwater, Joseph, Muñoz Medina and Ribero 2022). `error` is the share of the answer that is
    in no set of k best candidates.
    """

    figures: tuple[str, ...] = ("error", "loss", "total_loss", "last_loss", "loss_quantile")

    def __init__(self, m: Any, unit: str = "epsilon", rival: str = "") -> None:
        self.closed, self.k = isinstance(m, JointTopK), int(m.k)
        if one_of_units(unit) == "rho":
            m = replace(m, epsilon=None, rho=m.epsilon**2 / 8)
        if rival:
            m = Rival(m.k, m.epsilon, m.sensitivity, m.monotonic, RIVALS[rival])
        super().__init__(m)

    def values(
        self, block: Block, drawn: AnyArray, figures: tuple[str, ...]
    ) -> dict[str, FloatArray]:
        best = np.sort(block.rows, axis=1)[:, None, : -self.k - 1 : -1]
        chosen = np.take_along_axis(block.rows[:, None], drawn, axis=2)
        gaps, last = best - chosen, best[..., -1]
        # Of candidates that tie with the k-th best, as many are right as the best k contain.
        tied = (chosen == last[..., None]).sum(axis=2)
        places = (best == last[..., None]).sum(axis=2)
        right = (chosen > last[..., None]).sum(axis=2) + np.minimum(tied, places)
        return {
            "error": 1.0 - right / self.k,
            "loss": gaps.max(axis=2),
            "total_loss": np.abs(gaps).sum(axis=2),
            "last_loss": last - chosen.min(axis=2),
        }

    def reach(self, block: Block, figure: str) -> float:
        return super().reach(block, figure) * (self.k if figure == "total_loss" else 1)

    def truths(self, block: Block) -> AnyArray:
        return np.argsort(-block.rows, axis=1, kind="stable")[:, : self.k]

    def _laws(self, block: Block) -> list[Any]:
        return [self.mechanism.law(row) for row in self._as_input(block.rows)]

    def exact(self, block: Block, names: Collection[str]) -> Figures:
        return of_laws(self._laws(block), None, {"loss"}.intersection(names))

    def within(self, block: Block, figure: str, edges: FloatArray) -> FloatArray:
        return np.array([law.loss_cdf(edges) for law in self._laws(block)])
