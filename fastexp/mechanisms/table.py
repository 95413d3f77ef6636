"""The table of mechanisms, a row each, for the command line, files, sessions and studies.

It is all text and imports no mechanism, so that help comes at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, NamedTuple

GRID = ("bounds", "step", "grid")
RANKS = (*GRID, "neighbors", "convention", "widen")
MANY = ("q", "count", *GRID, "neighbors")
CHOICE = ("sensitivity", "monotonic")
TOTAL = """
--with-total  also release a private number of records, which costs no epsilon"""
ERRS = " but makes the answer less accurate"
RANKED = (
    "Release {} of the numbers in a column privately. The answer is a point of a public grid; "
    "points closer in rank to the true answer are more likely."
)


class Row(NamedTuple):
    """One mechanism. Its key in `TABLE` is its word on the command line and in files."""

    at: str  # the module in this folder, and the class
    sentence: str  # what the mechanism does
    parameters: tuple[str, ...] = ()  # parameters that a study may set, in the order of labels
    study: str = ""  # the mechanism's kind in a study; "": studies do not have it
    about: str = ""  # its name in a study's list; default: the class
    preset: Mapping[str, Any] = {}  # parameters that a study sets if its file does not
    grouped: bool = False  # whether queries, sessions and publications may ask for it
    compared: bool = False  # whether ``fastexp compare`` and ``epsilon`` may ask for it
    has_law: bool = True
    # If the mechanism has a command of its own:
    answer: str = ""  # the answer in words, as "the median"; "": there is no command
    needs: tuple[str, str] = ("", "")  # a required option, and an example of it
    examples: tuple[str, ...] = ()  # without the program's name; default: for ages and rents
    public: str = ""  # its own options that choose the answer, as in `option_table.py`
    privacy: str = ""  # its own other options
    # If ``fastexp select`` has it:
    selects: str = ""  # the help of --mechanism; "": the command does not have it
    counts: str = ""  # the word of its mechanism for records; "": it takes only utilities

    @property
    def name(self) -> str:
        """The name of the class."""
        return self.at.partition(".")[2]

    @property
    def kind(self) -> Any:
        """The class, which is imported at first use."""
        module, _, name = self.at.partition(".")
        return getattr(import_module(f".{module}", __package__), name)


TABLE: dict[str, Row] = {
    "median": Row(
        "median.Median",
        RANKED.format("the median"),
        (*RANKS, "truth"),
        "ranks",
        grouped=True,
        compared=True,
        answer="the median",
        privacy="""
--convention weak|lower|upper|strict  what counts as the median if the number of records is even:
    any value between the two middle records (weak, default), the lower one, the upper one, or only
    a value that is both (strict)"""
        + TOTAL
        + ERRS,
    ),
    "quantile": Row(
        "quantile.Quantile",
        RANKED.format("a quantile"),
        ("q", *RANKS),
        "ranks",
        "Quantile; q",
        {"truth": "lower"},
        grouped=True,
        compared=True,
        answer="a quantile",
        needs=("--q Q ", " --q 0.9"),
        public="--q Q <quantile needed>  the quantile, a decimal or a fraction, such as 0.9 or 1/3",
        privacy="""
--convention weak|lower  what counts as the quantile: any value with at most a share q of the
    records below it and 1 - q above it (weak, default), or only the record of rank q * n, rounded
    up"""
        + TOTAL
        + ERRS,
    ),
    "quantiles": Row(
        "quantiles.Quantiles",
        "Release several quantiles of a column privately, in order and in one draw.",
        MANY,
        "quantiles",
        "Quantiles; q or count",
        grouped=True,
        compared=True,
        answer="several quantiles",
        needs=("--count N ", " --count 9"),
        public="""
--q LIST <quantiles lists=numbers either=which!>  the quantiles, increasing, such as 0.1,0.5,0.9 or
    1/3,2/3
