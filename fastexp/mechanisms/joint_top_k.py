"""Joint top-k: the k most frequent candidates in order, all in one draw."""

from __future__ import annotations

from dataclasses import KW_ONLY, field
from functools import partial
from typing import TYPE_CHECKING, Any

from .._parameters import validate
from .._selection import joint_top_k
from .._typing import ABSENT, Candidates, IntArray, NaN, Neighbors, WordArray
from ..errors import ParameterError
from ..grouped.counts import JointCountDraws
from ..grouped.segments import Draws, Segments
from ..grouped.words import WordSource
from ..privacy.rates import places_rate
from ._counting import CountsMechanism
from ._finite import Simulator
from .base import ALWAYS, frozen

if TYPE_CHECKING:
    from ..laws.top_k import JointTopKLaw

ASSUMES = "sensitivity bounds how much one record changes any one count"
ASSUMED_CANDIDATES = 1_000_000  # if none are given; only their logarithm matters
COMES = "; adding a record lowers no count, and removing one raises none"


@frozen
class JointTopK(CountsMechanism, promise="ε-DP and ε-bounded-range, under `neighbors`."):
    """The k most frequent candidates in order, in one draw of an exponential mechanism.

    The loss of a selection is the shortfall of its worst place: the greatest c_i - count(s_i), with
    c_i the i-th largest count and s_i the i-th selected candidate. Its probability is proportional
    to exp(-ε·loss/(2Δ)).

    Parameters
    ----------
    k : int
        The number of candidates to select, at most 2**14. It must be lower if a draw would take
        more than some seconds: about 1,000 are possible at any ε, 2**14 from ε = 2Δ on.
    epsilon
    sensitivity : float
        Δ > 0: the most that one person can add to any one count. A person may add to any number of
        counts.
    neighbors, candidates, any_epsilon

    Raises
    ------
    ParameterError, ParameterTypeError

    Notes
    -----
    The data are counts: integers, of shape (d,) or (rows, d), d >= k. Other numbers are refused,
    because rounding them may change the sensitivity. With candidates the data may also be counts
    with labels, or records as for `MostCommon`, also by group: each record adds 1 to one count, so
    `sensitivity` must be 1, and `max_rows` bounds the records of a person. If candidates are
    numbers, integers without groups are refused, as they could be counts or records:
    ``collections.Counter(records)`` makes counts with labels.

    **When to use it**: at the same ε the worst place is much better than that of `TopK` if the
    largest counts differ clearly. If many candidates are nearly as frequent as the k-th, each of
    them may take any place within reach, and `TopK` finds more of the set. `TopK` is also better
    for a total of ρ, or of ε with δ, and a large k: its rounds then get ε/√k.

    **Privacy**: ε-DP under `neighbors`, and ε-bounded-range, so that ρ = ε²/8. A person who joins
    raises each count by at most Δ, hence also each of the sorted counts; so any difference of two
    of them changes by at most Δ, and so does the largest difference. Replacing a record changes it
    by at most 2Δ. For k = 1 the weight is exp(-ε·loss/Δ) (under replace 2Δ), as the best count and
    the others move in one direction; draws are then those of `Exponential` with
    ``monotonic=True``.

    **Numerics**: exact, in integers. The loss v is drawn by slices: N(v) selections have a loss of
    at most v, and N(v) is a product of k integers (see the page on its proof).

    **Timing**: O(d log d + k²·ln(d)/ε) for d candidates. The time of a release reveals how many
    random words it needed and, in about 1e-8 of releases, that a bound was close.

    References
    ----------
    Gillenwater, Joseph, Muñoz Medina and Ribero, "A joint exponential mechanism for
    differentially private top-k", ICML 2022. Wu and Zhang, "Faster differentially private top-k
    selection: a joint exponential mechanism with pruning", NeurIPS 2024.

    Examples
    --------
    >>> import fastexp as fx
    >>> top = fx.JointTopK(2, epsilon=1.0, candidates=["tea", "milk", "rye"])
    >>> top.release([900, 3, 500])
    ['tea', 'rye']
    >>> top.sample([900, 3, 500], size=3, rng=1).shape
    (3, 2)
    >>> top.release(["tea"] * 90 + ["rye"] * 50)
    ['tea', 'rye']
    """

    k: int
    epsilon: float
    sensitivity: float = 1.0
    _: KW_ONLY
    neighbors: Neighbors = field(default="add-remove", metadata=ALWAYS)
    candidates: Candidates = ABSENT
    any_epsilon: bool = field(default=False, compare=False)

    def _check(self) -> None:
        neighbors = validate.neighbors(self.neighbors)
        places = validate.counting("k", self.k, most=joint_top_k.MAX_PLACES)
        self._set_frozen(k=places, neighbors=neighbors, monotonic=neighbors == "add-remove")
        super()._check()
        self._weigh(places_rate(self.epsilon, self.sensitivity, self.k, self.neighbors))
        size = ASSUMED_CANDIDATES if self.candidates is None else len(self.candidates)
        if joint_top_k.takes_long(self.k, size, self._weighting.rate_nats):
            raise ParameterError(
                "k must be lower, or epsilon / sensitivity higher, for a draw to take a few "
                f"seconds at most: got k = {self.k}"
            )

    @property
    def _assumes(self) -> str:
        return ASSUMES + COMES * (self.neighbors == "add-remove")

    if TYPE_CHECKING:  # k candidates a draw, by the inherited verbs

        def sample(self, data: object, size: int | None = None, **options: Any) -> Any:
            """As inherited."""

        def law(  # type: ignore[override]  # of k candidates
            self, data: object, *, nan: NaN = "raise"
        ) -> JointTopKLaw:
            """As inherited."""

    def _utilities(self, data: object, nan: NaN) -> tuple[WordArray, int]:
        bits, kind = super()._utilities(data, nan)
        if bits.shape[-1] < self.k:
            raise ParameterError(f"data must have at least k = {self.k} candidates")
        return bits, kind

    def _drawn(self, bits: WordArray, kind: int, threads: int) -> IntArray:
        return joint_top_k.release(bits, kind, self._weighting, self.k, threads)

    def _simulator(self) -> Simulator:
        return partial(joint_top_k.simulate, self.k)

    @property
    def _entries(self) -> tuple[str, ...]:
        return tuple(str(place) for place in range(1, self.k + 1))

    def _draws(self, segments: Segments, words: WordSource, size: int) -> Draws:
        """Return the draws of each segment; with k = 1 those of `MostCommon`."""
        if self.k > 1:
            count, rate = len(self._labels or ()), self._weighting.rate
            return JointCountDraws(count, self.k, rate, segments, words, size)
        draws = super()._draws(segments, words, size)
        draws.shape = (1,)
        return draws

    def _law(self, bits: WordArray, kind: int) -> JointTopKLaw:  # type: ignore[override]  # many
        from ..laws.top_k import JointTopKLaw

        return JointTopKLaw(bits, kind, self._weighting, self.k, self.epsilon, self.candidates)
