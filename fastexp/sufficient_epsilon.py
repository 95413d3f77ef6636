"""The epsilon that is enough for an accuracy: over many public data sets, or without any data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, isfinite
from os import PathLike
from typing import Any, overload

import numpy as np

from ._compiler.rounding import check_rounding
from ._parameters import validate
from ._parameters.text import readable
from ._typing import FloatArray
from .errors import ParameterError, ParameterTypeError
from .laws.bounds import epsilon_without_data
from .laws.targets import Unreached, target_of
from .mechanisms._finite import FiniteMechanism
from .mechanisms._noisy import NoisyMedian
from .mechanisms._number import NumberMechanism
from .mechanisms._several import JointMechanism
from .pictures.cards import Card, TextRepr

NOTE = "As public as the data sets: an epsilon chosen by private data is itself a release."


@dataclass(frozen=True, eq=False, repr=False)
class SufficientEpsilon(TextRepr):
    """The epsilon from which on each of many data sets meets a target; see `epsilon_for`.

    Attributes
    ----------
    mechanism
        As it was passed; its own epsilon does not count.
    target : str
        What is wanted, in words.
    data : str
        What the data sets are like.
    n : int
        Records in each of them.
    epsilons : ndarray of float64, shape (datasets,)
        Of each data set, in increasing order; infinite where no epsilon up to 1e6 is enough.
    """

    mechanism: Any
    target: str
    data: str
    n: int
    epsilons: FloatArray

    @property
    def worst(self) -> float:
        """What is enough for every data set."""
        return float(self.epsilons[-1])

    @property
    def median(self) -> float:
        """What is enough for half of the data sets."""
        return self.quantile(0.5)

    def quantile(self, p: float) -> float:
        """What is enough for a share of the data sets.

        Parameters
        ----------
        p : float
            The share, in [0, 1].

        Returns
        -------
        float
            In nats.
        """
        check_rounding()
        share = validate.fraction("p", p)
        return float(np.quantile(self.epsilons, share, method="inverted_cdf"))

    def _card(self) -> Card:
        m = self.epsilons.size
        sets = "data set" if m == 1 else "data sets"
        facts: list[tuple[str, object]] = [
            ("target", self.target),
            ("data", f"{readable(m)} {sets} of {readable(self.n)}: {self.data}"),
            ("half of them", self.median),
            ("95% of them", self.quantile(0.95)),
            ("all of them", self.worst),
        ]
        none = int(np.isinf(self.epsilons).sum())
        facts += [("never", f"{readable(none)} data sets")] if none else []
        return Card("Epsilon that is enough", facts, note=NOTE)

    def __repr__(self) -> str:
        name, m = type(self.mechanism).__name__, self.epsilons.size
        return f"SufficientEpsilon({name}, {self.target!r}, datasets={m}, n={self.n})"


@overload
def epsilon_for(
    mechanism: None = None,
    *,
    k: int,
    sensitivity: float,
    expected_loss: float | None = None,
    loss: float | None = None,
    failure: float | None = None,
    monotonic: bool = False,
) -> float: ...
@overload
def epsilon_for(
    mechanism: FiniteMechanism | NumberMechanism | JointMechanism | NoisyMedian,
    *,
    like: object,
    n: int = 1000,
    column: str | None = None,
    error: float | None = None,
    loss: float | None = None,
    probability: float | None = None,
    expected_error: float | None = None,
    expected_loss: float | None = None,
    datasets: int = 1000,
    rng: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> SufficientEpsilon: ...
def epsilon_for(
    mechanism: Any = None,
    *,
    like: object = None,
    n: int = 1000,
    column: str | None = None,
    error: float | None = None,
    loss: float | None = None,
    probability: float | None = None,
    expected_error: float | None = None,
    expected_loss: float | None = None,
    datasets: int = 1000,
    rng: int = 0,
    progress: Callable[[int, int], None] | None = None,
    k: int | None = None,
    sensitivity: float | None = None,
    failure: float | None = None,
    monotonic: bool = False,
) -> float | SufficientEpsilon:
    """The epsilon that is enough for an accuracy: on data like these, or on any data whatever.

    With a mechanism and `like`, many data sets are made, and each law says which epsilon is enough
    (`law.epsilon_for`): the least point of a geometric grid (ratio 1.01, up to 1e6) such that the
    target holds at it and at every point of the grid above it, rounded up to four digits and
    verified there by the exact law. **Not private** unless `like` is: take what is public,
    simulated or old.

    Without a mechanism, for a selection from k candidates, it needs only public numbers, and holds
    for every data set. Either of two promises:

    * ``loss`` and ``failure``: P(loss >= `loss`) <= `failure`, by Corollary 7: epsilon =
      2 * sensitivity * (ln k + ln(1 / failure)) / loss;
    * ``expected_loss``: the expected loss is at most that, for its bound
      (2 * sensitivity / epsilon) * ln k (the entropy argument: the mechanism maximises
      c * E[utility] + entropy, and entropy is at most ln k).

    Parameters
    ----------
    mechanism : optional
        One that gives a number for records, or several at once, or selects by utilities; its
        epsilon does not count.
    like : str, path, frame, array_like, callable or dict
        What the data sets are like, as for `data` of `Study`: the name of a generator, a file or
        a frame whose records are drawn with replacement, a function of (rng, n), or numbers, which
        are one data set.
    n : int
        Records of each data set.
    column : str, optional
        Of a file or a frame.
    error, loss, probability, expected_error, expected_loss
        The target, as for `law.epsilon_for`; errors are from each data set's own statistic.
    datasets : int
        How many data sets.
    rng : int
        The seed of the data sets.
    progress : callable, optional
        Called with the number of data sets that are finished, and of all of them.
    k : int
        Number of candidates, >= 2.
    sensitivity : float
        > 0, in units of the utility.
    failure : float
        In (0, 1); goes with `loss`.
    monotonic : bool
        Half of that epsilon is enough.

    Returns
    -------
    SufficientEpsilon or float
        Of many data sets an object that prints; without data a number, in nats.

    Raises
    ------
    ParameterError, ParameterTypeError
        If a parameter is outside its range, not exactly one target is given, or no data set
        reaches it.
    PrecisionError
        If the law of a data set cannot be computed at another epsilon.

    Examples
    --------
    >>> import fastexp as fx
    >>> enough = fx.epsilon_for(k=7, sensitivity=1.0, loss=100.0, failure=0.05, monotonic=True)
    >>> round(enough, 6)
    0.049416
    >>> median = fx.Median(epsilon=1, bounds=(0, 120), step=1)
    >>> ages = {"name": "normal", "mean": 40, "sd": 15}
    >>> target = {"error": 2, "probability": 0.95}
    >>> print(fx.epsilon_for(median, like=ages, n=500, **target, datasets=100))
    Epsilon that is enough
    target        error <= 2 with probability 0.95
    data          100 data sets of 500: normal mean=40 sd=15
    half of them  0.1268
    95% of them   0.1727
    all of them   0.2421
    As public as the data sets: an epsilon chosen by private data is itself a release.
    """
    check_rounding()
    if mechanism is None and like is None and k is not None and sensitivity is not None:
        return epsilon_without_data(
            k=k,
            sensitivity=sensitivity,
            expected_loss=expected_loss,
            loss=loss,
            failure=failure,
            monotonic=monotonic,
        )
    if mechanism is None or like is None or not (k is sensitivity is failure is None):
        raise ParameterError("epsilon_for needs mechanism and like, or k and sensitivity")
    target = target_of(error, loss, probability, expected_error, expected_loss, None)
    validate.progress(progress)
    if not isinstance(mechanism, (FiniteMechanism, NumberMechanism, JointMechanism, NoisyMedian)):
        raise ParameterTypeError(
            "mechanism must give numbers for records or select by utilities, got "
            f"{type(mechanism).__name__}"
        )
    # Without data, epsilon needs none of what studies import.
    from .studies.design.data_sources import RECORDS, data_source

    if column is not None:
        kind = "file" if isinstance(like, (str, PathLike)) else "frame"
        like = {kind: like, "column": validate.text("column", column)}
    source = data_source(like)
    if (source.takes == RECORDS) == isinstance(mechanism, FiniteMechanism):
        raise ParameterError(
            f"like must be data that {type(mechanism).__name__} takes, got {source.takes}"
        )
    size = validate.counting("n", n)
    seed = validate.counting("rng", rng, least=0)
    rows = validate.counting("datasets", 1 if source.fixed else datasets)
    data = source.data_sets(np.random.default_rng(seed), rows, size)
    if source.whole and np.abs(data).max() < 2**53:  # counts are integers
        data = data.astype(np.int64)
    epsilons = np.full(rows, inf)
    for i, row in enumerate(data):
        if progress is not None:
            progress(i, rows)
        law = mechanism.law(row)
        try:
            epsilons[i] = law._enough(target)
        except Unreached:
            if i == rows - 1 and not isfinite(epsilons.min()):
                law._refuse(target)
    if progress is not None:
        progress(rows, rows)
    return SufficientEpsilon(
        mechanism, target.words, source.label, data.shape[1], np.sort(epsilons)
    )
