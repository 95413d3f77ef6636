"""Studies: what is compared, and how it is run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .._compiler.rounding import check_rounding
from .._parameters import validate
from .design.design import Design
from .ready.ready import settings_of
from .report.results import StudyResults
from .run.executors import Report, carried_out, workers_of
from .store import folder as folders


class Study(Design):
    """An accuracy study: how wrong private answers are, on which data, against what rivals.

    A study says what is compared; it holds no results. For each combination of data, n,
    mechanism and epsilon (a cell), `run` computes the error's exact expectation over the
    mechanism's noise for each data set, averages it over data sets, and estimates the same
    by drawing.

    Parameters
    ----------
    name : str
        Letters, digits, ``-`` and ``_``.
    mechanisms : sequence of (str, dict, mechanism or StudyMechanism)
        What is compared: mechanisms, whose epsilon is replaced by the study's and whose bounds
        are their own, ``fx.Median(epsilon=1, bounds=(0, 120), step=1)``; objects of your own, see
        `StudyMechanism`; names, ``"median"``, or dicts with a ``name``, an optional ``label`` and
        the mechanism's parameters: ``{"name": "median", "neighbors": "replace"}``. A mechanism with
        a label is ``{"mechanism": fx.Median(...), "label": ...}``; a subject, ``{"subject": ...}``.
    epsilon : float or sequence of float
        In nats.
    data : str, dict, callable, array_like of numbers, path or sequence of them
        Where data sets come from: a generator, ``"normal"``, or with parameters
        ``{"name": "normal", "sd": 2.0}``; a function ``f(rng, n)`` that gives n numbers, or
        ``{"function": f, "shape": 2.0}``, called with ``shape=2.0`` (with ``"takes": "utilities"``
        they are utilities of n candidates); a file of any kind that
        `Query` reads, or a frame, from which records are drawn with replacement,
        ``{"file": "ages.csv", "column": "age"}``, ``{"frame": df, "column": "age"}``; or numbers,
        the same in every data set. A list for a parameter, ``{"name": "normal", "sd": [1, 2]}``,
        is a source for each value; ``"n"`` and ``"bounds"`` in a dict stand for the study's.
    n : int or sequence of int
        Records in a data set (candidates, where the data are utilities).
    bounds : (number, number), optional
        Public limits of records and answers; mechanisms of numbers need them. Records are
        clamped to them, and the truth is that of the clamped records. Utilities are not clamped.
    datasets : int
        The number of data sets in a cell.
    draws : int
        The number of draws of each mechanism for each data set; 0: exact figures only.
    figures : sequence of (str, callable or dict)
        Some of ``error``, ``bias``, ``loss``, ``error_quantile``, ``loss_quantile``, ``theorem_1``,
        ``theorem_6``, ``corollary_7``; of top-k ``total_loss`` and ``last_loss``; of many quantiles
        ``rank_error``, ``wrong``, ``worst_error`` and ``worst_rank_error``. A mechanism gives
        those that it has. And functions ``f(answers, truth)`` of your own, also
        ``{"name": f}``: a number for each of the answers for a data set; their averages come from
        draws alone.
    levels : sequence of float
        The levels of quantiles, and for theorems one minus the failure probability; in (0, 1).
    seed : int
        The key of all data sets and draws, in [0, 2**64).
    block : int, optional
        The number of data sets in one task; by default as many as make about 2**20 records of
        the largest n, or 2**20 draws, but at most 4096. Another block gives other data sets,
        except of functions.
    question : str
        What the study asks, for its report.
    version : str
        Of the code of your functions and objects. Where it is given, the study's key holds it in
        place of digests of their source, defaults and values.

    Raises
    ------
    ParameterError
        If a setting is wrong; the message lists all faults.

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

    @staticmethod
    def ready(name: str, **changes: Any) -> Study:
        """A study that comes with fastexp, with some settings changed.

        Parameters
        ----------
        name : str
            "table1", "price-tradeoff", "randomized-response", "laplace", "nice-and-nasty",
            "selection", "bounds", "permute-and-flip", "top-k", "grids", "prices", "groups" or
            "quantiles".
        changes
            Parameters of `Study`, such as datasets, draws or seed.

        Returns
        -------
        Study

        Raises
        ------
        ParameterError, ParameterTypeError
            If there is no such study, or a setting is wrong.
        """
        return Study(**settings_of(name, changes))

    def run(
        self,
        executor: object = None,
        *,
        workers: int = 0,
        out: str | Path | None = None,
        progress: Report | None = None,
    ) -> StudyResults:
        """Run all tasks and return the results.

        Parameters
        ----------
        executor : {None, "threads", "processes", "dask"} or Executor, optional
            Where tasks run: None is threads (kernels release the GIL); "dask" starts Dask's
            processes on this machine. Any `concurrent.futures.Executor` will do, and a
            ``Client`` of `dask.distributed`. A script that starts processes needs
            ``if __name__ == "__main__":`` around what it does.
        workers : int
            For the named ones: how many; 0 for one on each CPU that the process may use. For
            another executor: how many tasks it runs at a time, where it does not say so itself
            (as Ray and MPI). More workers than tasks (see ``block``) have nothing to do.
        out : str or Path, optional
            A folder for results, new or empty: each finished task is appended to it at once,
            and `resume` continues from it after whatever stopped the run.
        progress : callable, optional
            Called with (tasks done, tasks in all) after each task.

        Returns
        -------
        StudyResults

        Raises
        ------
        ParameterError, ParameterTypeError
            If an argument is wrong, or the folder holds something.
        StudyError
            If a task fails, or its worker dies. Finished tasks stay in `out`, also after
            Ctrl-C: a note on the exception says how to go on.
        """
        check_rounding()
        validate.progress(progress)
        with workers_of(executor, workers) as pool:
            pool.check(self)
            store = folders.Progress(self) if out is None else folders.create(Path(out), self)
            return carried_out(store, pool, progress)

    @staticmethod
    def resume(
        folder: str | Path,
        executor: object = None,
        *,
        workers: int = 0,
        progress: Report | None = None,
        study: Study | None = None,
        allow_import: bool = False,
    ) -> StudyResults:
        """Run the tasks that a results folder lacks, and return the results of all.

        Parameters
        ----------
        folder : str or Path
            What `run` was given as `out`.
        executor, workers, progress
            As for `run`; they need not be the same as before.
        study : Study, optional
            The study that the folder is expected to be of. With functions or objects of your own
            in it this is how they come back, unless they can be imported.
        allow_import : bool
            Whether modules may be imported that the folder names for them: this runs their code.

        Returns
        -------
        StudyResults

        Raises
        ------
        StudyError
            If it is not a results folder, or of another study or version: the difference is
            named.
        """
        validate.progress(progress)
        with workers_of(executor, workers) as pool:
            store = folders.opened(Path(folder), Study, study, allow_import)
            return carried_out(store, pool, progress)
