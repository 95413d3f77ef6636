"""The densities that papers write down: median (and other ranks), price and Laplace."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, overload

import numpy as np

from .._parameters import validate
from .._randomness.sampling import Sampling
from .._randomness.streams import row_stream
from .._typing import AnyArray, ArrayLike, FloatArray, Scalar, Values
from ..kernels.bits.words import substream_words
from .elementary import Tails, elementwise, exp, expm1, log, log1p, quiet
from .pieces import INTERVAL, TINY, Distances, PiecePosition, Pieces, times
from .piecewise import PiecewiseLaw


class ContinuousLaw(PiecewiseLaw):
    """A density that is exp of a linear function on each of finitely many pieces.

    Made by ``mechanism.continuous_law(data)``, for analysis: a release is drawn on a public
    grid, and its exact law is ``mechanism.law(data)``. It holds the data's knots: **it is
    private data**, and so is a pickle of it; its repr shows nothing of them.

    Parameters
    ----------
    knots : ndarray of float64, shape (m + 1,)
        The ends of the pieces, not decreasing; the first may be -inf, the last inf. Pieces of
        no width have no mass and are left out.
    loss : ndarray of float64, shape (m,)
        The least loss in each piece: at its left end if the slope is >= 0, else at its right
        one, which must be finite. The least of all is 0.
    slope : ndarray of float64, shape (m,), or None
        The change of the loss for a unit of x; None: none. Not 0 on an infinite piece.
    best : float
        The best utility.
    unit : Fraction
        A loss of 1 in units of the utility.
    rate : Fraction
        The density is proportional to exp(-rate * loss).
    epsilon : float
        In nats.

    Notes
    -----
    The density is c * exp(-rate * loss(x)); masses, moments, errors and quantiles are closed forms
    in expm1 and log1p, stable for rate * slope * width from 0 to infinity, half-lines included.

    **Numerics**: float64, with the same bits on every CPU; a log-density of magnitude y below the
    highest carries an error of a few y * 2**-53; tails are summed from their own end and keep
    their digits; probabilities below 1e-307 are given as 0. No sort and no allocation but a few
    arrays of m numbers for each epsilon. Loss statistics of a law with slopes take O(m) for each
    t, the others O(log m) for each argument.

    `sample` gives quantiles of uniform numbers on a lattice of 2**52 (``method="inverse"``): draws
    that follow the density up to that lattice, unlike those of a grid law, which are exact.

    **Never a release**: the low bits of a float from a density leak the data. Fewer draws are a
    prefix of more.

    References
    ----------
    McSherry and Talwar, "Mechanism design via differential privacy", FOCS 2007 (a price).
    Smith, "Privacy-preserving statistical estimation with optimal convergence rates", STOC
    2011 (a median).

    Examples
    --------
    The tutorial's bids 1, 1, 1 and 3.01, with the weight exp(epsilon * revenue / 7):

    >>> from fractions import Fraction
    >>> from fastexp.laws.densities import price_density
    >>> law = price_density([1, 1, 1, 3.01], (0, 3.5), Fraction(5, 7), 5.0)
    >>> round(law.pdf(1.0), 11), round(law.cdf(2.0), 11), round(law.ppf(0.5), 11)
    (1.13113854818, 0.56688501642, 1.72857269479)
    >>> round(law.expected_loss(), 9)
    1.607441246
    >>> law
    ContinuousLaw(epsilon=5.0)
    """

    def __init__(
        self,
        knots: FloatArray,
        loss: FloatArray,
        slope: FloatArray | None,
        best: float,
        unit: Fraction,
        rate: Fraction,
        epsilon: float,
    ) -> None:
        with np.errstate(invalid="ignore"):
            wide = knots[1:] > knots[:-1]
        self._left, self._right = knots[:-1][wide], knots[1:][wide]
        width = self._right - self._left
        slope = None if slope is None else slope[wide]
        least = loss[wide].astype(np.float64)
        pieces = Pieces(INTERVAL, width, width, least, slope, self._left, best)
        super().__init__(pieces, unit, rate, epsilon)

    def _identity(self) -> tuple[object, ...]:
        return self._left, self._right, *super()._identity()

    @overload
    def pdf(self, x: Scalar) -> float: ...
    @overload
    def pdf(self, x: Values) -> FloatArray: ...
    def pdf(self, x: ArrayLike) -> float | FloatArray:
        """The density at x, elementwise: 0 outside, at a knot the greater of its two values.

        Parameters
        ----------
        x

        Returns
        -------
        float or ndarray of float64
            The shape of `x`. Upper semicontinuous, as the utilities are.
        """
        return elementwise(self._pdf, validate.reals("x", x))

    def _pdf(self, x: FloatArray) -> FloatArray:
        before, after = (np.searchsorted(self._left, x, side) - 1 for side in ("left", "right"))
        return np.maximum(self._density(x, after), self._density(x, before))

    @quiet
    def _density(self, x: FloatArray, piece: AnyArray) -> FloatArray:
        k = np.maximum(piece, 0)
        p = self._pieces.take(k)
        log_density = -float(self._rate) * p.loss - self._weights.log_total
        if self._weights.fall is not None:
            fall = self._weights.fall[k]
            y = np.where(fall < 0, self._right[k] - x, x - self._left[k])
            log_density -= times(np.abs(fall), y)
        inside = (piece >= 0) & (x <= self._right[k]) & np.isfinite(x)
        return np.where(inside, exp(log_density), 0.0)

    def _draw(self, sampling: Sampling) -> float | FloatArray:
        size, name = validate.size(sampling.size), int(validate.streams(sampling.streams, 1)[0])
        validate.threads(sampling.threads)
        validate.method(sampling.method, ("inverse",))
        n = 1 if size is None else size
        words = np.empty(n + n % 2, np.uint64)
        substream_words(row_stream(sampling.rng, name), np.uint64(0), np.uint64(0), words)
        uniform = ((words[:n] >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52
        quantiles = self._invert(uniform)
        return float(quantiles[0]) if size is None else quantiles

    _size = Fraction(1)

    def _ends(self) -> FloatArray:
        slope = self._pieces.slope
        return self._left if slope is None else np.where(slope < 0, self._right, self._left)

    def _exact(self, end: Any) -> Fraction:
        return Fraction(end)

    def _support(self) -> FloatArray:
        return np.array([self._left[0], self._right[-1]])

    @quiet
    def _place(self, x: FloatArray) -> PiecePosition:
        k = np.maximum(np.searchsorted(self._left, x, "right") - 1, 0)
        left, right, width = self._left[k], self._right[k], self._pieces.size[k]
        low = np.where(x >= right, width, np.clip(x - left, 0.0, width))
        high = np.where(x <= left, width, np.clip(right - x, 0.0, width))
        return PiecePosition(k, low, high)

    def _split(self, x: FloatArray) -> Tails:
        return self._weights.split(self._place(x))

    def _around(self, x: FloatArray) -> tuple[PiecePosition, Distances]:
        at = self._place(x)
        left, right = self._left[at.piece], self._right[at.piece]
        over, under = np.maximum(x - right, 0.0), np.maximum(left - x, 0.0)
        return at, Distances(x - left, right - x, over, under)

    def _window(self, x: FloatArray, r: FloatArray) -> tuple[Tails, Tails]:
        return self._split(x - r), self._split(x + r)

    @quiet
    def _invert(self, p: FloatArray) -> FloatArray:
        w = self._weights
        k = w.find(p)
        lower, mass = p <= 0.5, w.masses[k]
        part = np.where(lower, p - w.below[k], (1.0 - p) - w.above[k + 1]) / mass
        part = np.where(mass > 0, np.clip(part, 0.0, 1.0), 1.0 * (lower & (p > 0)))
        low, high = np.where(lower, part, 1.0 - part), np.where(lower, 1.0 - part, part)
        left, right, width = self._left[k], self._right[k], self._pieces.size[k]
        if w.fall is None:
            x = np.where(low < 0.5, left + low * width, right - high * width)
            return np.clip(x, left, right)
        fall, flip = np.abs(w.fall[k]), w.fall[k] < 0
        y = _reach(fall, np.where(flip, high, low), np.where(flip, low, high), width)
        return np.clip(np.where(flip, right - y, left + y), left, right)


@quiet
def _reach(fall: FloatArray, share: FloatArray, rest: FloatArray, width: FloatArray) -> FloatArray:
    """Return the distance from the best end that holds `share` of the mass; rest = 1 - share."""
    whole = fall * width
    minus_mass = expm1(-whole)  # minus the share of a half-line's mass that the piece has
    close = -log1p(share * minus_mass) / fall
    far = -log(exp(-whole) - rest * minus_mass) / fall  # the same, accurate if `rest` is small
    steep = np.where(share * minus_mass > -0.5, close, far)
    return np.where(whole > TINY, steep, share * width)


def median_density(
    knots: FloatArray, distances: AnyArray, rate: Fraction, unit: Fraction, epsilon: float
) -> ContinuousLaw:
    """The density of a statistic whose utility is constant between records.

    `knots` (n + 2,) are the lower bound, the sorted records (clamped to the bounds) and the upper
    bound; `distances` (n + 1,) are minus the utilities of the gaps between them, in units of
    `unit`. Gaps of zero width and the records themselves have no mass and do not count as best.

    Examples
    --------
    Goldberg's and Duff's median of 1, 2, 4, 7 in [0, 10], at epsilon = 2 ln 2:

    >>> import numpy as np
    >>> from fractions import Fraction
    >>> knots = np.array([0.0, 1, 2, 4, 7, 10])
    >>> rate = Fraction(np.log(2))
    >>> law = median_density(knots, np.array([4, 2, 0, 2, 4]), rate, Fraction(1), 2 * np.log(2))
    >>> round(52 * law.cdf(4), 12), round(26 * law.mean(), 12)
    (37.0, 97.0)
    """
    least = int(distances[knots[1:] > knots[:-1]].min())
    loss = (distances - least).astype(np.float64)
    return ContinuousLaw(knots, loss, None, float(-least * unit), unit, rate, epsilon)


def price_density(
    bids: ArrayLike, bounds: tuple[Any, Any], rate: Fraction, epsilon: float
) -> ContinuousLaw:
    """The density of a price r, proportional to exp(rate * r * #{bids >= r}).

    Bids come in any order; those outside the bounds (lowest price >= 0) count as the nearest
    bound. The knots of the law are the distinct bids.
    """
    low, high = float(bounds[0]), float(bounds[1])
    clamped = np.clip(np.asarray(bids, np.float64).reshape(-1), low, high)
    distinct = np.unique(np.append(clamped, [low, high]))
    willing = clamped.size - np.sort(clamped).searchsorted(distinct[1:])  # bids above each piece
    revenue = willing * distinct[1:]  # falls only at bids: a piece is best at its right end
    best = float(revenue.max())
    loss, slope = np.asarray(best - revenue, np.float64), -willing.astype(np.float64)
    return ContinuousLaw(distinct, loss, slope, best, Fraction(1), rate, epsilon)


def laplace_density(
    f: float,
    rate: Fraction,
    bounds: tuple[Any, Any] | None,
    epsilon: float,
    solve: Callable[[float], Fraction] | None = None,
) -> ContinuousLaw:
    """The density of Laplace noise around f, proportional to exp(-rate * |f - r|).

    It covers the whole line, or the bounds, to which f is clamped. `solve` gives the rate at an
    epsilon.
    """
    low, high = (-np.inf, np.inf) if bounds is None else (float(bounds[0]), float(bounds[1]))
    centre = min(max(float(f), low), high)
    knots, slope = np.array([low, centre, high]), np.array([-1.0, 1.0])
    law = ContinuousLaw(knots, np.zeros(2), slope, 0.0, Fraction(1), rate, epsilon)
    law._solve = solve
    return law
