"""The options of ``study`` and its four commands, and their help."""

from __future__ import annotations

import argparse
from typing import Any

from . import arguments

SHORT = "accuracy studies: exact errors and simulations over many data sets"
ABOUT = """\
Accuracy studies: how wrong private answers are, on which data, against what rivals. Exact
expected errors over the mechanisms' noise, and the same by drawing, on many data sets.
"""
MORE = """\
examples:
  fastexp study list
  fastexp study run table1 --datasets 200
  fastexp study run table1 --out results
  fastexp study resume results
  fastexp study report results
"""
RUN = """\
Run a study: one that comes with fastexp (fastexp study list), or one that is described in a
file, TOML or JSON, whose keys are the parameters of fastexp.Study.
"""
RUN_MORE = """\
examples:
  fastexp study run table1 --datasets 200
  fastexp study run medians.toml --out results --executor processes --workers 4
  fastexp study run medians.toml --out results --executor dask --scheduler tcp://HOST:8786

a file:
  name = "medians"
  epsilon = [0.5, 1.0, 2.0]
  n = [100, 1000]
  bounds = [0, 120]
  datasets = 200
  draws = 100
  figures = ["error", "error_quantile"]
  data = ["ages", {file = "adult.csv", column = "age"}]
  mechanisms = [
    {name = "median", step = 1},
    {name = "quantile", q = 0.9, step = 1, label = "ninth decile"},
    {name = "smooth-sensitivity-median", noise = "cauchy"},
  ]

fastexp study list tells what data and mechanisms there are; files are found from the study's
own folder. Of integers give step = 1: on the default fine grid a median of equal records is
hard to hit. Figures are error (|output - truth|), bias, loss (of utility), error_quantile and
loss_quantile at the `levels`, and the bounds theorem_1, theorem_6 and corollary_7.

With --out, each finished task is kept at once: after Ctrl-C or a crash fastexp study resume
DIR goes on. (Of quantiles a task keeps some 2 kB a cell and figure, of others 200 bytes.)
The results have the same bytes for any executor and number of workers.

keys of --json: study, key, versions, agree, columns, rows, tables
Exit code 1 also means: exact figures and simulated ones disagree.
"""
RESUME = "Go on with a study that stopped, and print its results; also those of a complete one."
REPORT = """\
Write a page of HTML with a study's tables and figures, and the figures as files. The page
needs nothing else: no script, no network.
"""
FORMATS = ("svg", "png", "pdf")


def add_command(commands: Any) -> None:
    """Make the parser of ``study``.

    Parameters
    ----------
    commands : argparse subparsers
        Of the program.
    """
    study = _parser(commands, "study", SHORT, ABOUT, MORE)
    own = study.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _command(own, "list", "the studies that come with fastexp, and what one can name")
    run = _command(own, "run", "run a study", RUN, RUN_MORE)
    run.add_argument("study", metavar="STUDY", help="a name of the list, or a .toml or .json file")
    run.add_argument("--out", metavar="DIR", help="a new folder for the results, kept as they come")
    _settings(run)
    _executor(run)
    resume = _command(own, "resume", "go on with a study that stopped", RESUME)
    resume.add_argument("folder", metavar="DIR", help="the --out of the run")
    _executor(resume)
    report = _command(own, "report", "a page with tables and figures", REPORT)
    report.add_argument("folder", metavar="DIR", help="the --out of a run that is complete")
    report.add_argument(
        "--format",
        nargs="+",
        action="extend",
        choices=FORMATS,
        metavar="F",
        help="of the figures' files: svg (default), png, pdf",
    )
    report.add_argument("--output", metavar="DIR", help="where to (default: into the same folder)")


def _parser(
    commands: Any, name: str, short: str, about: str = "", more: str | None = None
) -> argparse.ArgumentParser:
    made: argparse.ArgumentParser = commands.add_parser(
        name,
        help=short,
        description=about or f"{short[0].upper()}{short[1:]}.",
        epilog=more,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    return made


def _command(
    commands: Any, name: str, short: str, about: str = "", more: str | None = None
) -> argparse.ArgumentParser:
    made = _parser(commands, name, short, about, more)
    made.set_defaults(module="study", function=f"study_{name}")
    made.add_argument("--json", action="store_true", help="one JSON object on stdout")
    return made


def _settings(run: argparse.ArgumentParser) -> None:
    add = run.add_argument_group("settings of the study, changed").add_argument
    add("--datasets", type=int, metavar="N", help="data sets of each kind and size")
    add("--draws", type=int, metavar="N", help="draws for each data set; 0: exact figures only")
    add("--seed", type=int, metavar="S", help="of all data sets and draws")


def _executor(made: argparse.ArgumentParser) -> None:
    add = made.add_argument_group("where it runs").add_argument
    add(
        "--executor",
        choices=("threads", "processes", "dask"),
        default="threads",
        help="threads (default), processes, or dask (needs fastexp[distributed])",
    )
    add(
        "--workers",
        type=_workers,
        metavar="N",
        help="how many (default: one a CPU)",
    )
    add(
        "--scheduler",
        metavar="ADDRESS",
        help="with dask: of a running scheduler, as tcp://HOST:PORT (default: workers on this "
        "machine)",
    )
    made.add_argument("-q", "--quiet", action="store_true", help="no progress and no notes")


def _workers(text: str) -> int:
    return arguments.between(text, 0, 4096)
