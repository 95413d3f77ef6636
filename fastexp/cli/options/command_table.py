"""The commands: where their code is, and what their help says beside the options."""

from __future__ import annotations

from typing import NamedTuple

from ...mechanisms import table

ABOUT = "Exact private answers: the exponential mechanism of differential privacy."
ENDINGS = """\
exit codes:
  0    done
  1    failure at run time (also: nobody reads the output)
  2    the user's mistake: usage, a parameter, the file
  3    the rest of the budget does not cover it: nothing was drawn or charged
  130  interrupted (143 by SIGTERM, 129 by SIGHUP)

Results go to stdout, everything else to stderr. New here? fastexp demo"""

GRID = """\
--bounds, --step, --grid and --digits are public: choose them without looking
at FILE. Numbers are read exactly as they are written; where bounds and step
are integers, so is the answer. A number counts at the nearest point of the grid
(49 at 50 on a grid of tens; half-way, at the first, third, fifth ... point), a
bid at the price at or below it. Let the grid be as coarse as the data: on a
much finer one equal numbers are one point among many. So ages have --step 1,
amounts of money --step 0.01.

The column must hold numbers, as 12, -0.5 or 1e3; an empty cell, NA, null and
nan are missing records, see --nan. Numbers outside the bounds, also inf and
-inf, count as the nearest bound. Without records every point is equally likely.
"""
COUNTS = """\
Values are compared exactly; empty ones count nowhere. A misspelt candidate
counts nothing, which a release may not show: --law does.
"""
GROUPS = """\
--groups is public: choose it without looking at FILE. A group without rows is
answered, too, as if it had none: also a misspelt one, which --accuracy shows to
have n = 0. What the list does not name is left out. Codes of one width (01001,
10001) are text.
"""
KEYS = """\
keys of --json:
  a release   kind, private, answers (of each its mechanism, parameters, column,
              nan), by, groups, person, max_groups, max_rows, membership,
              promised (epsilon, delta, rho, neighbors), budget, output, rows
  --law       kind, private, mechanism, its parameters, nan, by, plot, n; truth,
              mean, sd, quantiles, expected_error, error_95 (not of select),
              expected_loss, loss_95; rows (value, probability, of at most 10000
              points; of select candidate, records, log_probability)
  --draws     draws, seed; observed and exact figures; rows also have observed
              and frequency
  --accuracy  kind, private, by, answers, rows (group, answer, measure, n,
              truth, bias, expected, quantile, best)
By group --law and --draws have groups, a list of {group, ...} with the rest.
"private" says whether the output keeps the promise of epsilon; numbers beyond
float64 are null.
"""
PUBLICATION = """\
A publication has what is public and nothing else: no SQL, no code, no
variables. Its paths are relative to its own folder, and a key that is not known
is an error.

  source = "rents.csv"            # delimiter = ";" for another one of CSV
  budget = "survey.budget"        # fastexp budget survey.budget --epsilon 2
  label = "rents 2024"
  output = "rents-by-city.csv"    # or .tsv, .parquet, .jsonl; this and the two
  key = "rents.key"               # below may be left out
  note = "for the yearbook"

  [query]                         # without it all rows are one group
  by = ["city", "year"]
  groups = "cities.csv"           # as --groups; or [["Rome", 2024], ...]
  person = "tenant"               # or every combination, as in
  max_groups = 1                  #   {city = ["Rome", "Oslo"], year = [2024]}
  max_rows = 3

  [answers.median]                # one table an answer
  mechanism = "median"            # or quantile (with q = 0.9), order-statistic,
  column = "rent"                 # maximum, mode, price; or quantiles, with
  epsilon = 0.5                   # q = [0.25, 0.75] or count = 9
  bounds = [0, 2000]
  step = 100
  nan = "drop"

  [answers.heating]
  mechanism = "most-common"       # or permute-and-flip
  column = "heating"
  epsilon = 0.2
  candidates = ["gas", "oil"]

Run again, it gives the answers that the budget keeps under its label, costs
nothing, and leaves an output that has them as it is; other content needs
--force. An edited publication is another question and needs another label,
unless only its output, key, note or comments were edited.

--check may read the budget and a list of groups, and exits with 3 where the
budget has no room, with 2 where there is none yet. With --like it shows exact
errors on a public file, which are not private.

keys of --json:
  a release  kind, private, answers of {parameters}, by, groups, person,
             max_groups, max_rows, membership, promised, budget, output, rows
             of {group columns and answers}
  --check    the same with what each answer promises; budget has cost,
             remaining, left and state; with --like accuracy, rows of figures
"""
RENTS = "rents.csv --column rent --epsilon 1 --bounds 0 9000"
BY_CITY = RENTS + " \\\n      --by city --groups cities.txt --budget rents.budget --label 2024"
COMPARED = "--epsilon 0.1 --bounds 0 120 --step 1 \\\n      --mechanisms"
LIKE = "--like ages.csv --column age --n 1000 --bounds 0 120 --step 1"
SCORED = "--utilities --sensitivity 1 --epsilon 1 \\\n      --mechanisms"


