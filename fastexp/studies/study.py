"""A study: which data sets, mechanisms and epsilons are compared, and by which figures."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._compiler.rounding import check_rounding
from .._version import __version__
from ..errors import ParameterError
from .design import settings
from .design.cells import Cell, cells_of

if TYPE_CHECKING:
    from .report.results import StudyResults


@dataclass(frozen=True, kw_only=True, eq=False)
class Study:
    """An accuracy study: how wrong private answers are, on which data, against what rivals.

    A study is data: it says what is compared and holds no results. For each combination of
    data, n, mechanism and epsilon (a cell) it gives the exact expectation over the
    mechanism's noise given each data set, averaged over data sets, and the same by drawing.

    Parameters
    ----------
    name : str
        Letters, digits, ``-`` and ``_``.
    mechanisms : sequence of (str or dict)
        Names, or dicts with a ``name``, an optional ``label`` and the mechanism's parameters
        but epsilon and bounds: ``{"name": "median", "neighbors": "replace"}``.
    epsilon : float or sequence of float
        In nats.
    data : str, dict or sequence of them
        Generators: ``"normal"``, or with parameters ``{"name": "normal", "sd": 2.0}``; a file
        that is resampled: ``{"file": "ages.csv", "column": "age"}``.
    n : int or sequence of int
        Records in a data set (candidates, where the data are utilities).
    bounds : (number, number), optional
        Public limits of records and answers; mechanisms of numbers need them. Data sets are
        clamped to them, and the truth is that of the clamped data. Utilities are not.
    datasets : int
        How many data sets a cell has.
    draws : int
        How many draws of each mechanism for each data set; 0: exact figures only.
    figures : sequence of str
        Of ``error``, ``bias``, ``loss``, ``error_quantile``, ``loss_quantile``, ``theorem_1``,
        ``theorem_6``, ``corollary_7``. A mechanism gives those that it has.
    levels : sequence of float
        The levels of quantiles (and one minus the failure probability of theorems), in (0, 1).
    seed : int
        The key of all data sets and draws, in [0, 2**64).
    block : int, optional
        Data sets of one task; default: some 2**20 records of the largest n, or 2**20 draws. It
        is part of what a study is: other blocks are other data sets.
    question : str
        What the study asks, for its report.

    Raises
    ------
    ParameterError
        Lists everything that is wrong, before anything runs.

    Notes
    -----
    A task (a block of data sets) is a pure function of the study and the task's number, and
    sums of tasks are exact: the table has the same bytes for any executor, number of workers,
    order and number of retries, with one version of NumPy and of fastexp and CPUs of one kind
    (NumPy's logarithms differ in the last bit between some). Memory does not grow with the
    number of data sets.

    Examples
    --------
    >>> import fastexp as fx
    >>> study = fx.Study(
    ...     name="medians",
    ...     data="normal",
    ...     n=100,
    ...     bounds=(-10, 10),
    ...     epsilon=[0.5, 1.0],
    ...     mechanisms=["median", {"name": "smooth-sensitivity-median", "noise": "cauchy"}],
    ...     datasets=50,
    ...     draws=20,
    ... )
    >>> results = study.run()
    >>> for row in results.rows:
    ...     print(row["mechanism"], row["epsilon"], round(row["exact"], 2))
    median 0.5 0.06
    median 1.0 0.03
    smooth-sensitivity-median noise=cauchy 0.5 3.5
    smooth-sensitivity-median noise=cauchy 1.0 1.44
    >>> results.agree
    True
    """

    name: str
    mechanisms: Any
    epsilon: Any
    data: Any = "normal"
    n: Any = 1000
    bounds: Any = None
    datasets: int = 1000
    draws: int = 100
    figures: Any = ("error",)
    levels: Any = (0.5, 0.95)
    seed: int = 0
    block: int | None = None
    question: str = ""
    _cells: tuple[Cell, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Validate everything and list all faults; the study is immutable afterwards."""
        check_rounding()
        faults = settings.Faults()
        clean = settings.normalise(self, faults)
        faults.raise_any(self.name)
        for key, value in clean.items():
            object.__setattr__(self, key, value)
        cells = cells_of(self, faults)
        faults.raise_any(self.name)
        object.__setattr__(self, "_cells", tuple(cells))

    @classmethod
    def load(cls, path: str | Path, **changes: Any) -> Study:
        """A study from a TOML file (or the JSON of a results folder).

        Parameters
        ----------
        path : str or Path
            Keys are the parameters of `Study`; ``[[data]]`` and ``[[mechanisms]]`` are arrays
            of tables. Files of data are found from the file's own folder.
        changes
            Parameters of `Study` that are other than in the file.

        Returns
        -------
        Study

        Raises
        ------
        ParameterError
            If the file is not TOML (or JSON), or the study is not valid: all faults at once.
        """
        check_known(changes)
        return cls(**{**settings.from_file(Path(path), known=_names(cls)), **changes})

    @staticmethod
    def ready(name: str, **changes: Any) -> Study:
        """A study that comes with fastexp, with some settings changed.

        Parameters
        ----------
        name : str
            "table1", "price-tradeoff", "randomized-response", "laplace", "nice-and-nasty",
            "selection" or "bounds".
        changes
            Parameters of `Study`, such as datasets, draws or seed.

        Returns
        -------
        Study

        Raises
        ------
        ParameterError
            If there is no such study, or a setting is wrong.
        """
        from .design.ready import ready

        return ready(name, **changes)

    def __eq__(self, other: object) -> bool:
        return self.key == other.key if isinstance(other, Study) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.key)

    def __reduce__(self) -> Any:
        return _made, (self.to_dict(),)

    def to_dict(self) -> dict[str, Any]:
        """The study as plain data: `Study(**study.to_dict()) == study`."""
        return {key: settings.plain(getattr(self, key)) for key in _names(type(self))}

    @property
    def key(self) -> str:
        """16 hexadecimal digits that name this study, with the version of fastexp.

        Files of data count by what they hold, not by where they are. 1 and 1.0 are two keys.
        """
        check_rounding()
        text = json.dumps([__version__, settings.placeless(self.to_dict())], sort_keys=True)
        return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()

    def run(
        self,
        executor: Any = None,
        *,
        workers: int = 0,
        out: str | Path | None = None,
        progress: Any = None,
    ) -> StudyResults:
        """Run all tasks and return the results.

        Parameters
        ----------
        executor : {None, "threads", "processes"}, Executor or callable, optional
            Where tasks run: None is threads (kernels release the GIL). Any
            `concurrent.futures.Executor` will do, such as ``Client.get_executor()`` of
            `dask.distributed`; a callable returns one, and is called again if it breaks. A
            script that starts processes needs ``if __name__ == "__main__":`` around what it does.
        workers : int
            For None, "threads" and "processes": how many; 0 for all that the process may use.
        out : str or Path, optional
            A folder for results, new or empty: each finished task is appended to it at once,
            and `resume` goes on from it after whatever stopped the run.
        progress : callable, optional
            Is called with (tasks done, tasks in all) after each task.

        Returns
        -------
        StudyResults

        Raises
        ------
        ParameterError, ParameterTypeError
            If an argument is wrong, or the folder holds something.
        StudyError
            If a task fails, or a pool keeps breaking. What is finished is kept in `out`.
        """
        check_rounding()
        from .run.engine import run

        return run(self, executor, workers=workers, out=out, progress=progress)

    @staticmethod
    def resume(
        folder: str | Path,
        executor: Any = None,
        *,
        workers: int = 0,
        progress: Any = None,
        study: Study | None = None,
    ) -> StudyResults:
        """Do what is missing in a results folder; nothing, where it is complete.

        Parameters
        ----------
        folder : str or Path
            What `run` was given as `out`.
        executor, workers, progress
            As for `run`; they need not be the same as before.
        study : Study, optional
            The study that the folder is expected to be of.

        Returns
        -------
        StudyResults

        Raises
        ------
        StudyError
            If it is no results folder, or of another study or version: the difference is
            named.
        """
        from .run.engine import resume

        return resume(Path(folder), executor, workers=workers, progress=progress, study=study)


def _made(settings: dict[str, Any]) -> Study:
    return Study(**settings)


def check_known(changes: dict[str, Any]) -> None:
    """Refuse settings that a study does not have."""
    unknown = sorted(set(changes) - set(_names(Study)))
    if unknown:
        raise ParameterError(
            f"a study has no {', '.join(unknown)}; it has {', '.join(_names(Study))}"
        )


def _names(cls: type) -> list[str]:
    return [item.name for item in fields(cls) if item.init]  # type: ignore[arg-type, unused-ignore]
