"""The commands: the modules of their code, and the texts of their help besides the options."""

from __future__ import annotations

from typing import NamedTuple

from ...mechanisms import table

ABOUT = "Exact private answers: the exponential mechanism of differential privacy."
ENDINGS = """\
exit codes:
  0    done
  1    failure at run time (also if the output is closed)
  2    a mistake of the user: usage, a parameter, the file
  3    the release costs more than remains: nothing was drawn or charged
  4    the release failed after its charge: no answers, and the label is used up
  130  interrupted (143 by SIGTERM, 129 by SIGHUP)

Results go to stdout, everything else to stderr. New here? fastexp demo"""

GRID = """\
--bounds, --step, --grid and --digits are public: choose them without looking
at FILE. Numbers are read exactly as they are written. If bounds and step are
integers, so is the answer. A number counts at the nearest point of the grid (49
at 50 on a grid of tens; half-way, at the first, third, fifth ... point), a bid
at the price at or below it. If the data are rounded, give the same --step (1
for ages, 0.01 for money): on a much finer grid all records of one value share
a single point among many, and the answer may be far from it.

The column must contain numbers, such as 12, -0.5 or 1e3; an empty cell, NA,
null and nan are missing records, see --nan. Numbers outside the bounds, even
inf and -inf, count at the nearest bound. Without records, every point is
equally likely.
"""
COUNTS = """\
Values are compared exactly, and empty ones are not counted. A misspelt
candidate has a count of 0, which a release may not show, but --law does.
"""
GROUPS = """\
--groups is public: choose it without looking at FILE. Groups without rows are
answered, too, even misspelt ones, for which --accuracy shows n = 0. Groups that
are not listed are left out. Codes of one width (01001, 10001) are text.
"""
KEYS = """\
keys of --json:
  a release   kind, private, answers (each with mechanism, parameters, column,
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
With --by, --law and --draws have groups, a list of {group, ...} with the keys
above. "private" says whether the output keeps the promise of epsilon. Numbers
beyond float64 are null.
"""
PUBLICATION = """\
A publication contains public settings only: no SQL, no code, no variables. Its
paths are relative to its own folder, and an unknown key is an error.

  source = "rents.csv"            # delimiter = ";" for other CSV files
  budget = "survey.budget"        # fastexp budget survey.budget --epsilon 2
  label = "rents 2024"
  output = "rents-by-city.csv"    # or .tsv, .parquet, .jsonl; output, key and
  key = "rents.key"               # note may be left out
  note = "for the yearbook"

  [query]                         # without it all rows are one group
  by = ["city", "year"]
  groups = "cities.csv"           # as --groups; or [["Rome", 2024], ...]
  person = "tenant"               # or all combinations, as in
  max_groups = 1                  #   {city = ["Rome", "Oslo"], year = [2024]}
  max_rows = 3

  [answers.median]                # one table for each answer
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

Another run returns the answers that the budget keeps under the label, and costs
nothing. If the output already has these answers, it is left as it is; if it has
other content, --force is needed. An edited publication is another question and
needs another label, unless only its output, key, note or comments were edited.

--check may read the budget and a list of groups. It exits with 3 if the release
costs more than remains, and with 2 if there is no budget yet. With --like it
shows exact errors on a public file, which are not private.

keys of --json:
  a release  kind, private, answers of {parameters}, by, groups, person,
             max_groups, max_rows, membership, promised, budget, output, rows
             of {group columns and answers}
  --check    the same with the promise of each answer, groups_promised,
             group_names, groups_file, key; budget has cost, remaining, left and
             state; with --like accuracy, rows of figures
"""
RENTS = "rents.csv --column rent --epsilon 1 --bounds 0 9000"
BY_CITY = RENTS + " \\\n      --by city --groups cities.txt --budget rents.budget --label 2024"
COMPARED = "--epsilon 0.1 --bounds 0 120 --step 1 \\\n      --mechanisms"
LIKE = "--like ages.csv --column age --n 1000 --bounds 0 120 --step 1"
SCORED = "--utilities --sensitivity 1 --epsilon 1 \\\n      --mechanisms"


class Command(NamedTuple):
    """One command."""

    module: str  # below `fastexp.cli`; "" for a command with subcommands only, as ``study``
    function: str
    usage: str  # the arguments after its name, in a typical call
    short: str  # the line in the list of commands
    about: str = ""  # a paragraph; default: the short line
    examples: tuple[str, ...] = ()  # without the name of the program
    more: str = ""  # the text of the full help below the options


