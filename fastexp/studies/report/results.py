"""The results of a study: a tidy table, and its conversion to other forms."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ..._compiler.rounding import check_rounding
from ..._parameters import validate
from ..._parameters.text import readable
from ...errors import ParameterError, StudyError
from ...pictures.cards import Card, HtmlRepr
from ..design.design import Cell, Design
from ..store import folder, machine
from ..sums.totals import Figure, Totals, edges_of, quantile, root
from .report import draw_figure, heading, takes, write_report
from .study_table import (
    COLUMNS,
    Row,
    StudyRows,
    StudyTable,
    csv_text,
    distinct,
    json_text,
    parts,
    pivots,
)

Z95 = 1.959963984540054  # standard deviations to either end of a 95 % interval
MAX_Z = 5.0  # standard errors by which exact figures and draws may differ


def rows_of(study: Design, totals: Totals) -> list[Row]:
    """Return the table: a row for each cell and figure (and level), in the study's order."""
    rows = []
    for cell, figures in zip(study.cells, totals.figures, strict=True):
        count = totals.rows[cell.scenario]
        for name, figure in figures.items():
            kind, _, level = name.partition(" ")
            by_level: list[tuple[float | None, Row]]
            if figure.bins:
                by_level = [(p, _quantile(cell, kind, figure, p)) for p in cell.levels]
            else:
                p = float(level) if level else None
                rounding = cell.subject.rounding(kind)
                by_level = [(p, _average(figure, count, study.draws, rounding))]
            rows += [_row(cell, kind, p, count, study.draws, values) for p, values in by_level]
    return rows


def _row(cell: Cell, figure: str, level: float | None, count: int, draws: int, values: Row) -> Row:
    row: Row = {name: getattr(cell, name) for name in ("data", "n", "mechanism", "epsilon")}
    promise = cell.subject.mechanism.guarantee
    if promise is not None:
        row |= {"promised_epsilon": promise.epsilon, "delta": float(promise.delta)}
        row |= {"rho": promise.rho, "neighbors": promise.neighbors}
    row |= {"figure": figure, "level": level, "datasets": count, "draws": draws, **values}
    return {column: row.get(column) for column in COLUMNS}


def _average(figure: Figure, count: int, draws: int, rounding: float) -> Row:
    row: Row = {}
    if "exact" in figure.moments:
        exact = figure.moments["exact"]
        row = {"exact": exact.mean, "exact_sd": exact.deviation}
        if exact.deviation is not None:
            row["exact_se"] = exact.deviation / math.sqrt(count)
    if "drawn" in figure.moments:
        means = figure.moments["drawn"]
        row |= {"monte_carlo": means.mean, "monte_carlo_sd": means.deviation}
        if draws > 1 or "law" in figure.sums:
            row |= _noise(figure, means.mean, count, draws, rounding)
    return row


def _noise(figure: Figure, drawn: float, count: int, draws: int, rounding: float) -> Row:
    variances = [figure.sums[name] for name in ("sample", "law") if name in figure.sums]
    error = root(max(variances) / draws) / count
    row: Row = {"low": drawn - Z95 * error, "high": drawn + Z95 * error}
    if "difference" in figure.sums:
        difference = float(figure.sums["difference"] / count)
        step, least = figure.most / (count * draws), 1e-12 * abs(drawn) + rounding
        row |= _verdict(difference, error, step, least)
    return row


def _verdict(difference: float, error: float, step: float, least: float) -> Row:
    """Return z, and whether it is small. Differences up to `least` may be rounding errors.

    If the law's variance is not known, one draw can move the mean by up to `step`: so
    |difference| / step draws that did not occur explain the difference, and the variance of their
    number is that number.
    """
    if abs(difference) <= least:
        return {"z": 0.0, "agree": True}
    variance = error * error + abs(difference) * step
    z = difference / math.sqrt(variance) if variance > 0 else math.copysign(math.inf, difference)
    return {"z": z, "agree": abs(z) <= MAX_Z}


def _quantile(cell: Cell, kind: str, figure: Figure, p: float) -> Row:
    edges = edges_of(cell, kind)
    row: Row = {}
    resolution = cell.subject.resolution(kind, cell.n, cell.whole)
    sums = {name: np.cumsum(bins).astype(np.float64) for name, bins in figure.bins.items()}
    if "exact" in sums:
        row["exact"] = quantile(sums["exact"], edges, p, resolution)
    if "drawn" not in sums:
        return row
    total = float(sums["drawn"][-1])
    share = sums["drawn"] / total
    row["monte_carlo"] = quantile(share, edges, p, resolution)
    # Upper bounds of variances: those of draws that are independent of their data sets.
    spread = Z95 * math.sqrt(p * (1.0 - p) / total)
    row["low"] = quantile(share, edges, max(0.0, p - spread), resolution, 0.0)
    row["high"] = quantile(share, edges, min(1.0, p + spread), resolution, 1.0)
    if "exact" in sums:
        law = sums["exact"] / sums["exact"][-1]
        at = min(int(np.searchsorted(law, p, "left")), edges.size - 1)
        error = math.sqrt(float(law[at] * (1.0 - law[at])) / total)
        above_rounding = edges[at] > cell.subject.rounding(kind)
        difference = float(share[at] - law[at]) if above_rounding else 0.0
        row |= _verdict(difference, error, 0.0 if error > 0 else 1.0 / total, 1e-8)
    return row


