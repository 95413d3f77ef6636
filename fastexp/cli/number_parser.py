"""The options of ``median``, ``quantile`` and ``price``, and their help."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from . import arguments, grouped_parser

SHORT = {
    "median": "release the median of a column privately",
    "quantile": "release a quantile of a column privately",
    "price": "release a price of high revenue privately, from a column of bids",
}
ABOUT = {
    "median": """\
Release the median of the numbers in a column of FILE privately: a point of a public grid,
the likelier the nearer it is to the median in rank.""",
    "quantile": """\
Release a quantile of the numbers in a column of FILE privately: a point of a public grid,
the likelier the nearer it is to the quantile in rank.""",
    "price": """\
Release a price privately, from the bids in a column of FILE: one of a public grid, the
likelier the higher its revenue is, price times number of bids that are not below it.""",
}
KINDS = """
One call gives one kind of output: a private release (default), or --law, or --draws.
"""
EXAMPLES = {
    "median": """\
examples:
  fastexp median adult.csv --column age --epsilon 0.01 --bounds 0 120 --step 1
  fastexp median adult.csv --column age --epsilon 0.01 --bounds 0 120 --step 1 --law
  fastexp median wages.parquet --column wage --epsilon 0.5 --bounds 0 1e6 --plot law.png --law
  fastexp median ages.npy --epsilon 0.01 --bounds 0 120 --step 1 --draws 10000 --seed 1
""",
    "quantile": """\
examples:
  fastexp quantile adult.csv --column age --q 0.9 --epsilon 0.01 --bounds 0 120 --step 1
  fastexp quantile adult.csv --column age --q 1/3 --epsilon 0.01 --bounds 0 120 --step 1 --law
  fastexp quantile wages.npy --q 0.25 --epsilon 1 --bounds 0 1e6 --step 100 --budget my.budget
""",
    "price": """\
examples:
  fastexp price bids.csv --column bid --epsilon 1 --bounds 0 3.5 --step 0.01
  fastexp price bids.csv --column bid --epsilon 5 --bounds 0 3.5 --step 0.01 --law --plot p.png
  fastexp price bids.csv --column bid --epsilon 1 --grid 0.99,1.99,2.49,2.99
""",
}
MORE = """
--bounds, --step and --grid are public: choose them without looking at FILE. Numbers are read
exactly as they are written; where bounds and step are integers, so is the answer. A number
counts at the nearest point of the grid (49 at 50 on a grid of tens; half-way, at the first,
third, fifth ... point), a bid at the price at or below it. Where the grid is much finer than
the data, equal numbers are one point among many: so let it be as coarse as they are, ages have
--step 1, amounts of money --step 0.01.

The file: CSV with a first row of names, in UTF-8; Parquet (.parquet, .pq), by polars or
pyarrow; or a one-dimensional array (.npy, without --column). The column must hold numbers, as
12, -0.5 or 1e3; an empty cell, NA, null and nan are missing records, see --nan. Numbers outside
the bounds, also inf and -inf, count as the nearest bound. Without records every point of the
grid is equally likely.
"""
KEYS = """
keys of --json:
  all      kind, private, mechanism, {own}epsilon, neighbors, {how}nan, bounds,
           step, points (how many the grid has), grid (those of --grid, at most 10000)
  release  value
  --law    plot, truth ({truth};
           null without records), mean, sd, quantiles, expected_error and error_95 (of the
           output minus truth), expected_loss, loss_95 (against the best point of the grid);
           on at most 10000 points: rows of {{value, probability}}
  --draws  plot, draws, seed, observed and exact (mean, sd, quantiles, expected_error); on at
           most 10000 points: rows of {{value, observed, frequency, probability}}; else, of at
           most 10000 draws: values
  "private" says whether the output keeps the promise of epsilon.
