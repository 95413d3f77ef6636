"""The demo's chapters on private numbers: a median age, and a price for four bidders."""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Any

from . import output, reading

if TYPE_CHECKING:
    from .._typing import IntArray

OLDEST = 120
BIDS = (1, 1, 1, 3.01)
HIGHEST, TICK = 3.5, 0.001
PRICED = (0.01, 1.0, 5.0, 50.0)
MEDIAN = """
What is their median age?

A private median is a point of a public grid, here 0, 1, ..., {oldest}, the likelier the fewer
people would have to join or leave to make it the median. Bounds taken from the file would tell
how old its youngest and oldest person are, whatever epsilon is: they are chosen unseen.
"""
PRICE = """
At which price does one sell most to four people who bid 1, 1, 1 and 3.01?

At 1 all four buy, a revenue of 4.00. At 3.01 one does: 3.01. At 1.01 it is 1.01, and at 3.02
nothing: adding noise to the best price would ruin it. A price of 0, 0.001, ..., 3.5 is drawn,
the likelier the higher its revenue. Among so few only a large epsilon comes near 4.00.
"""


def ages() -> tuple[IntArray, IntArray]:
    """The ages in the census file, and how many people have each."""
    import numpy as np

    with as_file(files("fastexp") / "data" / "ages.csv") as path:
        counts = reading.pairs(str(path))
    return np.array([int(a) for a in counts.candidates]), np.array(counts.utilities, np.int64)


def medians(epsilons: tuple[float, ...]) -> list[dict[str, Any]]:
    """A released median age at each epsilon, with its expected error.

    Parameters
    ----------
    epsilons : tuple of float
        In nats.

    Returns
    -------
    list of dict
    """
    from .. import Median

    values, counts = ages()
    true = int(values[(2 * counts.cumsum() >= counts.sum()).argmax()])
    found = []
    for epsilon in epsilons:
        mechanism = Median(epsilon, (0, OLDEST), step=1)
        error = mechanism.law((values, counts)).expected_error(true)
        released = mechanism.release((values, counts))
        found.append({"epsilon": epsilon, "released": released, "expected_error": error})
    return found


def prices() -> list[dict[str, Any]]:
    """A released price at each epsilon, with the revenue that is to be expected."""
    from .. import Price

    found = []
    for epsilon in PRICED:
        mechanism = Price(epsilon, (0, HIGHEST), step=TICK)
        revenue = mechanism.law(list(BIDS)).expected_utility()
        released = mechanism.release(list(BIDS))
        found.append({"epsilon": epsilon, "released": released, "expected_revenue": revenue})
    return found


def tell_medians(aged: list[dict[str, Any]]) -> None:
    """Print the chapter on ages."""
    print(MEDIAN.format(oldest=OLDEST))
    rows = [
        (str(s["released"]), f"{s['epsilon']:g}", f"{s['expected_error']:.2f} years") for s in aged
    ]
    output.table(("median age", "at epsilon", "expected error (not private)"), rows)


def tell_prices(priced: list[dict[str, Any]]) -> None:
    """Print the chapter on prices."""
    print(PRICE)
    rows = [
        (str(s["released"]), f"{s['epsilon']:g}", f"{s['expected_revenue']:.2f}") for s in priced
    ]
    output.table(("price", "at epsilon", "expected revenue (not private)"), rows)
