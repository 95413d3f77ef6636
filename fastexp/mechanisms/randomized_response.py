"""Randomised response: bits that are flipped with a known probability."""

from __future__ import annotations

from dataclasses import KW_ONLY, field
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Unpack, overload

import numpy as np

from .._compiler.rounding import check_rounding
from .._intake import utilities as _data
from .._randomness.sampling import Sampling
from .._randomness.streams import stream_of
from .._selection.flips import Flips
from .._selection.weighting import Weighting
from .._typing import ArrayLike, IntArray, RNGLike, SeedLike
from ..errors import ParameterTypeError
from ..grouped.call_options import DEFAULTS, CallOptions
from ..kernels.bits.heights import SIGNED
from ..laws.finite import FiniteLaw
from .base import Mechanism, frozen

if TYPE_CHECKING:
    from ..budget.budget import Budget
    from ..budget.question import Question
    from ..laws.accuracy import Measure
    from ._options import BitSimulation

ASSUMES = (
    "one person is one bit, in one element; an array's shape is public; a person's bit may change, "
    "but not whether it is present"
)


@frozen
class RandomizedResponse(
    Mechanism,
    promise="ε-DP for a change of one bit, not ε-bounded-range; of a whole call, on any shape.",
):
    """Randomised response: the truth about a bit with probability e^ε/(1+e^ε), elementwise.

    Parameters
    ----------
    epsilon, any_epsilon

    Raises
    ------
    ParameterError, ParameterTypeError

    Notes
    -----
    The data are bits: 0 or 1, as integers or booleans, one or an array of any shape. The output is
    an int, or an int64 array. It is the exponential mechanism over (0, 1) with weight
    exp(ε·[r = bit]).

    **Privacy**: ε-DP under replace (a bit changes), also locally: every person can run it on their
    own bit before anyone sees it. The log-ratios of the two outputs are +ε and -ε, so their range
    is 2ε, not ε, and rho is ε·tanh(ε/2). An array costs ε once, not once for each element, **as
    long as each person is in one element only**. A person in m elements pays m·ε (`total` counts
    2·m·ε there, as for mechanisms under add-remove).

    **Numerics**: the probability is the exact, irrational number. A flip is decided by integers and
    by bits that are drawn as needed, never by a float.

    References
    ----------
    Warner, "Randomized response: a survey technique for eliminating evasive answer bias",
    JASA 1965. Kairouz, Oh and Viswanath, "Extremal mechanisms for local differential
    privacy", JMLR 2016.

    Examples
    --------
    >>> import fastexp as fx
    >>> mechanism = fx.RandomizedResponse(epsilon=1.0)
    >>> mechanism.release(1) in (0, 1)
    True
    >>> mechanism.sample([1, 0, 0, 1, 1, 0], rng=4)
    array([1, 1, 0, 1, 1, 0])
    >>> mechanism.law(1).probabilities.round(4)
    array([0.2689, 0.7311])

    The share of ones among many people, from their noisy bits (post-processing is free):

    >>> lie = mechanism.law(1).probabilities[0]
    >>> noisy = mechanism.sample([1] * 3000 + [0] * 7000, rng=1).mean()
    >>> float(round((noisy - lie) / (1 - 2 * lie), 2))
    0.29
    """

    epsilon: float
    _: KW_ONLY
    any_epsilon: bool = field(default=False, compare=False)
    _has_bounded_range = False
    _relation = "replace"
    _assumes = ASSUMES
    _measure: ClassVar[Measure] = "loss"
    _weighting: Weighting = field(init=False, compare=False)
    _flips: Flips = field(init=False, compare=False)

    def _check(self) -> None:
        super()._check()
        rate = Fraction(self.epsilon)  # with the utility [r = bit], the log-odds are epsilon
        self._set_frozen(_weighting=Weighting(rate, None), _flips=Flips(rate))

    def release(
        self,
        bits: object,
        *,
        budget: Budget | None = None,
        label: str | None = None,
        threads: int = 1,
    ) -> int | IntArray:
        """Release noisy bits, each with a coin of its own from the system's randomness.

        There is no seed and no state: forks, threads, copies and pickles never repeat a coin.

        Parameters
        ----------
        bits : int, bool or array_like
            0 or 1, of any shape.
        budget : Budget, optional
            With ``neighbors="replace"``. Is charged `total()`, which is epsilon for an array of
            any size, before the bits are read. The charge is never refunded.
        label
        threads : int
            1; 0 for all that the process may use. Pays from about 1e6 bits.

        Returns
        -------
        int or ndarray of int64
            0 or 1, in the shape of `bits`.

        Raises
        ------
        ParameterTypeError, InvalidRecords
            If the bits are of another type, or not all 0 or 1.
        BudgetExceeded, ParameterError
            If the rest of the budget does not cover it, or the budget counts add-remove:
            nothing is drawn or charged.
        LabelError
        BudgetError
        RandomnessError

        Notes
        -----
        **Privacy**: `guarantee`, for every call anew: two releases of the same bits cost twice.

        **Timing**: the number of random words and the time depend on the coins, not on the bits.
        """
        options = DEFAULTS
        if not (budget is None and label is None and threads is DEFAULTS.threads):
            options = CallOptions(budget=budget, label=label, threads=threads)
        noisy: int | IntArray = self._release(bits, options)
        return noisy

    def _answered(self, data: Any, options: CallOptions) -> Any:
        draw = partial(self._drawn, data, options.threads)
        return draw() if options.budget is None else self._charged(options, draw)

    def _drawn(self, data: Any, threads: int) -> int | IntArray:
        if type(data) is int and data in (0, 1):
            return data ^ self._flips.fresh_coin()  # 2 us; through arrays 10 us
        bits = _data.bits(data)
        out = self._flips.release(bits.ravel(), threads)
        return out.reshape(bits.shape) if bits.ndim else int(out[0])

    @overload
    def sample(
        self, bits: object, size: None = None, **options: Unpack[BitSimulation]
    ) -> int | IntArray: ...
    @overload
    def sample(self, bits: object, size: int, **options: Unpack[BitSimulation]) -> IntArray: ...
    def sample(
        self,
        bits: object,
        size: int | None = None,
        *,
        rng: SeedLike | RNGLike | None = None,
        streams: ArrayLike | None = None,
        threads: int = 1,
        method: Literal["flips"] | None = None,
    ) -> int | IntArray:
        """Simulation: reproducible draws of the law that `release` draws from.

        **Not a release**: a seeded draw is not private, and ten thousand draws are not one.

        Parameters
        ----------
        bits : int, bool or array_like
            0 or 1, of any shape.
        size : int, optional
            The number of draws of each bit. None: one, without an axis for it.
        rng
        streams : array_like of one int, optional
            The name of the stream, in [0, 2**64); default 0. All bits share it.
        threads
        method : {None, "flips"}, optional
            Pins the kernel.

        Returns
        -------
        int or ndarray of int64, shape bits.shape + (size,)
            0 or 1. Of n bits, draw t of bit e (in C order) takes coin t·n + e of the stream: fewer
            draws are a prefix of more.

        Raises
        ------
        ParameterTypeError, InvalidRecords, ParameterError
            As in `release`, and for `size`, `rng`, `streams` and `method`.
        """
        check_rounding()
        return self._sampled(bits, Sampling(size, rng, streams, threads, method))

    def _sampled(self, bits: object, sampling: Sampling) -> int | IntArray:
        data = _data.bits(bits)
        _, draws, workers, seeds = sampling.checked(("flips",))
        count = 1 if draws is None else draws
        out = self._flips.sample(data.ravel(), count, stream_of(seeds, 0), workers)
        if draws is not None:
            return out.reshape(*data.shape, draws)
        return out.reshape(data.shape) if data.ndim else int(out[0, 0])

    def _question(self, options: CallOptions, rows: int | None) -> Question:  # noqa: ARG002  # none
        from ..budget.question import Question

        return Question(self)

    def law(self, bit: object) -> FiniteLaw:
        """Return the exact law of `release` and `sample` on one bit: as private as the bit.

        Parameters
        ----------
        bit : int or bool
            0 or 1. The elements of an array have one of two laws: that of 0 or that of 1.

        Returns
        -------
        FiniteLaw
            Over the candidates (0, 1).

        Raises
        ------
        ParameterTypeError, InvalidRecords
            If it is not a single bit.
        """
        check_rounding()
        data = _data.bits(bit)
        if data.ndim:
            raise ParameterTypeError("law takes one bit, not an array")
        return self._with_maker(ResponseLaw(self, int(data)))


class ResponseLaw(FiniteLaw):
    """The law of one bit's response: its draws are the mechanism's, byte for byte."""

    def __init__(self, mechanism: RandomizedResponse, bit: int) -> None:
        utilities = np.array([bit == 0, bit == 1], dtype=np.int64).view(np.uint64)
        epsilon, weighting = mechanism.epsilon, mechanism._weighting
        super().__init__(utilities, SIGNED, weighting, epsilon, (0, 1))
        self._mechanism, self._bit = mechanism, bit

    def _with_rate(
        self,
        rate: Fraction,  # noqa: ARG002  # it follows from epsilon
        epsilon: float,
    ) -> ResponseLaw:
        return ResponseLaw(RandomizedResponse(epsilon, any_epsilon=True), self._bit)

    def _draw(self, sampling: Sampling) -> Any:
        return self._mechanism._sampled(self._bit, sampling)
