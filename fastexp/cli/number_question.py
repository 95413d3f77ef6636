"""Options of ``median``, ``quantile`` and ``price`` to a mechanism and the records."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import dataclass
from typing import Any

from .budget import check_budget
from .columns import is_npy, records
from .errors import UserMistake
from .files import name, opened
from .options.values import written

WHY_PUBLIC = """\
--bounds is needed: the lowest and the highest answer, chosen without looking at FILE
why:   bounds taken from the data show its extremes, the records of two persons, whatever
       epsilon is
do:    take them from what the numbers mean, as in --bounds 0 120 --step 1 for ages; records
       outside count as the nearest bound, so that wide bounds do little harm
else:  --grid lists the answers themselves"""
MOST_GRID = 1 << 26  # bytes of a file of grid points


@dataclass(frozen=True, slots=True)
class Question:
    """A mechanism, the records that it is asked about, and how both are called."""

    name: str
    mechanism: Any
    data: Any
    nan: str
    column: str

    @property
    def q(self) -> Any:
        """Which quantile the answer is; None for a price."""
        return None if self.name == "price" else getattr(self.mechanism, "q", 0.5)


def check(options: Namespace) -> None:
    """Refuse options that do not go together.

    Parameters
    ----------
    options : Namespace
        Of one of the three commands.

    Raises
    ------
    UserMistake
    """
    if options.seed is not None and options.draws is None:
        raise UserMistake("--seed belongs to --draws")
    shown = options.law or options.draws is not None
    if options.plot is not None and not shown:
        raise UserMistake("--plot belongs to --law or --draws: a release is one number")
    check_budget(options)
    if options.nan == "drop" and getattr(options, "neighbors", None) == "replace":
        raise UserMistake(
            "--nan drop does not go with --neighbors replace, under which nobody can leave: take "
            "missing records as a bound, --nan lower or upper"
        )
    if is_npy(options.file):
        if options.column is not None:
            raise UserMistake("--column does not go with .npy, which holds one array")
    elif options.column is None:
        raise UserMistake("--column is needed: the column of FILE that holds the numbers")
    if options.bounds is None and options.grid is None:
        raise UserMistake(WHY_PUBLIC)


def mechanism(options: Namespace, which: str) -> Any:
    """The mechanism of a command, from public parameters alone.

    Parameters
    ----------
    options : Namespace
        Of the command.
    which : {"median", "quantile", "price"}

    Returns
    -------
    Median, Quantile or Price

    Raises
    ------
    UserMistake, ParameterError, ParameterTypeError
        If a parameter is not allowed.
    """
    import fastexp as fx

    points = None if options.grid is None else _points(options.grid)
    bounds = options.bounds if options.bounds is not None else _ends(points)
    how = {"step": options.step, "grid": points, "any_epsilon": options.any_epsilon}
    if which == "price":
        return fx.Price(options.epsilon, tuple(bounds), scaling=options.scaling or "tight", **how)
    for option in ("neighbors", "convention", "widen"):
        if getattr(options, option) is not None:
            how[option] = getattr(options, option)
    if which == "median":
        return fx.Median(options.epsilon, tuple(bounds), **how)
    return fx.Quantile(options.q, options.epsilon, tuple(bounds), **how)


def ask(options: Namespace, which: str, made: Any) -> Question:
    """Read the file, for a mechanism that is made already."""
    data = records(options.file, options.column, options.delimiter)
    return Question(which, made, data, options.nan, options.column or "value")


def _points(text: str) -> Any:
    """The points of ``--grid``: a list, or a file of numbers."""
    import numpy as np

    listed = [written(part) for part in text.split(",")]
    if None not in listed:
        return [float(x) if not isinstance(x, int) else x for x in listed]
    if listed[0] is not None:
        raise UserMistake("--grid must hold numbers only, separated by commas, or name a file")
    if is_npy(text):
        return np.array(records(text, None))
    with opened(text) as raw:
        content = raw.read(MOST_GRID)
    try:
        listed = [written(part) for part in content.decode().replace(",", " ").split()]
    except UnicodeDecodeError:
        listed = []
    if not listed or None in listed:
        raise UserMistake(
            f"--grid {name(text)} must hold numbers only, separated by commas, blanks or lines"
        )
    return [float(x) if not isinstance(x, int) else x for x in listed]


def _ends(points: Any) -> tuple[Any, Any]:
    """Bounds of a grid that is given without them."""
    low, high = min(points, default=0), max(points, default=0)
    return (low, high) if low < high else (0, 1)  # too few points: refused as such
