"""The results of a study: a tidy table, in whatever form it is wanted."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from ..._compiler.rounding import check_rounding
from ...errors import ParameterError
from ..design.design import Design
from ..store import folder, machine
from ..store.writing import publish
from ..sums.totals import Totals
from .report import write_report
from .table_rows import COLUMNS, rows_of


class StudyResults:
    """The results of a study: a table with a row for each cell and figure.

    Made by `Study.run`.

    Attributes
    ----------
    study : Study
        What was studied. From `open` it is a design only, which cannot be run.
    rows : list of dict
        The table: column to value, None where there is none.
    columns : dict of str to str
        What each column holds, with its unit.

    Notes
    -----
    `exact` is the mean over data sets of the expectation over the mechanism's noise, by closed
    forms; `monte_carlo` the mean of draws on the same data sets. They differ by the noise of
    the draws alone: `z` is their difference in standard errors, and `agree` is |z| <= 5,
    which a normal `z` exceeds in fewer than one of 10**6 rows. The standard error is that of
    the law, so that a rare large error that was not drawn does not count as a disagreement,
    or that of the sample if it is greater.

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

    def __init__(self, study: Design, totals: Totals) -> None:
        check_rounding()
        self.study = study
        self.rows: list[dict[str, Any]] = rows_of(study, totals)
        self.columns = COLUMNS

    def __repr__(self) -> str:
        return f"<StudyResults of {self.study.name!r}: {len(self.rows)} rows>"

    @classmethod
    def open(cls, path: str | Path) -> StudyResults:
        """The results in a folder: of the tasks that are finished, if not all are.

        Parameters
        ----------
        path : str or Path
            What `Study.run` was given as `out`.

        Returns
        -------
        StudyResults

        Raises
        ------
        StudyError
            If it is not a results folder, or of another version.
        """
        check_rounding()
        study = folder.study_of(Path(path), Design)
        return cls(study, folder.read(Path(path), study).totals)

    def report(self, path: str | Path, formats: Sequence[str] = ("svg",)) -> list[Path]:
        """Write a page of HTML with tables and figures, and the figures as files.

        Parameters
        ----------
        path : str or Path
            The folder for report.html and the figures.
        formats : sequence of {"png", "svg", "pdf"}
            Formats of the figures, which need matplotlib.

        Returns
        -------
        list of Path
            What was written.
        """
        check_rounding()
        return write_report(self.to_dict(), path, formats)

    @property
    def agree(self) -> bool:
        """Whether exact and drawn figures agree in all rows that have both."""
        return all(row["agree"] is not False for row in self.rows)

    def to_csv(self, path: str | Path | None = None) -> str:
        """The table as CSV; numbers so that they read back the same, nothing for None.

        Parameters
        ----------
        path : str or Path, optional
            Where it is written, too.

        Returns
        -------
        str
        """
        check_rounding()
        text = io.StringIO(newline="")
        writer = csv.DictWriter(text, list(COLUMNS), lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows)
        return _written(text.getvalue(), path)

    def to_json(self, path: str | Path | None = None) -> str:
        """The table with its columns' meaning, the study, its key and versions, as JSON.

        Parameters
        ----------
        path : str or Path, optional
            Where it is written, too.
        """
        check_rounding()
        return _written(json.dumps(self.to_dict(), indent=1) + "\n", path)

    def to_dict(self) -> dict[str, Any]:
        """What `to_json` writes, as a dict."""
        return {
            "study": self.study.to_dict(),
            "key": self.study.key,
            "versions": machine.versions(),
            "agree": self.agree,
            "columns": COLUMNS,
            "rows": self.rows,
        }

    def to_polars(self) -> Any:
        """The table as a Polars frame.

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
        """The table as a pandas frame.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        ParameterError
            If pandas is not installed.
        """
        return _module("pandas").DataFrame(self.rows, columns=list(COLUMNS))

    def to_parquet(self, path: str | Path) -> None:
        """Write the table as Parquet, by Polars.

        Parameters
        ----------
        path : str or Path
            Where to.

        Raises
        ------
        ParameterError
            If Polars is not installed.
        """
        self.to_polars().write_parquet(path)

    def publish(self, path: Path) -> None:
        """Write table.csv and table.json into a results folder, whole or not at all.

        Parameters
        ----------
        path : Path
            The folder.
        """
        publish(path / "table.csv", self.to_csv().encode())
        publish(path / "table.json", self.to_json().encode())


def _written(text: str, path: str | Path | None) -> str:
    if path is not None:
        Path(path).write_bytes(text.encode())
    return text


def _module(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise ParameterError(f"this needs {name}: pip install {name}") from None