--count N <1..100 either=which!>  instead: how many evenly spaced ones (9: the deciles)"""
        + TOTAL,
    ),
    "joint-exponential-quantiles": Row(
        "joint_exponential.JointExponentialQuantiles",
        "Simulate the joint quantiles of 2021, whose targets are shares of the number of records.",
        ("q", "count", *GRID, "ties"),
        "quantiles",
        "JointExponentialQuantiles; q or count",
    ),
    "approximate-quantiles": Row(
        "approximate_quantiles.ApproximateQuantiles",
        "Release several quantiles of a column privately: the middle one, then those on each side.",
        MANY,
        "quantiles",
        "ApproximateQuantiles; q or count",
        grouped=True,
        compared=True,
        has_law=False,
    ),
    "order-statistic": Row(
        "order_statistic.OrderStatistic",
        RANKED.format("the r-th largest"),
        ("r", *GRID, "widen"),
        "ranks",
        "OrderStatistic; r",
        grouped=True,
        compared=True,
    ),
    "maximum": Row(
        "maximum.Maximum",
        RANKED.format("the maximum"),
        (*GRID, "widen"),
        "ranks",
        grouped=True,
        compared=True,
        answer="the maximum",
    ),
    "mode": Row(
        "mode.Mode",
        "Release the most frequent number of a column privately. The answer is a point of a public "
        "grid; the fewer records must change to make a point the mode, the more likely it is.",
        (*GRID, "widen"),
        "mode",
        grouped=True,
        compared=True,
        answer="the mode",
    ),
    "price": Row(
        "price.Price",
        "Release a price privately, from a column of bids. The answer is a price of a public grid; "
        "prices of higher revenue (the price times the number of bids at or above it) are more "
        "likely.",
        (*GRID, "scaling"),
        "price",
        grouped=True,
        compared=True,
        answer="a price for the bids",
        examples=tuple(
            f"price bids.csv --column bid --epsilon 1 --bounds 0 90 --step 0.5{more}"
            for more in ("", " \\\n      --law --plot law.png")
        ),
        privacy="""
--scaling tight|textbook  tight (default): all of epsilon is used; textbook: the scaling of
    textbooks, which promises epsilon / 2 and is as accurate as tight at epsilon / 2""",
    ),
    "laplace": Row(
        "laplace.Laplace",
        "Release a number that you have computed privately: with noise on a public lattice.",
        ("statistic", "sensitivity", "step", "bounded", "bounds"),
        "statistic",
        "Laplace around the first record, the sum or the mean",
    ),
    "smooth-sensitivity-median": Row(
        "smooth_sensitivity_median.SmoothSensitivityMedian",
        "Simulate the median plus noise by its smooth sensitivity.",
        ("bounds", "delta", "noise", "calibration", "neighbors", "midpoint"),
        "noise",
        preset={"delta": 0},
        compared=True,
    ),
    "laplace-median": Row(
        "laplace_median.LaplaceMedian",
        "Simulate the median plus noise for the whole range.",
        ("bounds",),
        "noise",
        compared=True,
    ),
    "most-common": Row(
        "most_common.MostCommon",
        "Select the most common of public candidates privately.",
        grouped=True,
    ),
    "exponential": Row(
        "exponential.Exponential",
        "Select one of public candidates privately. Candidates of higher utility are more likely.",
        CHOICE,
        "selection",
        preset={"sensitivity": 1.0},
        compared=True,
        selects="exponential (default)",
        counts="most-common",
    ),
    "permute-and-flip": Row(
        "permute_and_flip.PermuteAndFlip",
        "Select one of public candidates privately: the first accepted by a coin, in random order.",
        CHOICE,
        "selection",
        preset={"sensitivity": 1.0},
        compared=True,
        selects="permute-and-flip: never less accurate at the same epsilon, but costs more rho",
        counts="most-common",
    ),
    "report-noisy-max": Row(
        "report_noisy_max.ReportNoisyMax",
        "Simulate the choice of the candidate whose utility with noise is greatest.",
        (*CHOICE, "noise"),
        "selection",
        preset={"sensitivity": 1.0},
        compared=True,
    ),
    "top-k": Row(
        "top_k.TopK",
        "Select the k best candidates privately, one after the other.",
        ("k", "unit", "delta", *CHOICE),
        "top",
        "TopK; k",
        {"sensitivity": 1.0},
        compared=True,
        selects="top-k: the --k best in order, with epsilon for all of them together",
    ),
    "joint-top-k": Row(
        "joint_top_k.JointTopK",
        "Select the k most frequent candidates privately, in one draw.",
        ("k", "sensitivity", "neighbors"),
        "top",
        "JointTopK; k",
        grouped=True,
        compared=True,
        selects="joint-top-k: the --k most frequent in order, in one draw",
        counts="joint-top-k",
    ),
    "randomized-response": Row(
        "randomized_response.RandomizedResponse",
        "Release a bit of each person privately: true, or turned by a coin.",
        study="bit",
        about="RandomizedResponse on two utilities",
    ),
}
COMMANDS = {word: row for word, row in TABLE.items() if row.answer}
SELECTING = {word: row for word, row in TABLE.items() if row.selects}
DEFAULT = next(iter(SELECTING))  # of ``fastexp select``
