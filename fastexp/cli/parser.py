"""The options and their help. Imports argparse only, so that --help is instant."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any, NoReturn

from .. import __version__
from . import arguments, grouped_parser, number_parser, study_parser
from .errors import MISTAKE

ABOUT = "Exact private answers: the exponential mechanism of differential privacy."
EXIT_CODES = """\
exit codes:
  0    done
  1    failure at run time (also: nobody reads the output)
  2    the user's mistake: usage, a parameter, the file
  3    the rest of the budget does not cover it: nothing was drawn or charged
  130  interrupted

Results go to stdout, everything else to stderr. New here? Start with: fastexp demo
"""
SELECT = """\
Select one candidate privately. By default the candidates are values of a column of
FILE, and a value is the likelier the more records have it. One call gives one kind of
output: a private release (default), or --law, or --draws.
"""
SELECT_MORE = """\
examples:
  fastexp select adult.csv --column sex --candidates Male,Female --epsilon 0.1
  fastexp select adult.csv --column sex --candidates Male,Female --epsilon 0.001 --law
  fastexp select scores.csv --utilities --sensitivity 1 --epsilon 1
  fastexp select adult.csv --column education --candidates HS-grad,Masters,Doctorate \\
      --epsilon 0.1 --mechanism top-k --k 2

With --budget FILE a release is charged to a budget file before it is drawn, and refused
where the rest does not cover it; fastexp budget FILE creates and shows one.

The file: a first row with the names of the columns; UTF-8; values are compared as text,
exactly (spaces after a delimiter are skipped, blank lines too; empty values count nowhere).
Parquet (.parquet, .pq) needs polars or pyarrow; its values are compared as their type is.
A misspelt candidate counts nothing, and a release may not tell: --law does.

keys of --json:
  release  kind, private, selected, mechanism, epsilon, neighbors
  --law    kind, private, mechanism, epsilon, neighbors, expected_loss, loss_95,
           rows of {candidate, probability, log_probability}
  --draws  kind, private, mechanism, epsilon, neighbors, draws, seed, plot,
           rows of {candidate, observed, frequency, probability}
  top-k adds k and delta; "selected" is then a list, --law and --draws show the first place.
  "private" says whether the output keeps the promise of epsilon; numbers beyond float64
  are null; so is "neighbors" with --utilities.
"""


BUDGET = """\
Create a budget file, or show what it holds. Releases charge it, and none can overspend it:
fastexp select ... --budget FILE (median, ... too), or Budget.file in Python.
"""
BUDGET_MORE = """\
examples:
  fastexp budget survey.budget --epsilon 1
  fastexp select adult.csv --column sex --candidates Male,Female --epsilon 0.1 \\
      --budget survey.budget
  fastexp budget survey.budget

With --epsilon (and --delta) or --rho, FILE is created if there is none; a file that exists must
have the same. Whoever can write to FILE can spend or forge it. Never restore an older copy of it.
Releases with a label keep their answers in FILE, and are listed.

keys of --json: unit, neighbors, total, spent, remaining, charges (with a delta total_delta,
  spent_delta, remaining_delta), log of {time, name, label, epsilon and delta or rho, state}
"""
WARMUP_MORE = """\
In a Dockerfile, after pip install; the second line is for other x86-64 CPUs than the one that
the image is built on (those with AVX2; results are the same to the last bit):
  RUN fastexp warmup --image
  RUN NUMBA_CPU_NAME=x86-64-v3 NUMBA_CPU_FEATURES= fastexp warmup --image

keys of --json: kernels, seconds, cache (the folder; null if there is none)
"""
INFO_MORE = """\
The cache of compiled kernels: these folders are looked into, in this order, for the CPU here and
then for x86-64-v3; what is in none of them is compiled, and saved in the first of those marked *
that can be written to:
  FASTEXP_CACHE_DIR  the folder that this variable names *
  image              share/fastexp below Python's prefix; see fastexp warmup --image
  own                fastexp below XDG_CACHE_HOME or ~/.cache (Windows: LOCALAPPDATA) *
FASTEXP_CACHE=0 switches it off. A folder holds code, so it is not used where anybody but root or
you owns it or one above it, or may write there (a sticky folder such as /tmp may be above it).
On Windows, where this cannot be told, only your own folder is used.

left over: a folder of private rows, in the system's folder for temporary files, whose process was
killed. Nothing removes it but you.

