"""The epsilon that is enough for an accuracy: on many public data sets, or without any data."""

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
    """The epsilon from which each of many data sets reaches a target; made by `epsilon_for`.

    Attributes
    ----------
    mechanism
        As it was passed; its own epsilon is ignored.
    target : str
        The target in words.
    data : str
        A description of the data sets.
    n : int
        The number of records in each data set.
    epsilons : ndarray of float64, shape (datasets,)
        One for each data set, in increasing order; infinite if no epsilon up to 1e6 is enough.
    """

    mechanism: Any
    target: str
    data: str
    n: int
    epsilons: FloatArray

    @property
    def worst(self) -> float:
        """The epsilon that is enough for all data sets."""
        return float(self.epsilons[-1])

    @property
    def median(self) -> float:
        """The epsilon that is enough for half of the data sets."""
        return self.quantile(0.5)

    def quantile(self, p: float) -> float:
        """Return the epsilon that is enough for a share of the data sets.

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
    """Return the epsilon that is enough for an accuracy, on similar data or on any data.

    With a mechanism and `like`, many data sets are made, and their laws give the epsilon that is
    enough (`law.epsilon_for`). It is the smallest point of a geometric grid (ratio 1.01, up to 1e6)
    such that the target holds there and at every larger point of the grid; it is rounded up to
    four digits and verified by the exact law. **Not private**: `like` must be public, simulated or
    old data.

    Without a mechanism, for a selection from k candidates, it needs only public numbers, and holds
    for every data set. The target is one of these:

    * ``loss`` and ``failure``: P(loss >= `loss`) <= `failure`. By Corollary 7, epsilon =
      2 * sensitivity * (ln k + ln(1 / failure)) / loss.
    * ``expected_loss``: the expected loss is at most this. Its bound is
      (2 * sensitivity / epsilon) * ln k (the entropy argument: the mechanism maximises
      c * E[utility] + entropy, and entropy is at most ln k).

    Parameters
    ----------
    mechanism : optional
        A mechanism that gives one or several numbers for records, or selects by utilities. Its
        own epsilon is ignored.
    like : str, path, frame, array_like, callable or dict
        The source of the data sets, as `data` of a `Study`: the name of a generator, a file or
        frame whose records are drawn with replacement, a function of (rng, n), or numbers, which
        are a single data set.
    n : int
        The number of records in each data set.
    column : str, optional
        The column of a file or frame.
    error, loss, probability, expected_error, expected_loss
        The target, as for `law.epsilon_for`. Errors are from the true statistic of each data set.
    datasets : int
        The number of data sets.
    rng : int
        The seed of the data sets.
    progress : callable, optional
        Called with the number of finished data sets, and the number of all.
    k : int
        The number of candidates, >= 2.
    sensitivity : float
        The sensitivity of the utility, > 0, in its units.
    failure : float
        The probability of a larger loss, in (0, 1); with `loss`.
    monotonic : bool
        Whether utilities are monotonic; then half of that epsilon is enough.

    Returns
    -------
    SufficientEpsilon or float
        For many data sets, an object that can be printed; without data, a number in nats.

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
    # Imported here, as calls without data need nothing of studies.
    from .studies.design.data_sources import RECORDS, data_source

    if column is not None:
        kind = "file" if isinstance(like, (str, PathLike)) else "frame"
        like = {kind: like, "column": validate.text("column", column)}
    source = data_source(like)
    if (source.takes == RECORDS) == isinstance(mechanism, FiniteMechanism):
        raise ParameterError(
            f"like must be data that {type(mechanism).__name__} takes, got {source.takes}"
        )
    if source.size is not None and not (n in (1000, source.size) and datasets in (1, 1000)):
        raise ParameterError(
            "n and datasets must be left out if like is numbers, which are one data set; to draw "
            "data sets from them, give like={'name': 'sample', 'values': numbers}"
        )
    size = validate.counting("n", n)
    seed = validate.counting("rng", rng, least=0)
    rows = validate.counting("datasets", 1 if source.fixed else datasets)
    data = source.data_sets(np.random.default_rng(seed), rows, size)
    if source.whole and np.abs(data).max() < 2**53:  # counts must be integers
        data = data.astype(np.int64)
    epsilons = np.full(rows, inf)
    for i, row in enumerate(data):
        if progress is not None:
            progress(i, rows)
        law = mechanism.law(row)
        try:
            epsilons[i] = law._epsilon_for(target)
        except Unreached:
            if i == rows - 1 and not isfinite(epsilons.min()):
                law._refuse(target)
    if progress is not None:
        progress(rows, rows)
    return SufficientEpsilon(
        mechanism, target.words, source.label, data.shape[1], np.sort(epsilons)
    )