class Command(NamedTuple):
    """One command."""

    module: str  # below `fastexp.cli`; "" of a command that only has others, as ``study``
    function: str
    usage: str  # what follows its name, as it is commonly called
    short: str  # in the list of commands
    about: str = ""  # default: the short line
    examples: tuple[str, ...] = ()  # without the program's name
    more: str = ""  # what the full help says below the options


def _number(name: str, row: table.Row) -> Command:
    """A command about the numbers in a column."""
    usage, example = row.needs
    return Command(
        "commands.answer",
        "answer",
        f"FILE --column C {usage}--epsilon E --bounds A B ...",
        f"release {row.answer} of a column privately",
        row.sentence,
        row.examples
        or (
            f"{name} ages.npy --epsilon 0.1 --bounds 0 120 --step 1{example}",
            f"{name} {BY_CITY}{example}",
        ),
        f"{GRID}\n{GROUPS}\n{KEYS}",
    )


COMMANDS: dict[str, Command] = {
    **{name: _number(name, row) for name, row in table.COMMANDS.items()},
    "select": Command(
        "commands.answer",
        "answer",
        "FILE --column C --candidates LIST --epsilon E ...",
        "select one candidate of a column privately",
        "Select one of a public list of candidates privately: the likelier the more records of "
        "the column have it.",
        (
            "select adult.csv --column sex --candidates Male,Female --epsilon 0.1",
            "select scores.csv --utilities --sensitivity 1 --epsilon 1",
        ),
        f"{COUNTS}\n{GROUPS}\n{KEYS}",
    ),
    "compare": Command(
        "commands.compare",
        "compare",
        "FILE --column C --mechanisms LIST --epsilon E ...",
        "compare how accurate mechanisms are (not private)",
        "Print how accurate several mechanisms are on the same records, by their exact laws: "
        "functions of the records without noise, for public or simulated ones.",
        (
            f"compare ages.npy {COMPARED} median,median:widen=2,laplace-median",
            f"compare scores.csv {SCORED} exponential,permute-and-flip",
        ),
        """\
For each mechanism: what it promises, its expected error or loss, what that is
at most in 95% of draws, and the epsilon that each other one needs for the same.

keys of --json: kind, private, plot, measure, probability, rows (name, measure,
truth, expected, quantile, bias, best, epsilon, delta, rho, neighbors, needs)
""",
    ),
    "epsilon": Command(
        "commands.epsilon",
        "epsilon",
        "NAME --like DATA --n N --error R --probability P ...",
        "find the epsilon that is enough for an accuracy, on public data",
        "Print which epsilon is enough for an accuracy on many data sets like public ones: what "
        "half, 95% and all of them need, by their exact laws.",
        (
            f"epsilon median --error 2 --probability 0.95 \\\n      {LIKE}",
            "epsilon exponential --expected-loss 5 \\\n      --like votes --n 8 --sensitivity 1",
        ),
        """\
The target holds there and at each epsilon of a grid above it, of ratio 1.01 and
up to 1e6. A generator makes
utilities for a selection (leader, scores, votes), and records for a number.

keys of --json: kind, private, mechanism, target, data, n, datasets, epsilon of
{median, 95, worst} (null where no epsilon up to 1e6 is enough)
""",
    ),
    "release": Command(
        "commands.release",
        "release",
        "PUBLICATION [--check [--like FILE]] [options]",
        "release a whole publication, as a file describes it",
        "Release what a publication describes: a file that can be read and signed.",
        ("release rents.toml --check --like public.csv", "release rents.toml"),
        PUBLICATION,
    ),
    "budget": Command(
        "commands.budget",
        "budget",
        "FILE [--epsilon E] [--log]",
        "create or show a file that releases charge",
        "Create a budget file, or show what it holds. Releases charge it, and none can overspend "
        "it: fastexp median ... --budget FILE, or Budget.file in Python.",
        ("budget survey.budget --epsilon 1", "budget survey.budget --log"),
        """\
With --epsilon (and --delta) or --rho, FILE is created if there is none; a file
that exists must have the same. Whoever can write to FILE can spend or forge it.
Never restore an older copy of it. Releases with a label keep their answers in
FILE.

keys of --json: unit, neighbors, total, spent, remaining, charges (with a delta
total_delta, spent_delta, remaining_delta), log of {time, name, about, label,
note, epsilon and delta or rho, state}
""",
    ),
    "key": Command(
        "commands.key",
        "key",
        "FILE",
        "make a release key, with which a retry repeats answers",
        "Make a release key: with --key FILE, the same question about the same records of a group "
        "has the same answer again, so that a retry is not a second release. Whoever reads FILE "
        "can undo the protection: keep it as you keep the records. A file that exists is never "
        "overwritten.",
        ("key rents.key", f"median {RENTS} \\\n      --key rents.key"),
        "keys of --json: key\n",
    ),
    "study": Command(
        "",
        "",
        "COMMAND ...",
        "accuracy studies: exact errors and simulations over many data sets",
        "Accuracy studies: how wrong private answers are, on which data, against what rivals. "
        "Exact expected errors over the noise, and the same by drawing, on many data sets.",
        ("study list", "study run table1 --datasets 200 --out results", "study report results"),
    ),
    "study list": Command(
        "commands.study",
        "study_list",
        "[options]",
        "the studies of fastexp, and what a file can name",
    ),
    "study run": Command(
        "commands.study",
        "study_run",
        "STUDY [options]",
        "run a study",
        "Run a study that comes with fastexp (fastexp study list), or that a file describes, TOML "
        "or JSON: its keys are the parameters of fastexp.Study.",
        (
            "study run table1 --datasets 200",
            "study run medians.toml --out results --executor processes --workers 4",
        ),
        """\
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

fastexp study list prints what data and mechanisms there are; files are looked
for in the study's own folder. For integers give step = 1: on the default fine
grid a median of equal records is hard to hit. Figures are error (|output -
truth|), bias, loss (of utility), of top-k total_loss and last_loss, of many
quantiles rank_error, wrong, worst_error and worst_rank_error, then
error_quantile and loss_quantile at the `levels`, and the bounds theorem_1,
theorem_6 and corollary_7.

With --allow-import, functions and objects of your own: figures as
"module:function", data = {function = "module:function"}, mechanisms =
[{subject = "module:object"}].

With --out, each finished task is saved at once: after Ctrl-C or a crash
fastexp study resume FOLDER goes on. (A task saves some 2 kB a cell and figure
for quantiles, 200 bytes for others.) The results have the same bytes for any
executor and number of workers.

keys of --json: study, key, versions, tasks, finished, agree, columns, rows,
tables
Exit code 1 also means: exact figures and simulated ones disagree.
""",
    ),
    "study resume": Command(
        "commands.study",
        "study_resume",
        "FOLDER [options]",
        "go on with a study that stopped, and print its results",
    ),
    "study report": Command(
        "commands.study",
        "study_report",
        "FOLDER [options]",
        "write a page with tables and figures",
        "Write a page of HTML with a study's figures and tables, and the figures and numbers as "
        "files. The page needs no script and no network. Of an unfinished study it has what there "
        "is.",
        ("study report results --format svg,pdf",),
    ),
    "demo": Command(
        "commands.demo", "demo", "[--records [NAME]]", "a short story on real data, from any folder"
    ),
    "warmup": Command(
        "commands.compile_kernels",
        "warmup",
        "[--image | --into DIR]",
        "compile kernels now, so that later calls start at once",
        more="""\
A Dockerfile in a clone, for every x86-64 CPU with AVX2:
  FROM python:3.13-slim
  COPY . /fastexp
  RUN pip install /fastexp
  RUN fastexp warmup --image --cpu x86-64-v3
  RUN useradd app
  USER app
  CMD ["fastexp", "demo"]

keys of --json: kernels, seconds, cached, cache (the folder; null if there is
none)
""",
    ),
    "info": Command(
        "commands.info",
        "info",
        "[--json]",
        "show versions, CPU, cache, threads and left-over folders",
        more="""\
The cache of compiled kernels: these folders are looked into, in this order, for
the CPU here and then for x86-64-v3; what is in none of them is compiled, and
saved in the first of those marked * that can be written to:
  FASTEXP_CACHE_DIR  the folder that this variable names *
  image              share/fastexp below Python's prefix (warmup --image)
  own                fastexp below XDG_CACHE_HOME or ~/.cache (Windows:
                     LOCALAPPDATA) *
FASTEXP_CACHE=0 switches it off. A folder holds code, so it is not used where
anybody but root or you owns it or one above it, or may write there (a sticky
folder such as /tmp may be above it). On Windows, where this cannot be known,
only your own folder is used.

left over: a folder of private rows, in the system's folder for temporary files,
whose process was killed. Nothing removes it but you.

keys of --json: fastexp, python, platform, cpu, threads, packages, cache: folder
(where kernels are saved; null if nowhere) and places, a list of {name, folder,
kernels, refusal}; left_over: a list of {folder, bytes}
""",
    ),
}


def below(name: str) -> dict[str, Command]:
    """The commands that a command has, or all of the first level of ""; by their last word."""
    start = f"{name} " if name else ""
    return {
        full.removeprefix(start): command
        for full, command in COMMANDS.items()
        if full.startswith(start) and " " not in full.removeprefix(start)
    }
