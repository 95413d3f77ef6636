"""`Study`: an accuracy study, its settings and how it is run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .._compiler.rounding import check_rounding
from .._parameters import validate
from .design.design import Design
from .ready.ready import settings_of
from .report.results import StudyResults
from .run.executors import Report, run_to_end, workers_of
from .store import folder as folders


class Study(Design):
    """An accuracy study: the errors of several mechanisms on many data sets.

    A study holds settings, and no results. For each combination of data, n, mechanism and epsilon
    (a cell), `run` computes the exact expectation of the error over the noise of the mechanism
    for each data set, averages it over data sets, and estimates the same average from draws.

    Parameters
    ----------
    name : str
        Letters, digits, ``-`` and ``_``.
    mechanisms : sequence of (str, dict, mechanism or StudyMechanism)
        The mechanisms to compare: mechanisms with their own bounds, such as
        ``fx.Median(epsilon=1, bounds=(0, 120), step=1)``, whose epsilon the study replaces; objects
        of your own (see `StudyMechanism`); names, such as ``"median"``; or dicts with a ``name``,
        an optional ``label`` and the parameters of the mechanism, such as
        ``{"name": "median", "neighbors": "replace"}``. To give a mechanism a label, write
        ``{"mechanism": fx.Median(...), "label": ...}``; for an object of your own,
        ``{"subject": ...}``.
    epsilon : float or sequence of float
        The epsilons to compare, in nats.
    data : str, dict, callable, array_like of numbers, path or sequence of them
        The sources of data sets: a generator, such as ``"normal"``, or with parameters
        ``{"name": "normal", "sd": 2.0}``; a function ``f(rng, n)`` that returns n numbers, or
        ``{"function": f, "shape": 2.0}``, called with ``shape=2.0`` (with ``"takes": "utilities"``
        these are utilities of n candidates); a file of any kind that `Query` reads, or a frame,
        from which records are drawn with replacement, such as
        ``{"file": "ages.csv", "column": "age"}`` or ``{"frame": df, "column": "age"}``; or numbers,
        which are the same in every data set. A list for a parameter, such as
        ``{"name": "normal", "sd": [1, 2]}``, makes a source for each value. ``"n"`` and
        ``"bounds"`` in a dict replace those of the study.
    n : int or sequence of int
        The number of records in a data set (of candidates, if the data are utilities).
    bounds : (number, number), optional
        Public limits of records and answers, needed by mechanisms for numbers. Records are
        clamped to them, and the truth is that of the clamped records. Utilities are not clamped.
    datasets : int
        The number of data sets in a cell.
    draws : int
        The number of draws of each mechanism for each data set; 0: exact figures only.
    figures : sequence of (str, callable or dict)
        Some of ``error``, ``bias``, ``loss``, ``error_quantile``, ``loss_quantile``, ``theorem_1``,
        ``theorem_6``, ``corollary_7``; for top-k ``total_loss`` and ``last_loss``; for many
        quantiles ``rank_error``, ``wrong``, ``worst_error`` and ``worst_rank_error``. Each
        mechanism gives those that it has. Functions ``f(answers, truth)`` of your own, also as
        ``{"name": f}``, return a number for each of the answers on a data set; they are averaged
        over draws only.
    levels : sequence of float
        The levels of quantiles, in (0, 1); for theorems, one minus the failure probability.
    seed : int
        The key of all data sets and draws, in [0, 2**64).
    block : int, optional
        The number of data sets in a task. Default: as many as make about 2**20 records of the
        largest n, or 2**20 draws, but at most 4096. Another block gives other data sets, except
        those of functions.
    question : str
        The question that the study answers, for its report.
    version : str
        The version of your functions and objects. If it is given, the key of the study contains
        it instead of digests of their source, defaults and values.

    Raises
    ------
    ParameterError
        If a setting is wrong. The message lists all errors.
    TypeError
        If a setting is missing, or there is none of this name.

    Notes
    -----
    A task (a block of data sets) is a pure function of the study and the number of the task, and
    sums of tasks are exact. The table therefore has the same bytes for any executor, number of
    workers, order and number of retries, with the same versions of NumPy and fastexp and the same
    kind of CPU (between some CPUs, logarithms of NumPy differ in the last bit). Memory does not
    grow with the number of data sets.

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
        """Return a study that comes with fastexp, with some settings changed.

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
        ParameterError
            If there is no such study, or a setting is wrong.
        TypeError
            If there is no setting of a name in `changes`.
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
            Where tasks run: None means threads (kernels release the GIL), and "dask" starts
            processes of Dask on this machine. Or any `concurrent.futures.Executor`, or a
            ``Client`` of `dask.distributed`. A script that starts processes needs
            ``if __name__ == "__main__":`` around its code.
        workers : int
            For a named executor, the number of workers; 0: one for each CPU that the process may
            use. For another executor, the number of tasks that it runs at a time, if the executor
            does not tell it (such as Ray and MPI). Workers beyond the number of tasks (see
            ``block``) are idle.
        out : str or Path, optional
            A new or empty folder for results. Each finished task is saved there at once, and
            `resume` continues from it if the run stops for any reason.
        progress : callable, optional
            Called with (finished tasks, all tasks) after each task.

        Returns
        -------
        StudyResults

        Raises
        ------
        ParameterError, ParameterTypeError
            If an argument is wrong, or the folder is not empty.
        StudyError
            If a task fails, or its worker dies. Finished tasks stay in `out`, even after Ctrl-C: a
            note on the exception says how to continue.
        """
        check_rounding()
        validate.progress(progress)
        with workers_of(executor, workers) as pool:
            pool.check(self)
            store = folders.Progress(self) if out is None else folders.create(Path(out), self)
            return run_to_end(store, pool, progress)

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
            The folder that `run` was given as `out`.
        executor, workers, progress
            As for `run`; they need not be the same as before.
        study : Study, optional
            The expected study of the folder. It is needed if the study has functions or objects of
            your own that cannot be imported.
        allow_import : bool
            Whether to import modules that the folder names for them, which runs their code.

        Returns
        -------
        StudyResults

        Raises
        ------
        StudyError
            If it is not a results folder, or one of another study or version. The message names
            the difference.
        """
        validate.progress(progress)
        with workers_of(executor, workers) as pool:
            store = folders.opened(Path(folder), Study, study, allow_import)
            return run_to_end(store, pool, progress)