class StudyResults(HtmlRepr):
    """The results of a study, made by `Study.run`: a table with a row for each cell and figure.

    Attributes
    ----------
    study : Study
        The study. From `open` it has only the settings, and cannot be run.
    rows : list of dict
        The table. Each row is a dict from column to value; None if there is no value.
    columns : dict of str to str
        The meaning of each column, with its unit.
    finished : int
        The number of tasks in the table: `study.tasks` unless the folder is unfinished.

    Notes
    -----
    `exact` is the mean over data sets of the expectation over the noise of the mechanism, by closed
    forms. `monte_carlo` is the mean of draws on the same data sets. They differ only by the noise
    of the draws: `z` is their difference in standard errors, and `agree` is |z| <= 5, which fails
    for a normal `z` in fewer than one of 10**6 rows. The standard error is the larger of that of
    the law and that of the sample. A rare large error that was not drawn is therefore not a
    disagreement.

    Examples
    --------
    >>> import fastexp as fx
    >>> results = fx.Study(
    ...     name="one", mechanisms=["median"], epsilon=1.0, n=100, bounds=(-10, 10), datasets=20
    ... ).run()
    >>> len(results.rows), results.agree
    (1, True)
    >>> results.to_csv()[:24]
    'data,n,mechanism,epsilon'
    """

    def __init__(self, study: Design, totals: Totals, finished: int | None = None) -> None:
        check_rounding()
        self.study = study
        self.finished: int = study.tasks if finished is None else finished
        self.rows: list[dict[str, Any]] = rows_of(study, totals)
        self.columns = COLUMNS

    def __repr__(self) -> str:
        return f"<StudyResults of {self.study.name!r}: {', '.join(self._facts().values())}>"

    def _facts(self) -> dict[str, str]:
        """Return the size of the table; `table` shows the figures."""
        tasks = f"{readable(self.finished)} of {readable(self.study.tasks)}"
        agree = {True: "agree", False: "disagree", None: ""}[self.agree]
        return {
            "rows": f"{readable(len(self.rows))} row{'s' if len(self.rows) != 1 else ''}",
            **({"tasks": f"{tasks} tasks"} if self.finished < self.study.tasks else {}),
            **({"check": f"exact figures and draws {agree}"} if agree else {}),
        }

    def _card(self) -> Card:
        figures = ", ".join(self.study.figure_names)
        facts = [("question", self.study.question or None), ("figures", figures)]
        return Card(f"StudyResults of {self.study.name!r}", [*facts, *self._facts().items()])

    @classmethod
    def open(cls, path: str | Path) -> StudyResults:
        """Return the results in a folder, of the tasks that are finished.

        Parameters
        ----------
        path : str or Path
            The folder that `Study.run` was given as `out`.

        Returns
        -------
        StudyResults

        Raises
        ------
        StudyError
            If it is not a results folder, or one of another version.
        """
        check_rounding()
        study = folder.study_of(Path(path), Design)
        progress = folder.read(Path(path), study)
        return cls(study, progress.totals, progress.finished)

    def table(self, figure: str | None = None) -> StudyTable:
        """Return a readable table of one figure: rows for data, n and ε, columns for mechanisms.

        Numbers are exact if there is an exact figure, otherwise means of draws.

        Parameters
        ----------
        figure : str, optional
            One of the figures of the study. Default: the first.

        Returns
        -------
        StudyTable
            `print` shows it in the width of the terminal.

        Raises
        ------
        ParameterError
            If the results have no such figure.
        StudyError
            If no task is finished.

        Examples
        --------
        >>> import fastexp as fx
        >>> kinds = ["median", {"name": "smooth-sensitivity-median", "noise": "cauchy"}]
        >>> results = fx.Study(
        ...     name="two", mechanisms=kinds, epsilon=[0.5, 1.0], bounds=(-10, 10), datasets=20
        ... ).run()
        >>> print(results.table())
        Expected error (units of the records): normal, n = 1,000
        <BLANKLINE>
        epsilon   median  smooth-sensitivity-median noise=cauchy
            0.5  0.00567                                   0.624
              1  0.00279                                   0.226
        <BLANKLINE>
        Guarantees differ: neighbors add-remove (median), neighbors replace
        (smooth-sensitivity-median noise=cauchy).
        """
        return pivots(self._rows_of(figure), takes(self.study.to_dict()))[0]

    def plot(self, figure: str | None = None, ax: Any = None) -> Any:
        """Draw one figure over ε (or n): exact figures as lines, draws with 95 % intervals.

        Parameters
        ----------
        figure : str, optional
            One of the figures of the study. Default: the first.
        ax : matplotlib.axes.Axes, or an array of them, optional
            The axes to draw in, one for each kind and size of data sets. Default: a new picture
            with a heading.

        Returns
        -------
        matplotlib.figure.Figure
            A panel for each kind and size of data sets, and each level, is in ``axes``;
            ``savefig`` saves the picture. If a figure has two units (records and utilities), only
            the first is drawn; `report` has both.

        Raises
        ------
        ParameterError
            If the results have no such figure, the number of axes is not that of panels, or
            matplotlib is not installed.
        StudyError
            If no task is finished.
        """
        study = self.study.to_dict()
        return draw_figure(parts(self._rows_of(figure), takes(study))[0], *heading(study), ax)

    def _rows_of(self, figure: str | None) -> StudyRows:
        """Return the rows of a figure, by default the first."""
        names = distinct(self.rows, "figure")
        if not names:
            raise StudyError("no task is finished: there are no figures yet")
        name = names[0] if figure is None else validate.choice("figure", figure, tuple(names))
        return [row for row in self.rows if row["figure"] == name]

    def report(self, path: str | Path, formats: Sequence[str] = ("svg",)) -> list[Path]:
        """Write an HTML page with tables and figures, and the figures as files.

        Parameters
        ----------
        path : str or Path
            The folder for report.html and the figures.
        formats : sequence of {"png", "svg", "pdf"}
            Formats of the figures, which need matplotlib.

        Returns
        -------
        list of Path
            The files that were written.
        """
        check_rounding()
        return write_report(self.to_dict(), path, formats)

    @property
    def agree(self) -> bool | None:
        """Whether exact and drawn figures agree in all rows that have both; None without any."""
        compared = [row["agree"] for row in self.rows if row["agree"] is not None]
        return all(compared) if compared else None

    def to_csv(self, path: str | Path | None = None) -> str:
        """Return the table as CSV: numbers that are read back unchanged, and nothing for None.

        Parameters
        ----------
        path : str or Path, optional
            A file to which it is also written.

        Returns
        -------
        str
        """
        check_rounding()
        return _written(csv_text(self.rows), path)

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the table, the meaning of its columns, the study, its key and versions as JSON.

        Parameters
        ----------
        path : str or Path, optional
            A file to which it is also written.
        """
        check_rounding()
        return _written(json_text(self.to_dict()), path)

    def to_dict(self) -> dict[str, Any]:
        """Return the content of `to_json` as a dict."""
        return {
            "study": self.study.to_dict(),
            "key": self.study.key,
            "versions": machine.versions(),
            "tasks": self.study.tasks,
            "finished": self.finished,
            "agree": self.agree,
            "columns": COLUMNS,
            "rows": self.rows,
        }

    def to_polars(self) -> Any:
        """Return the table as a Polars frame.

        Returns
        -------
        polars.DataFrame

        Raises
        ------
        ParameterError
            If Polars is not installed.
        """
        return _module("polars").DataFrame(self.rows, infer_schema_length=None)

    def to_pandas(self) -> Any:
        """Return the table as a pandas frame.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        ParameterError
            If pandas is not installed.
        """
        return _module("pandas").DataFrame(self.rows, columns=list(COLUMNS))

    def to_arrow(self) -> Any:
        """Return the table as an Arrow table.

        Returns
        -------
        pyarrow.Table

        Raises
        ------
        ParameterError
            If pyarrow is not installed.
        """
        return _module("pyarrow").Table.from_pylist(self.rows)

    def publish(self, path: Path) -> None:
        """Write table.csv and table.json into a results folder, each completely or not at all.

        Parameters
        ----------
        path : Path
            The folder.
        """
        folder.publish(path / "table.csv", self.to_csv().encode())
        folder.publish(path / "table.json", self.to_json().encode())


def table_of(path: Path) -> dict[str, Any]:
    """Return the dict of `StudyResults.to_dict` for a results folder.

    For a finished study it is read from the folder. The study's files of data need not exist then,
    and its version of fastexp may be another.
    """
    if not (path / folder.STUDY).is_file():
        raise StudyError(f"{path} is not the results folder of a study")
    try:
        content = dict(json.loads((path / "table.json").read_bytes()))
        if {"rows", "study"} <= set(content) and "name" in content["study"]:
            return content
    except FileNotFoundError:
        return StudyResults.open(path).to_dict()
    except (OSError, ValueError, TypeError):
        pass
    raise StudyError(f"{path / 'table.json'} cannot be read, or is damaged")


def _written(text: str, path: str | Path | None) -> str:
    if path is not None:
        Path(path).write_bytes(text.encode())
    return text


def _module(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        form = name.removeprefix("py")
        raise ParameterError(f"to_{form} needs {name}: pip install {name}") from None
