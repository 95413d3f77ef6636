"""What a study found: a table of averages over data sets, and a picture."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from ..types import Floats
from .tasks import Finished, at, tasks_of

AGREE = 5.0  # standard errors


class StudyResults:
    """The results of a study.

    Attributes
    ----------
    rows : list of dict
        One for each combination of data, n, mechanism, epsilon and measure. `exact` and `exact_sd`
        are the average of the exact figures and their standard deviation over data sets, `drawn`
        and `drawn_sd` those of draws' averages; NaN where there are none. `se` is the standard
        error of `drawn` given the data sets, the greater one of the law's and the draws' own, as
        rare events that were not drawn are no disagreement; `z` how many of these it is off, NaN if
        nothing is compared or no draw differs. `neighbors`, `delta` and `rho` are of the promise.
    figures : list of ndarray of float64, shape (4, datasets)
        For each row by data set: exact, average of draws, its variance by draws, and by the law.
    """

    def __init__(self, study: Any, finished: Finished) -> None:
        self.study = study
        self.rows: list[dict[str, Any]] = []
        self.figures: list[Floats] = []
        cells = list(product(study.mechanisms, study.epsilon, study.measures))
        for (number, label), n in product(enumerate(study.data), study.n):
            blocks = [finished[task] for task in tasks_of(study) if task[:2] == (number, n)]
            for cell, figures in zip(cells, np.concatenate(blocks, axis=2), strict=True):
                self.figures.append(figures)
                row = {"data": label, "n": n} | _names(study, cell) | _averages(figures)
                self.rows.append(row)

    @property
    def agree(self) -> bool:
        """Whether exact figures and draws are within five standard errors in rows with a `z`."""
        return not any(abs(row["z"]) > AGREE for row in self.rows)

    def to_pandas(self) -> Any:
        """Return the rows as a data frame of pandas."""
        import pandas as pd

        return pd.DataFrame(self.rows)

    def plot(self) -> Any:
        """Return a matplotlib figure: exact figures as lines, draws with intervals of two errors.

        There is a panel for each combination of data, n and measure.
        """
        import matplotlib.pyplot as plt

        panels = list(self.to_pandas().groupby(["data", "n", "measure"], sort=False))
        width = 4.5 * len(panels)
        figure, (axes,) = plt.subplots(
            1, len(panels), squeeze=False, figsize=(width, 4), layout="constrained"
        )
        for axis, (names, panel) in zip(axes, panels, strict=True):
            for label, line in panel.groupby("mechanism", sort=False):
                (curve,) = axis.plot(line.epsilon, line.exact, label=label)
                axis.errorbar(
                    line.epsilon, line.drawn, 2 * line.se, fmt="o", color=curve.get_color()
                )
            axis.set(xscale="log", xlabel="ε", ylabel=names[2], title=f"{names[0]}, n = {names[1]}")
            axis.set_yscale("log" if (panel.exact > 0).all() else "linear")
        axes[0].legend()
        return figure


def _names(study: Any, cell: tuple[str, Any, str]) -> dict[str, Any]:
    """Return a row's names, its promise and the printed figures."""
    mechanism, epsilon, measure = cell
    row: dict[str, Any] = {"mechanism": mechanism, "epsilon": epsilon, "measure": measure}
    promise = getattr(at(study, mechanism, epsilon), "guarantee", None)
    row |= {name: getattr(promise, name, None) for name in ("neighbors", "delta", "rho")}
    if study.printed:
        row["printed"], row["printed_sd"] = study.printed.get((mechanism, epsilon), (None, None))
    return row


def _averages(figures: Floats) -> dict[str, float]:
    """Return averages over data sets, their spread, and how far draws are from exact figures."""
    (exact, drawn, *variances), count = figures, figures.shape[1]
    off = drawn - exact
    errors = [one.sum() / count**2 for one in variances if np.isfinite(one).all()]
    se, mean = float(np.sqrt(max(errors, default=np.nan))), float(off.mean())
    is_off = abs(mean) > 1e-12 * np.abs(drawn).mean()  # else it is rounding; False for NaN
    row = {"se": se, "z": mean / (se or np.nan) if is_off else abs(mean) * 0.0}
    for name, one in {"exact": exact, "drawn": drawn}.items():
        row[name] = float(one.mean())
        row[name + "_sd"] = float(one.std(ddof=1)) if count > 1 else np.nan
    return row