def _number(name: str, row: table.Row) -> Command:
    """Return a command for the numbers in a column."""
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
        "Select one of a public list of candidates privately. Candidates that more records of the "
        "column have are more likely.",
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
        "Print the accuracy of several mechanisms on the same records, by their exact laws. The "
        "figures have no noise: use public or simulated records.",
        (
            f"compare ages.npy {COMPARED} median,median:widen=2,laplace-median",
            f"compare scores.csv {SCORED} exponential,permute-and-flip",
        ),
        """\
For each mechanism: its promise, its expected error or loss, the bound on error
or loss in 95% of draws, and the epsilon that each other mechanism needs for the
same expected error or loss.

keys of --json: kind, private, plot, measure, probability, rows (name, measure,
truth, expected, quantile, bias, best, epsilon, delta, rho, neighbors, needs)
""",
    ),
    "epsilon": Command(
        "commands.epsilon",
        "epsilon",
        "NAME --like DATA --n N --error R --probability P ...",
        "find the epsilon that is enough for an accuracy, on public data",
        "Find the smallest epsilon that reaches an accuracy, on many data sets resembling a public "
        "one: for half, 95% and all of them, by exact laws.",
        (
            f"epsilon median --error 2 --probability 0.95 \\\n      {LIKE}",
            "epsilon exponential --expected-loss 5 \\\n      --like votes --n 8 --sensitivity 1",
        ),
        """\
The target holds for this epsilon and for every larger one up to 1e6, on a grid
of ratio 1.01. "inf" means that no epsilon up to 1e6 is enough for that share of
the data sets, and "never" counts those without one: let the error or n be
larger, or the step smaller. Of several quantiles (quantiles:q=0.25,0.5,0.75)
each one must reach the target. A generator makes utilities for a selection
(leader, scores, votes), and records for a number.

keys of --json: kind, private, mechanism, target, data, n, datasets, epsilon of
{median, 95, worst} (null if no epsilon up to 1e6 is enough)
""",
    ),
    "release": Command(
        "commands.release",
        "release",
        "PUBLICATION [--check [--like FILE]] [options]",
        "release all answers of a publication, described by a file",
        "Release the answers that a publication describes: a file that can be reviewed and signed.",
        ("release rents.toml --check --like public.csv", "release rents.toml"),
        PUBLICATION,
    ),
    "budget": Command(
        "commands.budget",
        "budget",
        "FILE [--epsilon E] [--log]",
        "create or show a budget file, which releases charge",
        "Create a budget file, or show its state. Releases charge it and cannot overspend it: "
        "fastexp median ... --budget FILE, or Budget.file in Python.",
        ("budget survey.budget --epsilon 1", "budget survey.budget --log"),
        """\
With --epsilon (and --delta) or --rho, FILE is created if it does not exist; an
existing file must have the same limits. Whoever can write to FILE can spend or
forge the budget. Never restore an older copy of it. Releases with a label keep
their answers in FILE.

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
        "has the same answer, so that a retry is not a second release. Whoever reads FILE can undo "
        "the protection: protect it like the records. An existing file is never overwritten.",
        ("key rents.key", f"median {RENTS} \\\n      --key rents.key"),
        "keys of --json: key\n",
    ),
    "study": Command(
        "",
        "",
        "COMMAND ...",
        "accuracy studies: exact errors and simulations over many data sets",
        "Accuracy studies: the errors of several mechanisms on many data sets, as exact "
        "expectations over the noise, and estimated from draws.",
        ("study list", "study run table1 --datasets 200 --out results", "study report results"),
    ),
    "study list": Command(
        "commands.study",
        "study_list",
        "[options]",
        "list the studies of fastexp, and the names for study files",
    ),
    "study run": Command(
        "commands.study",
        "study_run",
        "STUDY [options]",
        "run a study",
        "Run a study that comes with fastexp (fastexp study list), or one that a TOML or JSON file "
        "describes, whose keys are the parameters of fastexp.Study.",
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

fastexp study list prints the names of data and mechanisms. Paths are relative
to the folder of the study. For integers give step = 1: on the default fine grid
a median of equal records is rarely drawn. Figures are error (|output - truth|),
bias, loss (of utility); for top-k total_loss and last_loss; for many quantiles
rank_error, wrong, worst_error and worst_rank_error; error_quantile and
loss_quantile at the `levels`; and the bounds theorem_1, theorem_6 and
corollary_7.

With --allow-import, a study may name functions and objects of your own: figures
as "module:function", data = {function = "module:function"}, mechanisms =
[{subject = "module:object"}].

With --out, each finished task is saved at once: after Ctrl-C or a crash,
fastexp study resume FOLDER continues. (For each cell and figure, a task saves
about 2 kB for quantiles, and 200 bytes otherwise.) The results have the same
bytes for any executor and number of workers.

keys of --json: study, key, versions, tasks, finished, agree, columns, rows,
tables
Exit code 1 also means that exact and simulated figures disagree.
""",
    ),
    "study resume": Command(
        "commands.study",
        "study_resume",
        "FOLDER [options]",
        "continue a study that stopped, and print its results",
    ),
    "study report": Command(
        "commands.study",
        "study_report",
        "FOLDER [options]",
        "write an HTML page with tables and figures",
        "Write an HTML page with the figures and tables of a study, and the figures and numbers as "
        "files. The page needs no script and no network. For an unfinished study it has the "
        "results so far.",
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
Compiled kernels are searched for in these folders, in this order, for the CPU
of this machine and then for x86-64-v3. Kernels that are in none of them are
compiled, and saved in the first writable folder of those marked *:
  FASTEXP_CACHE_DIR  the folder that this variable names *
  image              share/fastexp below Python's prefix (warmup --image)
  own                fastexp below XDG_CACHE_HOME or ~/.cache (Windows:
                     LOCALAPPDATA) *
FASTEXP_CACHE=0 switches the cache off. As the folders contain code, a folder is
not used if anybody but root or you owns it or a folder above it, or may write
there (a sticky folder such as /tmp may be above it). On Windows, where this
cannot be checked, only your own folder is used.

left over: a folder of private rows, in the folder of the system for temporary
files, whose process was killed. Only you can remove it.

keys of --json: fastexp, python, platform, cpu, threads, packages, cache: folder
(where kernels are saved, or null) and places, a list of {name, folder,
kernels, refusal}; left_over: a list of {folder, bytes}
""",
    ),
}


def below(name: str) -> dict[str, Command]:
    """Return the subcommands of a command (top-level commands for ""), by their last word."""
    start = f"{name} " if name else ""
    return {
        full.removeprefix(start): command
        for full, command in COMMANDS.items()
        if full.startswith(start) and " " not in full.removeprefix(start)
    }
