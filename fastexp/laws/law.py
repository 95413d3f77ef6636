"""Base classes of all exact laws: equality, draws, losses; for numbers also cdf and errors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from copy import copy
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Generic, NoReturn, Self, TypeVar, overload

import numpy as np

from .._compiler.rounding import check_rounding
from .._parameters import validate
from .._parameters.descriptions import parameters
from .._parameters.documented import documented, own_methods
from .._randomness.sampling import Sampling
from .._typing import AnyArray, ArrayLike, FloatArray, RNGLike, Scalar, SeedLike, Values
from ..errors import ParameterError
from ..pictures.cards import Card, HtmlRepr
from ..pictures.law_painters import Laws
from ..pictures.law_panels import draw
from .elementary import Tails, cdf_of, differences, elementwise, least_number, quiet
from .pieces import LossSums
from .privacy_loss import LossPieces, PrivacyLoss
from .targets import (
    HIGH,
    LOW,
    Target,
    Unreached,
    finite_statistic,
    first_failure,
    least_epsilon,
    target_of,
)

One_co = TypeVar("One_co", covariant=True)  # the type of one draw
Many_co = TypeVar("Many_co", covariant=True)  # the type of several draws
SHARED = "truth", "_groups"  # cached attributes that do not depend on epsilon
HIDDEN = "A law holds private data, of which nothing is shown here."
FLOOR = ", which is at least the distance of the truth from the nearest possible output"


@documented
class Law(HtmlRepr, ABC, Generic[One_co, Many_co]):
    """The exact distribution of a mechanism's output on one data set.

    Laws are equal if they are of one type and epsilon and give the same weight to the same
    outputs, such as those of equal mechanisms on equal data in any form and order.
    They have no hash: it would be a fingerprint of private data.
    """

    _epsilon: float
    _rate: Fraction  # a weight's logarithm falls by this for each unit of the stored loss
    _solve: Callable[[float], Fraction] | None = None  # the rate at an epsilon; None: proportional
    _maker: Any = None  # the mechanism

    def __init_subclass__(cls) -> None:
        """Complete the docstrings of the methods."""
        super().__init_subclass__()
        documented(cls)
        own_methods(cls)

    @abstractmethod
    def _identity(self) -> tuple[object, ...]:
        """Return everything that determines this law: numbers, arrays, public parameters."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Law):
            return NotImplemented
        if type(self) is not type(other):
            return False
        return all(map(_equal, self._identity(), other._identity()))

    @property
    def epsilon(self) -> float:
        """The mechanism's epsilon, in nats; of top-k that of a round."""
        return self._epsilon

    @overload
    def sample(
        self,
        size: None = None,
        *,
        rng: SeedLike | RNGLike | None = None,
        streams: ArrayLike | None = None,
        threads: int = 1,
        method: str | None = None,
    ) -> One_co: ...
    @overload
    def sample(
        self,
        size: int,
        *,
        rng: SeedLike | RNGLike | None = None,
        streams: ArrayLike | None = None,
        threads: int = 1,
        method: str | None = None,
    ) -> Many_co: ...
    def sample(
        self,
        size: int | None = None,
        *,
        rng: SeedLike | RNGLike | None = None,
        streams: ArrayLike | None = None,
        threads: int = 1,
        method: str | None = None,
    ) -> One_co | Many_co:
        """Simulation draws of this law: the bytes of ``mechanism.sample(data, ...)``.

        Parameters
        ----------
        size : int, optional
            How many draws; None: one.
        rng
        streams : array_like of one int, optional
            The name of this row's stream; default 0.
        threads
        method : str, optional
            Pins the kernel, as in ``mechanism.sample``.

        Returns
        -------
        int or float, or ndarray of int64 or float64
            The candidate's index for a selection, else a number; with `size` an array of shape
            (size,). For top-k an array of shape (k,) or (size, k).

        Raises
        ------
        ParameterError, ParameterTypeError
        """
        check_rounding()
        return self._draw(Sampling(size, rng, streams, threads, method))

    @abstractmethod
    def _draw(self, sampling: Sampling) -> One_co | Many_co:
        """Return the draws of `sample`."""

    def privacy_loss(self, other: Law[object, object]) -> PrivacyLoss:
        """The exact privacy loss of this law against another one; not private.

        Parameters
        ----------
        other : Law
            The law of the same mechanism on data that neighbor these. Whether they do, nobody
            checks here; `fastexp.audit` does where it can be seen.

        Returns
        -------
        PrivacyLoss
            Of outputs of this law; ``.reverse`` is the other direction.

        Raises
        ------
        ParameterError
            If `other` has another type, other public parameters or other possible outputs, or
            if the laws are densities or of float noise. Their losses have no exact form here;
            draws can be audited.
        """
        check_rounding()
        if type(other) is not type(self):
            raise ParameterError(
                f"other must be a {type(self).__name__}, as the law itself, got "
                f"{type(other).__name__}"
            )
        same_outputs = all(map(_equal, self._outputs(), other._outputs()))
        first, second = self.mechanism, other.mechanism
        if not same_outputs or not (first is None or second is None or first == second):
            raise ParameterError(
                "other must be a law of the same mechanism: same epsilon, same outputs"
            )
        return PrivacyLoss(self._against(other), repr(self), self._output_at)

    def _outputs(self) -> tuple[object, ...]:
        """The public parameters that laws of one mechanism have in common."""
        raise ParameterError(
            f"privacy_loss needs a law of candidates or of a public grid, got {type(self).__name__}"
        )

    def _against(self, other: Any) -> LossPieces:
        raise NotImplementedError

    def _output_at(self, index: int) -> Any:
        raise NotImplementedError

    @property
    def mechanism(self) -> Any:
        """The mechanism that this is the law of, at the law's epsilon.

        None if no mechanism made the law (that of the first of k places), or if none can have its
        epsilon (one above the limit of `Price`).
        """
        maker = self._maker
        if maker is None or maker.epsilon == self._epsilon:
            return maker
        for options in ({}, {"any_epsilon": True}):
            with suppress(ParameterError):
                return replace(maker, epsilon=self._epsilon, **options)
        return None

    def __repr__(self) -> str:
        mechanism = self.mechanism
        parts = [f"epsilon={self._epsilon!r}" if mechanism is None else repr(mechanism)]
        parts += [f"{name}={number}" for name, number in self._sizes().items()]
        return f"{type(self).__name__}({', '.join(parts)})"

    def _sizes(self) -> dict[str, int]:
        """Public numbers that the mechanism does not know, for the repr."""
        return {}

    def _card(self) -> Card:
        facts: dict[str, object] = {"epsilon": self._epsilon}
        if self.mechanism is not None:
            facts = parameters(self.mechanism)
        return Card(
            f"{type(self).__name__}: the exact law of an answer",
            [*facts.items(), *self._sizes().items()],
            note=HIDDEN,
        )

    def plot(self, ax: Any = None, *, draws: ArrayLike | None = None) -> Any:
        """Not private: a picture of this law, with the true value, and with draws beside it.

        Of a number the probability of each point, or the density where there are many; the true
        value is a dashed line, the ends may be left out. Of prices also the laws at a fifth and
        at five times epsilon. Of a selection its likeliest candidates; of k places the first.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; default: a new figure, which a notebook shows. Colours are chosen for
            the ground of the axes, light or dark, and can be told apart in grey.
        draws : array_like of shape (size,), optional
            Draws of the same law, as ``law.sample(1_000)``, to compare with it; of k places
            (size, k), of m quantiles (size, m).

        Returns
        -------
        matplotlib.axes.Axes
            ``ax.figure.savefig`` writes it to a file.

        Raises
        ------
        ParameterError
            If matplotlib is not installed.
        ParameterError, ParameterTypeError
            If `draws` are not outputs of this law.

        Examples
        --------
        >>> import fastexp as fx
        >>> law = fx.Median(epsilon=0.1, bounds=(0, 120), step=1).law([20, 30, 40, 50, 60])
        >>> axes = law.plot(draws=law.sample(1_000, rng=1))
        >>> axes.get_xlabel(), axes.figure.texts[0].get_text()
        ('output', '1,000 draws against the exact law')
        """
        check_rounding()
        subject = self._subject()
        if draws is not None:
            outputs = validate.reals("draws", draws)
            if outputs.ndim == 0 or outputs.size == 0:
                raise ParameterError("draws must be an array of at least one draw")
            rows: AnyArray = outputs.reshape(outputs.shape[0], -1).T
            if rows.shape[0] < len(subject.laws):
                raise ParameterError(f"draws must have a column for each of {len(subject.laws)}")
            firsts = rows[: len(subject.laws)]
            if subject.candidates is not None:
                inside = (firsts >= 0) & (firsts < len(subject.candidates))
                if not bool((inside & (firsts == np.floor(firsts))).all()):
                    raise ParameterError("draws must be indices of candidates")
                firsts = firsts.astype(np.int64)
            subject = replace(subject, draws=firsts)
        return draw(subject, ax)[0]

    @abstractmethod
    def _subject(self) -> Laws:
        """Return the content of a picture of this law."""

    def epsilon_for(
        self,
        *,
        error: float | None = None,
        loss: float | None = None,
        probability: float | None = None,
        expected_error: float | None = None,
        expected_loss: float | None = None,
        truth: float | None = None,
    ) -> float:
        """Not private: the epsilon that is enough for an accuracy on this data.

        To choose epsilon by private data is itself a release: take public data, or a stand-in.
        `fastexp.epsilon_for` does that for many data sets, and also without any.

        Parameters
        ----------
        error, loss : float, optional
            >= 0, in units of the data and of the utility: P(error <= `error`) >= `probability`,
            or the same of losses.
        probability : float, optional
            In (0, 1); goes with `error` and `loss`.
        expected_error, expected_loss : float, optional
            > 0: the expectation is at most that. Of the four limits one is given; selections
            have losses only, medians with noise errors only, and top-k the losses of its first
            place.
        truth : float, optional
            What errors are from; default: `truth` of the law, the data's own statistic.

        Returns
        -------
        float
            In nats, in [1e-9, 1e6]; of top-k that of a round. It is the least point of a geometric
            grid (ratio 1.01, up to 1e6) such that the target holds at it and at every point of the
            grid above it, rounded up to four digits and verified there by the exact law. (Errors
            may rise with epsilon.)

        Raises
        ------
        ParameterError
            If not exactly one target is given, or it fails at 1e6. An error is at least the
            distance of the truth from the nearest possible output, such as a point of the grid;
            the law at epsilon = 1e6 has the least limits that hold.
        PrecisionError
            If the law cannot be computed at another epsilon.

        Notes
        -----
        Losses fall in distribution as epsilon grows, so that bisection finds the point: with the
        noise fixed, the winner of the greatest c * utility + noise lies on an envelope of lines in
        c, and goes to a greater slope, which is its utility, as c grows (Gumbel noise: the
        exponential mechanism; exponential noise: permute-and-flip). Errors need not fall: all
        points of the grid are looked at, from above; of `Quantiles` some of them, since what a
        target compares is convex in epsilon.
        """
        check_rounding()
        target = target_of(error, loss, probability, expected_error, expected_loss, truth)
        try:
            return self._epsilon_for(target)
        except Unreached:
            self._refuse(target)

    def _epsilon_for(self, target: Target) -> float:
        """Return the epsilon that is enough; raise `Unreached` if there is none."""
        with np.errstate(all="ignore"):  # a warning would depend on the data
            holds = self._holds(target)
            failing = first_failure(holds, rising=self._rises(target))
            return least_epsilon(holds, self._least, failing)

    def _holds(self, target: Target) -> Callable[[float], bool]:
        """Return a test of an epsilon: whether a target holds for the law at that epsilon."""
        return lambda epsilon: self._at(epsilon)._meets(target)

    def _at(self, epsilon: float) -> Self:
        """Return the law of the same data at another epsilon."""
        return self._with_rate(self._rate_at(epsilon), epsilon)

    def _rate_at(self, epsilon: float) -> Fraction:
        if self._solve is not None:
            return self._solve(epsilon)
        return self._rate * Fraction(epsilon) / Fraction(self._epsilon)

    def _with_rate(self, rate: Fraction, epsilon: float) -> Self:
        law = copy(self)
        for name in vars(self):
            if name not in SHARED and isinstance(getattr(type(self), name, None), cached_property):
                del vars(law)[name]
        law._rate, law._epsilon = rate, epsilon
        return law

    def _meets(self, target: Target) -> bool:
        """Whether this law meets a target."""
        raise ParameterError(f"{target.name} needs a law of numbers: take loss, expected_loss")

    def _rises(self, target: Target) -> bool:
        """Whether a target that holds at one epsilon is known to hold at all above it."""
        return not target.of_errors

    @property
    def _least(self) -> float:
        """The least epsilon for which there is such a law."""
        return LOW

    def _refuse(self, target: Target) -> NoReturn:
        """Refuse a target that the greatest epsilon misses; the message tells nothing else."""
        floor = FLOOR if target.of_errors else ""
        raise ParameterError(f"no epsilon up to {HIGH:g} reaches the {target.name}{floor}")


