"""Top-k: several candidates in order, peeled off one after the other."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from .._compiler.rounding import check_rounding
from .._intake import utilities
from .._parameters import validate
from .._selection import top_k
from .._selection.rows import Rows
from .._selection.weighting import Weighting
from .._typing import ArrayLike, IntArray, NaN, RNGLike, SeedLike, WordArray
from ..errors import ParameterError
from ..laws.top_k import TopKLaw
from ..privacy import Guarantee, peeling_guarantee, peeling_round, selection_rate
from ._finite import ASSUMES, MONOTONIC, FiniteMechanism, check_selection, selection_repr


@dataclass(frozen=True, repr=False)
class TopK(FiniteMechanism):
    """The k best candidates in order, peeled off one after the other.

    Each of k rounds is an exponential mechanism over the candidates that are left.

    Parameters
    ----------
    k : int
        How many candidates are selected.
    epsilon : float, optional
        The total for all k rounds, in nats; either this or `rho`.
    sensitivity : float
        Δ > 0: the most that one record can change the utility of any one candidate, for the
        neighbours that you have in mind, in units of the utility.
    delta : float
        In [0, 1), with epsilon. 0: pure, each round gets ε/k. Else each round gets the most
        that (ε, δ) allows under exact Rényi accounting of bounded ranges.
    rho : float, optional
        The total of zero-concentrated differential privacy: rounds get sqrt(8ρ/k).
    monotonic : bool
        One record moves all utilities in the same direction: the factor 2 is not needed.
        **Not for counts where a record is replaced.**
    candidates : sequence of hashable, optional
        Public labels, two or more, distinct. Default: indices.
    any_epsilon : bool
        Lift the limits on epsilon.

    Raises
    ------
    ParameterError, ParameterTypeError
        If a parameter is outside its range or of the wrong type.

    Notes
    -----
    **Privacy**: the total, for the neighbours for which Δ was stated; `guarantee` has it.
    Later rounds depend on earlier ones, so composition is adaptive. **Numerics**: a release
    peels with the exact envelope. `sample` takes the k greatest of utilities with Gumbel noise
    at once, the same law up to roundings of some 1e-10 in a log-probability; where keys would
    be coarser it peels. ``method="envelope"`` always peels, exactly. **Timing**: a release
    scans all blocks once, and a selected candidate's block again.

    References
    ----------
    Durfee and Rogers, "Practical differentially private top-k selection with
    pay-what-you-get composition", NeurIPS 2019.

    Examples
    --------
    >>> import fastexp as fx
    >>> mechanism = fx.TopK(2, epsilon=1.0, sensitivity=1.0, candidates=["tea", "milk", "rye"])
    >>> mechanism.release([900.0, 3.0, 500.0])
    ['tea', 'rye']
    >>> mechanism.round_epsilon
    0.5
    >>> mechanism.sample([4.0, 3.0, 5.0], size=3, rng=1).shape
    (3, 2)
    """

    k: int
    epsilon: float | None = None  # type: ignore[assignment]
    sensitivity: float = None  # type: ignore[assignment]
    delta: float = field(default=0.0, kw_only=True)
    rho: float | None = field(default=None, kw_only=True)
    monotonic: bool = field(default=False, kw_only=True)
    candidates: tuple[Any, ...] | None = field(default=None, kw_only=True)
    any_epsilon: bool = field(default=False, kw_only=True, compare=False)
    _round: Fraction = field(init=False, compare=False)
    _weighting: Weighting = field(init=False, compare=False)

    if TYPE_CHECKING:  # wider than the fields: sequences become tuples

        def __init__(
            self,
            k: int,
            epsilon: float | None = None,
            sensitivity: float | None = None,
            *,
            delta: float = 0.0,
            rho: float | None = None,
            monotonic: bool = False,
            candidates: Any = None,
            any_epsilon: bool = False,
        ) -> None: ...

    def __post_init__(self) -> None:
        """Validate once; the mechanism is immutable afterwards."""
        put = object.__setattr__
        put(self, "k", validate.counting("k", self.k))
        if self.sensitivity is None:
            raise ParameterError("sensitivity must be given")
        if (self.epsilon is None) == (self.rho is None):
            raise ParameterError(
                "either epsilon (the total of all rounds) or rho must be given, not both"
            )
        check_selection(self)
        if self.candidates is not None and self.k > len(self.candidates):
            raise ParameterError(
                f"k must be at most the number of candidates, {len(self.candidates)}, got {self.k}"
            )
        put(self, "delta", validate.fraction("delta", self.delta))
        if self.delta == 1.0:
            raise ParameterError("delta must be in [0, 1), got 1.0")
        if self.rho is not None:
            put(self, "rho", validate.positive("rho", self.rho))
            if self.delta > 0.0:
                raise ParameterError("delta must be 0 where the total is rho")
        each = peeling_round(self.k, epsilon=self.epsilon, delta=self.delta, rho=self.rho)
        put(self, "_round", Fraction(each))
        rate = selection_rate(self._round, self.sensitivity, self.monotonic)
        put(self, "_weighting", Weighting(rate, None))

    def __repr__(self) -> str:
        return selection_repr(self)

    @property
    def round_epsilon(self) -> float:
        """The epsilon of each round, in nats; rounded to float64."""
        check_rounding()
        return float(self._round)

    @property
    def guarantee(self) -> Guarantee:
        """The total, for the relation for which Δ was stated."""
        assumes = ASSUMES + (MONOTONIC if self.monotonic else "")
        return peeling_guarantee(self.k, self._round, self.epsilon, self.delta, self.rho, assumes)

    def sample(  # type: ignore[override]
        self,
        data: Any,
        size: int | None = None,
        *,
        rng: SeedLike | RNGLike | None = None,
        streams: ArrayLike | None = None,
        threads: int = 1,
        method: str | None = None,
        nan: NaN = "raise",
    ) -> IntArray:
        """Simulation: reproducible selections of the law that `release` draws from.

        **Not a release**: a seeded draw is not private.

        Parameters
        ----------
        data : array_like
            Utilities of shape (candidates,) or (rows, candidates).
        size : int, optional
            How many selections of each row; None: one.
        rng : {None, int, array_like[ints], SeedSequence, BitGenerator, Generator}, optional
            None: fresh from the operating system; else as in SPEC 7.
        streams : array_like of int, shape (rows,), optional
            The name of each row's stream; default its number.
        threads : int
            1; 0 for all. Never changes the draws.
        method : {None, "gumbel", "envelope"}, optional
            Pins the kernel; the default is "gumbel". "envelope" peels: exact, but slow.
        nan : {"raise", "lowest"}
            As in `release`.

        Returns
        -------
        ndarray of int64, shape (k,), (size, k), (rows, k) or (rows, size, k)
            Indices of candidates, the first selected first.

        Raises
        ------
        ParameterTypeError, ParameterError, InvalidUtilities
            As in `release`, and for `size`, `rng`, `streams` and `method`.
        """
        check_rounding()
        bits, kind = self._utilities(data, nan)
        how = size, rng, streams, threads, method
        return top_k.simulate(bits, kind, self._weighting, self.k, *how)

    def law(self, data: Any, *, nan: NaN = "raise") -> TopKLaw:  # type: ignore[override]
        """The exact law of `release` and `sample` on this data, **which it holds**.

        Parameters
        ----------
        data : array_like
            Utilities of shape (candidates,).
        nan : {"raise", "lowest"}
            As in `release`.

        Returns
        -------
        TopKLaw
        """
        check_rounding()
        bits, kind = self._utilities(data, nan)
        utilities.one_row(bits)
        own = self._weighting, self.k, self.round_epsilon, self.candidates
        return TopKLaw(bits.copy(), kind, *own)

    def _utilities(self, data: Any, nan: NaN) -> tuple[WordArray, int]:
        count = None if self.candidates is None else len(self.candidates)
        bits, kind = utilities.utilities(data, count, nan)
        if bits.shape[-1] < self.k:
            raise ParameterError(f"utilities must have at least k = {self.k} candidates")
        return bits, kind

    def _release(self, bits: WordArray, kind: int, threads: int) -> IntArray:
        found = top_k.release(Rows(bits, kind, self._weighting), self.k, threads)
        return found if bits.ndim == 2 else found[0]