"""
TRUTHS = {
    "median": "the lower median of the records",
    "quantile": "the record of rank q times their number, rounded up",
    "price": "the price of the grid with the highest revenue",
}


def add_commands(command: Callable[[str, str, str, str], argparse.ArgumentParser]) -> None:
    """Make the parsers of the three commands.

    Parameters
    ----------
    command : callable
        Makes a parser of a name, a module, a short and a long description.
    """
    for name, short in SHORT.items():
        made = command(name, "numbers", short, ABOUT[name] + KINDS)
        own = {"quantile": "q, ", "price": "scaling, promised_epsilon, "}.get(name, "")
        how = "" if name == "price" else "convention, widen, "
        keys = KEYS.format(own=own, how=how, truth=TRUTHS[name])
        made.epilog = EXAMPLES[name] + MORE + keys + grouped_parser.more(name)
        _data_options(made)
        _grid_options(made)
        _privacy_options(made, name)
        grouped_parser.add_options(made)
        _output_options(made)


def _data_options(made: argparse.ArgumentParser) -> None:
    add = made.add_argument_group("data").add_argument
    add("file", metavar="FILE", help="CSV, Parquet or .npy; - is stdin (CSV)")
    add("--column", metavar="C", help="the column that holds the numbers")
    add("--delimiter", **arguments.DELIMITER)
    add(
        "--nan",
        choices=("raise", "drop", "lower", "upper"),
        default="raise",
        help="missing records: refuse (default; outside the promise, as it depends on the data), "
        "leave out, or take as the lower or upper bound",
    )


def _grid_options(made: argparse.ArgumentParser) -> None:
    group = made.add_argument_group("the public grid of answers")
    group.add_argument(
        "--bounds",
        nargs=2,
        type=arguments.exact,
        metavar=("A", "B"),
        help="the lowest and the highest answer (with --grid: its ends, if not given)",
    )
    either = group.add_mutually_exclusive_group()
    either.add_argument(
        "--step",
        type=arguments.exact,
        metavar="S",
        help="the distance of answers; it divides B - A (default: 2^40 steps)",
    )
    either.add_argument(
        "--grid",
        metavar="LIST",
        help="the answers themselves, increasing: 0,10,50,100, or a file of numbers (text, .npy)",
    )


def _privacy_options(made: argparse.ArgumentParser, name: str) -> None:
    group = made.add_argument_group("privacy")
    arguments.add_epsilon(group)
    add = group.add_argument
    if name == "quantile":
        add(
            "--q",
            type=arguments.quantile,
            required=True,
            metavar="Q",
            help="which quantile, between 0 and 1: a decimal or a fraction, as 0.9 or 1/3",
        )
    if name == "price":
        add(
            "--scaling",
            choices=("tight", "textbook"),
            help="tight (default): all of epsilon is used; textbook: as tutorials do, which "
            "promises epsilon / 2 at the accuracy of epsilon / 2",
        )
    else:
        add(
            "--neighbors",
            choices=("add-remove", "replace"),
            help="what one person may do to the records: join or leave (default), or change theirs",
        )
        add(
            "--convention",
            choices=("weak", "lower", "upper", "strict")[: 4 if name == "median" else 2],
            help="which answers are right: at most the due share of the records on either side "
            "(weak, default), or that record of the data alone",
        )
        add(
            "--widen",
            type=arguments.exact,
            metavar="W",
            help="an answer counts as the best one within W of it: for equal records on a grid "
            "finer than the data",
        )
    add("--any-epsilon", action="store_true", help="lift the limits on epsilon, [1e-9, 1e6]")
    arguments.add_budget(add)


def _output_options(made: argparse.ArgumentParser) -> None:
    group = made.add_argument_group("output (instead of a release; not private)")
    kind = group.add_mutually_exclusive_group()
    kind.add_argument("--law", action="store_true", help="the exact law of the answer")
    kind.add_argument(
        "--draws", type=arguments.draws, metavar="N", help="N simulated draws beside the exact law"
    )
    group.add_argument(
        "--seed", type=arguments.seed, metavar="S", help="with --draws: the same draws again"
    )
    group.add_argument(
        "--plot", metavar="PNG", help="with --law or --draws: a picture (png, svg, pdf)"
    )
    made.add_argument("-q", "--quiet", action="store_true", help="no line about what was promised")