class LossLaw(Law[One_co, Many_co]):
    """A law of outputs that have utilities. A loss is the best utility minus the obtained one."""

    def expected_loss(self) -> float:
        """The expected loss, in units of the utility."""
        check_rounding()
        return self._losses.mean()

    def expected_utility(self) -> float:
        """The expected utility of the output, in units of the utility."""
        return self._best_utility() - self.expected_loss()

    @overload
    def loss_cdf(self, t: Scalar) -> float: ...
    @overload
    def loss_cdf(self, t: Values) -> FloatArray: ...
    def loss_cdf(self, t: ArrayLike) -> float | FloatArray:
        """P(loss <= t), elementwise; of private numbers rounded down.

        Parameters
        ----------
        t

        Returns
        -------
        float or ndarray of float64
            In [0, 1], the shape of `t`.

        Raises
        ------
        ParameterError, ParameterTypeError
        """
        return elementwise(lambda t: cdf_of(*self._losses.at(t)), validate.reals("t", t))

    @overload
    def loss_tail(self, t: Scalar) -> float: ...
    @overload
    def loss_tail(self, t: Values) -> FloatArray: ...
    def loss_tail(self, t: ArrayLike) -> float | FloatArray:
        """P(loss >= t), elementwise, summed from the far end: small tails keep their digits.

        Parameters
        ----------
        t

        Returns
        -------
        float or ndarray of float64
            In [0, 1], the shape of `t`.
        """
        return elementwise(self._loss_tail, validate.reals("t", t))

    @overload
    def loss_quantile(self, p: Scalar) -> float: ...
    @overload
    def loss_quantile(self, p: Values) -> FloatArray: ...
    def loss_quantile(self, p: ArrayLike) -> float | FloatArray:
        """The least loss t with P(loss <= t) >= p, elementwise.

        Parameters
        ----------
        p

        Returns
        -------
        float or ndarray of float64
            In units of the utility, the shape of `p`.

        Raises
        ------
        ParameterError, ParameterTypeError
        """
        check_rounding()  # before losses are computed
        return elementwise(self._losses.quantile, probability_levels(p))

    def with_epsilon(self, epsilon: float, *, any_epsilon: bool = False) -> Self:
        """The law of the same data at another epsilon; what does not depend on it is shared.

        Parameters
        ----------
        epsilon, any_epsilon
        """
        check_rounding()
        e = validate.epsilon(epsilon, validate.flag("any_epsilon", any_epsilon))
        law = self._at(e)
        law._maker = self._maker
        return law

    def _meets(self, target: Target) -> bool:
        if target.of_errors:
            return super()._meets(target)
        if target.probability is None:
            return self._losses.mean() <= target.limit
        return bool(cdf_of(*self._losses.at(np.array([target.limit])))[0] >= target.probability)

    @abstractmethod
    def _best_utility(self) -> float:
        """The best utility of all outputs."""

    @property
    def _losses(self) -> LossSums:
        raise NotImplementedError

    def _loss_tail(self, t: FloatArray) -> FloatArray:
        before = np.nextafter(t, -np.inf)  # losses are doubles: none lies between
        return np.where(before < 0, 1.0, self._losses.at(before)[1])