keys of --json: fastexp, python, platform, cpu, threads, packages, cache: folder (where kernels are
saved; null if nowhere) and places, a list of {name, folder, kernels, refusal}; left_over: a list of
{folder, bytes}
"""


class _Parser(argparse.ArgumentParser):
    """Errors in one line, with the way to the help; any negative number is an argument."""

    lists = False  # of numbers too

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        given = sys.argv[1:] if args is None else list(args)
        return super().parse_known_args(arguments.guarded(given, self.lists), namespace)

    def error(self, message: str) -> NoReturn:
        from .output import note, printable

        if "expected one argument" in message:
            message += " (if it begins with -, write it with =, as in --candidates=-1,0,1)"
        note(f"{self.prog}: error: {printable(message)}\nsee: {self.prog} --help")
        sys.exit(MISTAKE)


def program() -> str:
    """How this program was called: ``fastexp`` or ``python -m fastexp``."""
    called = Path(sys.argv[0])
    module = called.name == "__main__.py" and called.parent.name == "fastexp"
    return "python -m fastexp" if module else "fastexp"


def build() -> argparse.ArgumentParser:
    """Build the parser; its result names the module and the function of the command."""
    raw = argparse.RawDescriptionHelpFormatter
    top = _Parser(
        prog=program(),
        description=ABOUT,
        epilog=EXIT_CODES,
        formatter_class=raw,
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"fastexp {__version__}")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def command(name: str, module: str, short: str, more: str = "") -> argparse.ArgumentParser:
        made = commands.add_parser(
            name,
            help=short,
            description=more or f"{short[0].upper()}{short[1:]}.",
            formatter_class=raw,
            allow_abbrev=False,
        )
        made.lists = module == "numbers"
        made.set_defaults(module=module, function=name.replace("-", "_"))
        made.add_argument("--json", action="store_true", help="one JSON object on stdout")
        return made

    select = command("select", "select", "select one candidate of a file privately", SELECT)
    select.epilog = SELECT_MORE + grouped_parser.more("select")
    _data_options(select)
    _privacy_options(select)
    grouped_parser.add_options(select)
    _output_options(select)
    number_parser.add_commands(command)
    budget = command("budget", "budget", "create or show a file that releases charge", BUDGET)
    budget.epilog = BUDGET_MORE
    _budget_options(budget)
    grouped_parser.add_key(command)
    study_parser.add_command(commands)
    demo = command("demo", "demo", "a short story on real data, from any folder")
    demo.add_argument(
        "--records",
        nargs="?",
        const="marital-status",
        choices=("marital-status", "age", "bid"),
        help="print its records as CSV instead",
    )
    warm = "compile all kernels now, so that later calls start at once"
    warmup = command("warmup", "info", warm)
    warmup.epilog = WARMUP_MORE
    warmup.add_argument(
        "--image",
        action="store_true",
        help="keep them in share/fastexp below Python's prefix, for every user of an image",
    )
    command(
        "info", "info", "show versions, CPU, cache, threads and what was left over"
    ).epilog = INFO_MORE
    return top


def _data_options(select: argparse.ArgumentParser) -> None:
    group = select.add_argument_group("data")
    add = group.add_argument
    add("file", metavar="FILE", help="CSV or Parquet; - is stdin (CSV)")
    add("--column", metavar="C", help="the column whose values are counted")
    add("--delimiter", **arguments.DELIMITER)
    add(
        "--candidates",
        metavar="LIST",
        help="what can be selected: a public list, chosen without looking at FILE: A,B,C "
        "(quote what contains a comma: '\"a, b\",c'), a file with one a line, or a column of a "
        "file (parties.csv:party)",
    )
    add(
        "--candidates-from-data",
        action="store_true",
        help="take the list from FILE; breaks the promise of privacy",
    )
    add(
        "--utilities",
        action="store_true",
        help="FILE (CSV) has two columns, candidate and utility; the candidates in it are "
        "public, higher utilities are better; needs --sensitivity",
    )


def _privacy_options(select: argparse.ArgumentParser) -> None:
    group = select.add_argument_group("privacy")
    arguments.add_epsilon(group)
    add = group.add_argument
    add(
        "--neighbors",
        choices=("add-remove", "replace"),
        help="what one person may do to the records: join or leave (default), or change theirs",
    )
    add(
        "--sensitivity",
        type=float,
        metavar="S",
        help="the most that one record changes the utility of any one candidate",
    )
    add(
        "--monotonic",
        action="store_true",
        help="one record moves no two utilities in opposite directions",
    )
    add("--any-epsilon", action="store_true", help="lift the limits on epsilon, [1e-9, 1e6]")
    add(
        "--mechanism",
        choices=("exponential", "permute-and-flip", "top-k"),
        default="exponential",
        help="exponential (default); permute-and-flip: more accurate for the same epsilon, but "
        "costs more rho; top-k: the --k best in order, epsilon for all together",
    )
    add("--k", type=arguments.draws, metavar="K", help="with top-k: how many are selected")
    add("--delta", type=float, metavar="D", help="with top-k: (epsilon, delta) instead of epsilon")
    arguments.add_budget(add)


def _budget_options(budget: argparse.ArgumentParser) -> None:
    budget.add_argument("file", metavar="FILE", help="the budget file")
    add = budget.add_mutually_exclusive_group().add_argument
    add("--epsilon", type=float, metavar="E", help="the limit, in nats of pure privacy")
    add("--rho", type=float, metavar="R", help="the limit, of zero-concentrated privacy")
    budget.add_argument(
        "--delta",
        type=float,
        default=0.0,
        metavar="D",
        help="with --epsilon: the limit of delta (default: 0, pure promises only)",
    )
    budget.add_argument(
        "--neighbors",
        choices=("add-remove", "replace"),
        help="the relation that is counted (default: the file's; add-remove for a new one)",
    )


def _output_options(select: argparse.ArgumentParser) -> None:
    group = select.add_argument_group("output (instead of a release; not private)")
    kind = group.add_mutually_exclusive_group()
    kind.add_argument("--law", action="store_true", help="the exact law as a table")
    kind.add_argument(
        "--draws", type=arguments.draws, metavar="N", help="N simulated draws beside the exact law"
    )
    group.add_argument(
        "--seed", type=arguments.seed, metavar="S", help="with --draws: the same draws again"
    )
    group.add_argument("--plot", metavar="PNG", help="with --draws: a picture (png, svg, pdf)")
    select.add_argument(
        "-q", "--quiet", action="store_true", help="no line about what was promised"
    )
