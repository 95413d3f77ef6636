"""`Study`: settings of an accuracy study, and how it is run."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ParameterTypeError
from ..parameters import checks
from ..types import Array, Number
from .measures import error
from .results import StudyResults
from .tasks import run_all


@dataclass(frozen=True, eq=False)
class Study:
    """An accuracy study: the errors of several mechanisms on many data sets.

    For each combination of data, n, mechanism, epsilon and measure, `run` computes the exact
    expectation over the mechanism's noise for each data set, averages it over data sets, and
    estimates the same average from draws.

    Parameters
    ----------
    mechanisms : mapping of label to mechanism
        Their epsilon is replaced; or functions of epsilon that return one, or an object of your own
        whose ``sample(rows, size, rng=, streams=)`` returns answers of shape (rows, size). `rng` is
        a seed for ``numpy.random.default_rng``, another one for each block; `streams` number the
        data sets. The measures must know such an object.
    data : mapping of label to function or array_like
        ``f(rng, (rows, n))`` returns data sets, one a row, such as
        ``numpy.random.Generator.standard_normal``. An array of numbers of shape (m,) is drawn from
        with replacement.
    epsilon : sequence of float
        In nats.
    n : sequence of int
        The numbers of records in a data set, or of candidates.
    datasets : int
        The number of data sets for each n.
    draws : int
        The number of draws of each mechanism for each data set; 0: exact figures only.
    measures : mapping of name to function, optional
        See `fastexp.studies`; default: the error.
    seed : int
        The key of all data sets and draws.
    block : int
        The number of data sets in a task. Another block gives other data sets.
    printed : mapping of (mechanism, epsilon) to (mean, standard deviation), optional
        Figures of a paper, which the table shows beside.

    Raises
    ------
    ParameterError, ParameterTypeError
        If a setting is wrong.

    Warns
    -----
    UserWarning
        If a function uses a generator of its own: what it returns depends then on the order of
        tasks, and workers repeat it.

    Notes
    -----
    A task is a function of the study alone, so the table has the same bytes for any executor,
    number of workers, order and interruption, with the same versions of NumPy and fastexp.

    Examples
    --------
    >>> import fastexp as fx
    >>> import numpy as np
    >>> study = fx.Study(
    ...     {"median": fx.Median(1.0, (-10, 10)), "quartile": fx.Quantile(0.25, 1.0, (-10, 10))},
    ...     {"normal": np.random.Generator.standard_normal},
    ...     epsilon=[0.5, 1.0],
    ...     n=[100],
    ...     datasets=50,
    ...     draws=20,
    ... )
    >>> results = study.run()
    >>> for row in results.rows:
    ...     print(row["mechanism"], row["epsilon"], round(row["exact"], 2))
    median 0.5 0.06
    median 1.0 0.03
    quartile 0.5 0.17
    quartile 1.0 0.05
    >>> results.agree
    True
    """

    mechanisms: Mapping[str, Any]
    data: Mapping[str, Any]
    _: KW_ONLY
    epsilon: Sequence[Number]
    n: Sequence[int]
    datasets: int = 1000
    draws: int = 100
    measures: Mapping[str, Callable[[Any, Array, Array | None], Any]] = field(
        default_factory=lambda: {"error": error}
    )
    seed: int = 0
    block: int = 256
    printed: Mapping[tuple[str, float], tuple[float, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check the settings."""
        for name in ("mechanisms", "data", "measures"):
            if not isinstance(pairs := vars(self)[name], Mapping) or {*map(type, pairs)} != {str}:
                raise ParameterTypeError(f"{name} must be a mapping of labels (text), not empty")
        for name in ("epsilon", "n"):
            if not np.ndim(value := vars(self)[name]):
                raise ParameterTypeError(f"{name} must be a sequence, as [1, 2], got {value!r}")
        for number in self.epsilon:
            checks.positive("epsilon", number)
        for number in self.n:
            checks.whole("n", number, 1, checks.MOST_SIZE)
        for name, least in {"datasets": 1, "block": 1, "draws": 0, "seed": 0}.items():
            checks.whole(name, vars(self)[name], least, checks.MOST_SIZE)
        for label, source in self.data.items():
            if not callable(source):
                numbers = checks.numbers(source)
                if numbers is None or numbers.ndim != 1 or not numbers.size:
                    raise ParameterTypeError(
                        f"data must be functions or numbers of shape (m,): {label!r} is neither"
                    )
        for label, source in [*self.data.items(), *self.mechanisms.items()]:
            if _has_generator(source):
                warnings.warn(
                    f"{label!r} uses a generator of its own: use the argument rng, or results "
                    "depend on the order of tasks",
                    UserWarning,
                    stacklevel=3,
                )

    def run(
        self,
        executor: Executor | None = None,
        *,
        folder: str | Path | None = None,
        progress: bool = False,
    ) -> StudyResults:
        """Run all tasks that the folder lacks.

        Parameters
        ----------
        executor : concurrent.futures.Executor, optional
            Of threads, of processes, of loky, or ``client.get_executor()`` of Dask. Processes need
            functions that can be pickled. Default: one task after the other.
        folder : path, optional
            A finished task is a file in it that appears complete or not at all: a run that was
            killed goes on, and several machines may share a folder. A folder belongs to a study:
            functions are compared with what they use of their own module, and with the text alone
            of functions of others; large frames and objects by what they show. After edits that lie
            deeper, take another folder.
        progress : bool
            Whether to show a bar, if rich is installed.

        Returns
        -------
        StudyResults

        Raises
        ------
        ParameterError
            If the folder has the results of another study or version.
        """
        if executor is not None and not hasattr(executor, "submit"):
            raise ParameterTypeError("executor must have submit, as of concurrent.futures")
        where = None if folder is None else Path(folder)
        return StudyResults(self, run_all(self, executor, where, checks.flag("progress", progress)))


def _has_generator(function: Any) -> bool:
    """Return whether a function holds a generator of NumPy: bound, partial, closed over, global."""
    if isinstance(function, partial):
        held = [*function.args, *function.keywords.values()]
    elif inspect.isfunction(function):
        found = inspect.getclosurevars(function)
        held = [*found.nonlocals.values(), *found.globals.values()]
    else:
        owner = getattr(function, "__self__", None)
        held = [owner, *getattr(owner, "__dict__", {}).values()]
    kinds = np.random.Generator, np.random.RandomState, np.random.BitGenerator
    return any(isinstance(one, kinds) for one in held)