class NumberLaw(Law[float, AnyArray]):
    """The exact distribution of a private number on one data set.

    `GridLaw` (of releases), `ContinuousLaw` (the papers' densities) and `NoiseLaw` (of the
    comparators) have this interface. Errors are absolute differences from a `truth`, which the
    caller states.
    """

    _statistic: Callable[[], Any] | None = None

    @cached_property
    def truth(self) -> Any:
        """Not private: the statistic of the data that this law is of, without noise.

        A number; of records as they are, within the bounds or not (of modes and prices a point
        of the grid; of medians with noise within the bounds). None without records.

        Raises
        ------
        ParameterError
            If no mechanism made the law.
        """
        check_rounding()
        if self._statistic is None:
            raise ParameterError("truth needs a law that a mechanism computed from data")
        return self._statistic()

    def _subject(self) -> Laws:
        known = self._statistic is not None or "truth" in vars(self)
        return Laws(self.mechanism, "output", [self], [self.truth if known else None])

    @overload
    def cdf(self, x: Scalar) -> float: ...
    @overload
    def cdf(self, x: Values) -> FloatArray: ...
    def cdf(self, x: ArrayLike) -> float | FloatArray:
        """P(output <= x), elementwise, rounded down.

        Parameters
        ----------
        x

        Returns
        -------
        float or ndarray of float64
            In [0, 1], the shape of `x`.

        Raises
        ------
        ParameterError, ParameterTypeError
        """
        return elementwise(lambda x: cdf_of(*self._split(x)), self._numbers("x", x))

    @overload
    def ppf(self, p: Scalar) -> float: ...
    @overload
    def ppf(self, p: Values) -> AnyArray: ...
    def ppf(self, p: ArrayLike) -> float | AnyArray:
        """The least x with P(output <= x) >= p, elementwise; the lowest possible one at p = 0.

        Parameters
        ----------
        p : array_like
            In [0, 1]. Above 1/2 the decision is P(output > x) <= 1 - p, so that p = 1 gives
            the last x that is possible at all.

        Returns
        -------
        number or ndarray
            The shape of `p`; of the type of the outputs.

        Raises
        ------
        ParameterError, ParameterTypeError
        """
        return elementwise(self._invert, probability_levels(p))

    def mean(self) -> float:
        """The expected output."""
        check_rounding()
        return self._mean()

    def var(self) -> float:
        """The variance of the output."""
        check_rounding()
        return self._variance()

    def sd(self) -> float:
        """The standard deviation of the output."""
        check_rounding()
        return float(np.sqrt(self._variance()))

    @overload
    def expected_error(self, truth: Scalar | None = None) -> float: ...
    @overload
    def expected_error(self, truth: Values) -> FloatArray: ...
    def expected_error(self, truth: ArrayLike | None = None) -> float | FloatArray:
        """E|output - truth|, elementwise: in closed form, all terms >= 0.

        Parameters
        ----------
        truth

        Returns
        -------
        float or ndarray of float64
            The shape of `truth`.

        Raises
        ------
        ParameterError, ParameterTypeError
        """
        return elementwise(self._expected_errors, self._truths(truth))

    @overload
    def error_quantile(self, p: Scalar, truth: Scalar | None = None) -> float: ...
    @overload
    def error_quantile(self, p: Values, truth: Scalar | Values | None = None) -> FloatArray: ...
    @overload
    def error_quantile(self, p: Scalar, truth: Values) -> FloatArray: ...
    def error_quantile(self, p: ArrayLike, truth: ArrayLike | None = None) -> float | FloatArray:
        """The least r with P(|output - truth| <= r) >= p, elementwise.

        Parameters
        ----------
        p, truth

        Returns
        -------
        float or ndarray of float64
            The broadcast shape.

        Raises
        ------
        ParameterError, ParameterTypeError
        """
        levels, truths = probability_levels(p), self._truths(truth)
        try:
            levels, truths = np.broadcast_arrays(levels, truths)
        except ValueError:
            raise ParameterError("p and truth must have shapes that fit together") from None
        levels, centre = levels.copy(), truths.flatten()  # kernels take no broadcast arrays
        endless = bool(np.isinf(self._support()).any())

        def quantiles(p: FloatArray) -> FloatArray:
            return np.where((p == 1.0) & endless, np.inf, self._error_quantiles(p, centre))

        return elementwise(quantiles, levels)

    def _error_quantiles(self, p: FloatArray, truth: AnyArray) -> FloatArray:
        """Return the least double r for which `_within` holds, of each p."""
        return least_number(self._farthest(truth), lambda r, i: self._within(truth[i], r, p[i]))

    def _farthest(self, x: AnyArray) -> FloatArray:
        """Return an upper bound of |output - x|."""
        low, high = (np.abs(differences(x, end)) for end in self._support())
        return np.asarray(np.nextafter(np.maximum(low, high), np.inf))

    @quiet
    def _inside(self, truth: AnyArray, r: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return P(|output - truth| <= r) and P(> r), from the sums that keep the most digits."""
        (below_a, above_a), (below_b, above_b) = self._window(truth, r)
        outside = below_a + above_b
        inside = np.where(above_a <= 0.5, above_a - above_b, 1.0 - outside)
        return np.where(below_b <= 0.5, below_b - below_a, inside), outside

    def _within(self, truth: AnyArray, r: FloatArray, p: FloatArray) -> AnyArray:
        """Whether P(|output - truth| <= r) >= p."""
        inside, outside = self._inside(truth, r)
        return np.where(p <= 0.5, inside >= p, outside <= 1.0 - p)

    def _holds(self, target: Target) -> Callable[[float], bool]:
        return super()._holds(target.about(lambda: self.truth) if target.of_errors else target)

    def _meets(self, target: Target) -> bool:
        if not target.of_errors:
            return super()._meets(target)
        truth, limit = self._numbers("truth", np.array([target.truth])), np.array([target.limit])
        if target.probability is None:
            return bool(self._expected_errors(truth)[0] <= target.limit)
        return bool(self._within(truth, limit, np.array([target.probability]))[0])

    def _truths(self, truth: ArrayLike | None) -> AnyArray:
        """Return what errors are measured from: the given truths, or the statistic of the data."""
        known = finite_statistic(self.truth) if truth is None else truth
        return finite("truth", self._numbers("truth", known))

    def _numbers(self, name: str, value: ArrayLike) -> AnyArray:
        """Check an argument that is compared with outputs, and return it as an array."""
        return validate.reals(name, value)

    @abstractmethod
    def _mean(self) -> float:
        """The mean."""

    @abstractmethod
    def _variance(self) -> float:
        """The variance."""

    @abstractmethod
    def _support(self) -> AnyArray:
        """The lowest and the highest output."""

    @abstractmethod
    def _split(self, x: AnyArray) -> Tails:
        """P(output <= x) and P(output > x)."""

    @abstractmethod
    def _window(self, x: AnyArray, r: FloatArray) -> tuple[Tails, Tails]:
        """P(output < x - r) and its complement, P(output <= x + r) and its complement."""

    @abstractmethod
    def _invert(self, p: FloatArray) -> AnyArray:
        """Quantiles."""

    @abstractmethod
    def _expected_errors(self, truth: AnyArray) -> FloatArray:
        """E|output - truth|."""


def _equal(a: object, b: object) -> bool:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return np.array_equal(a, b)
    return type(a) is type(b) and bool(a == b)


def probability_levels(p: ArrayLike) -> FloatArray:
    """Check probabilities of any shape, and return them as an array."""
    levels = validate.reals("p", p)
    if not bool(((levels >= 0) & (levels <= 1)).all()):
        raise ParameterError("p must be in [0, 1]")
    return levels


def finite(name: str, numbers: AnyArray) -> AnyArray:
    """Return the numbers; refuse infinite ones."""
    if not bool(np.isfinite(numbers).all()):
        raise ParameterError(f"{name} must be finite")
    return numbers
