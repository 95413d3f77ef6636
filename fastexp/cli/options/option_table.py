"""All options of the command line: the help that is printed, and the form of the value."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from ...mechanisms import table
from . import values
from .command_table import COMMANDS

NUMBERS = tuple(table.COMMANDS)
ANSWERS = (*NUMBERS, "select")
SETS = {
    "numbers": NUMBERS,
    **{
        f"with {name}": [word for word in NUMBERS if name in table.TABLE[word].parameters]
        for name in ("neighbors", "widen")
    },
    "answers": ANSWERS,
    "every command": [name for name, command in COMMANDS.items() if command.module],
    "the program": ("",),
}
SHORTENED = (*ANSWERS, "compare", "epsilon")
COMMON = {  # options in the short help of SHORTENED; that of other commands has all options
    *("file", "column", "candidates", "q", "count", "bounds", "step", "epsilon", "by", "groups"),
    *("budget", "label", "output", "law", "mechanisms"),
    *("name", "like", "n", "error", "probability", "expected_error"),
}
FURTHER = "--accuracy, --plot, --person, --key ..."  # options that the short help leaves out
HELP = "help"  # the heading of the options of every command

# A section begins with [its heading: the commands that have these options]. The line of an option
# has its names and its value, <the form of its value>, two blanks, and its help, whose first
# sentence is the short help. The form of a value is a function of `READERS` or `values` that reads
# it (or LEAST..MOST for an integer), and fields of `Option`.
# A section "own" is replaced by the options of the mechanism's row.
TEXT = f"""
[data: answers, compare]
FILE  CSV, Parquet, JSON lines or .npy; - reads CSV from stdin
--column C  the column of FILE with the records (.npy has none)
--delimiter D <delimiter>  the delimiter of CSV. Default: a comma; write tab for a tab

[data: numbers, compare]
--nan raise|drop|lower|upper <default=raise>  missing records: refuse them (default; outside the
    promise, as it depends on the data), leave them out, or count them at the lower or upper
    bound

[the public answers: own]

[the public answers: numbers, compare, epsilon]
--bounds A B <pair lists=pair>  the lowest and the highest answer. Default with --grid: its first
    and last point
--step S <exact either=grid>  the distance between answers, such as 1 for ages. It must divide B - A
    (default: 2^40 steps)
--grid LIST <lists=numbers either=grid>  the possible answers, increasing: 0,10,50,100, or a file of
    numbers (text, .npy)
--digits D <1..15 either=grid>  if you know no bounds: answers have so many significant digits and
    any magnitude from 1e-12 to 1e15, of both signs, or are 0

[the public answers: select, compare]
--candidates LIST <lists=words>  the candidates: A,B,C or a file with one per line. Or a column of a
    file (parties.csv:party). The list is public: choose it without looking at FILE. Quote a
    candidate with a comma: '"a, b",c'. from-data takes the list from FILE, which breaks the
    promise of privacy
--utilities  FILE has the columns candidate and utility instead. Its candidates are public, and
    higher utilities are better. Needs --sensitivity

[what is compared: compare]
--mechanisms LIST <lists=words needed>  the mechanisms, such as median,maximum,laplace-median or
    exponential,permute-and-flip. For numbers also quantile, order-statistic, mode,
    smooth-sensitivity-median; for candidates report-noisy-max, top-k, joint-top-k; for prices
    price. Its own parameters follow after colons: median:step=10, quantile:q=0.9, top-k:k=3
--epsilon E <decimal needed>  the privacy loss of each mechanism, in nats
--truth T <exact>  the number from which errors are measured (default: the true number of each
    mechanism)
--convert  compare different promises: all are converted to replace, with delta beside
--plot PNG  also draw a picture (.png, .svg, .pdf)

[what is wanted: epsilon]
NAME  the mechanism, such as median or quantile:q=0.9. Any mechanism of compare, with parameters
    after colons
--like DATA <needed>  the source of data sets; public, as the output depends on it. A file (CSV,
    Parquet, JSON lines, .npy) whose records are drawn with replacement, or a generator, such as
    normal:mean=40:sd=15 (listed by fastexp study list)
--column C  the column of that file
--n N <count needed>  the number of records in a data set
--error R <decimal>  the largest error, with --probability
--loss L <decimal>  the largest loss of utility, with --probability
--probability P <decimal>  the share of draws within that limit, such as 0.95
--expected-error R <decimal>  the largest expected error
--expected-loss L <decimal>  the largest expected loss
--datasets N <count default=1000>  the number of data sets (default: 1000)
--seed S <seed default=0>  the seed of the data sets (default: 0)

[privacy: answers]
--epsilon E <decimal either=epsilon!>  the privacy loss of each answer, in nats. Smaller is more
    private. If a person can have several groups or rows, the total is so many times larger, and
    is printed
--total-epsilon E <decimal either=epsilon!>  instead: the privacy loss of all answers together, of
    which each gets a share
--any-epsilon  lift the limits on epsilon, [1e-9, 1e6]

[privacy: with neighbors, select, compare, epsilon]
--neighbors add-remove|replace  what one person may do: join or leave (default), or change their
    records

[privacy: own]

[privacy: with widen, compare, epsilon]
--widen W <exact>  an answer counts like the best one within W of it: for equal records on a grid
    finer than the data

[privacy: select]
--mechanism {"|".join(table.SELECTING)} <default={table.DEFAULT}>  {
    "; ".join(r.selects for r in table.SELECTING.values())
}
--k K <count>  with top-k or joint-top-k: the number of candidates selected

[privacy: select, compare, epsilon]
--sensitivity S <decimal>  with --utilities: the most by which one record changes the utility of a
    candidate
--monotonic  with --utilities: one record moves all utilities in the same direction

[groups and persons: answers]
--by C[,C] <names lists=words>  one answer for each group, as defined by these columns
--groups LIST <lists=words>  the public list of groups: A,B,C or a file with one per line. Or a
    column of a file (cities.csv:city); for several columns a file that has them, or all
    combinations: 'city=A,B;year=2023,2024'. With private, there is no list: a private rule selects
    groups of FILE with enough persons. from-data takes all groups of FILE, which breaks the
    promise of privacy
--delta D <decimal>  with --groups private: the largest probability that a group of one person
    appears, such as 1e-8. With --mechanism top-k: (epsilon, delta) instead of epsilon
--groups-epsilon E <decimal>  with --groups private: the privacy loss of the choice of groups.
    Without it the private total of an answer decides, at no loss: --with-total
--person C  the column with the person of each row. Rows of a person beyond the two limits do not
    count. Without this column the limits are your claim
--max-groups N <count>  the most groups that one person can be in (default: 1)
--max-rows N <count>  the most rows that one person can have in a group (default: 1)
--membership private|public  with --neighbors replace: whether a person may also change their group
    (private, default), or may not, as groups are public

[paying and keeping: answers]
--budget FILE  charge the release to this file, and never overspend it. Make it with: fastexp budget
    FILE --epsilon E
--label NAME  the name of the release: a repeated run costs nothing. The budget file keeps the
    answers, and the same command with the same label prints them without reading FILE. Without a
    label every run is charged
--note TEXT  a line of text for the log of the budget. It is not private: fastexp budget FILE
    --log shows it
--key FILE  a release key (fastexp key FILE): a retry with the same --label and the same records
    repeats its answers
--output OUT  write the answers to a .csv, .tsv, .parquet or .jsonl file. Its disk space is
    reserved before anything is charged

[instead of a release, not private: answers]
--law <either=kind>  print the exact law of the answers instead: not private
--draws N <count either=kind>  print N simulated draws beside the exact law
--seed S <seed>  with --draws: the seed, which repeats the draws
--accuracy <either=kind>  print the exact expected errors of the answers of each group
--plot PNG  with --law, --draws or --accuracy: draw a picture (.png, .svg, .pdf)

[a publication: release]
PUBLICATION  a .toml file: source, query, answers, budget, label ...
--check  print the promise of each answer, the total and the groups. Neither source nor key is
    opened, and nothing is drawn or charged
--like FILE  with --check: print the accuracy on this public file. It has the same columns as the
    source, and no private data

[a budget: budget]
FILE  the budget file
--epsilon E <decimal either=limit>  the limit, in nats of pure privacy
--rho R <decimal either=limit>  the limit of rho, for zero-concentrated privacy
--delta D <decimal default=0>  with --epsilon: the limit of delta (default: 0)
--neighbors add-remove|replace  the neighbour relation. Default: that of the file; add-remove for a
    new file
--log  print all charges: when, for which query, label and note

[a key: key]
FILE  the file to create, readable only by you

[a study: study run]
STUDY  a name of fastexp study list, or a .toml or .json file
--out DIR  a new folder, in which each finished task is saved
--datasets N <count>  the number of data sets of each kind and size
--draws N <0..1000000000>  the number of draws for each data set; 0: exact figures only
--seed S <seed>  the seed of all data sets and draws

[a study: study run, study resume]
--allow-import  import and run the code that the study names

[a study: study resume, study report]
FOLDER  the --out of the run

[a study: study report]
--format F <formats lists=words>  the format of the picture files: svg (default), png, pdf
--output DIR  the folder of the page (default: the same folder)

[where it runs: study run, study resume]
--executor threads|processes|dask <default=threads>  threads (default), processes, or dask. dask
    needs the package distributed
--workers N <0..4096>  the number of workers (default: one per CPU)
--scheduler ADDRESS  with dask: a running scheduler, such as tcp://HOST:PORT. Default: workers on
    this machine

[what it does: demo]
--records marital-status|age|bid <implied=marital-status>  print its records as CSV instead

[what it does: warmup]
--image <either=place>  keep the kernels for all users of an image. They are saved in
    share/fastexp below Python's prefix
--into DIR <either=place>  keep the kernels in this folder. Everybody may read it; it is used by
    those whose FASTEXP_CACHE_DIR names it, if it belongs to root or to them
--cpu native|x86-64-v3 <default=native>  compile for this machine (default), or for every x86-64 CPU
    with AVX2: results are the same to the last bit
--only LIST <commands lists=words>  compile only the kernels of these commands, such as
    median,select (default: all kernels)

[output and machine: answers, release]
--force  replace the output file if it exists
--quote-formulas  in a .csv or .tsv output, put an apostrophe before text that a spreadsheet would
    read as a formula, such as =A1

[output and machine: answers, release, epsilon, study run, study resume]
-q --quiet  print only warnings and errors on stderr

[output and machine: every command]
--json  print one JSON object on stdout

[output and machine: answers, release]
--memory SIZE <size>  memory for rows, such as 500MB or 2GB (default: half of the free memory).
    Rows that need more are sorted in a private folder on disk
--temp DIR  the folder for rows beyond --memory (default: that of the system)
--threads N <0..65536 default=1>  the number of threads (default: 1; 0: all)

[options: the program]
-V --version  print the version
--print-completion bash|zsh  print a script for tab completion. Use it with: eval "$(fastexp
    --print-completion bash)"

[help: the program, study, every command]
-h --help  show the usual options
--help-all  show all options and details
"""


class Option(NamedTuple):
    """One option."""

    names: list[str]  # one, or a short and a long one; none for a positional argument
    value: str  # the name of its value; "" for a flag; words with | are all its values
    help: str  # sentences; the short help has the first
    read: Callable[[str], Any] = str  # converts the text of a value
    lists: str = ""  # if it takes several values: "", "pair", "numbers" or "words"
    either: str = ""  # at most one option with the same word is given; exactly one if it has a "!"
    default: Any = None  # the value if the option is not given
    implied: Any = None  # the value if the option is given without one
    needed: bool = False  # whether it must be given

    @property
    def dest(self) -> str:
        """The attribute of parsed arguments."""
        return [self.value, *self.names][-1].lstrip("-").replace("-", "_").lower()

    @property
    def choices(self) -> list[str] | None:
        """All values that are allowed; None if there is no such list."""
        return self.value.split("|") if "|" in self.value else None

    @property
    def short(self) -> str:
        """The first sentence of the help."""
        return self.help.partition(". ")[0]


READERS: dict[str, Callable[[str], Any]] = {  # functions besides those of `values`
    "count": values.whole(1, 10**9),
    "seed": values.whole(0, 2**128 - 1),
    "formats": values.among("svg", "png", "pdf"),
    "commands": values.among(*ANSWERS),
}


@cache
def sections(command: str) -> dict[str, list[Option]]:
    """Return the options of a command by heading; "" has the options of the program."""
    options: dict[str, list[Option]] = {}
    for section in re.split(r"\n(?=\[)", TEXT.strip()):
        head, _, text = section.strip().partition("\n")
        heading, _, commands = head.strip("[]").partition(": ")
        row = table.COMMANDS.get(command) if commands == "own" else None
        if row is not None:
            text = (row.public if heading == "the public answers" else row.privacy).strip()
        elif not any(command in SETS.get(name, (name,)) for name in commands.split(", ")):
            text = ""
        for entry in re.split(r"\n(?! )", text) if text else ():
            options.setdefault(heading, []).append(_option(entry))
    return options


def _option(entry: str) -> Option:
    usage, _, text = entry.partition("  ")
    words, _, marks = usage.rstrip(">").partition(" <")
    names = [word for word in words.split(" ") if word.startswith("-")]
    settings: dict[str, Any] = {}
    for mark in marks.split():
        key, is_set, value = mark.partition("=")
        if is_set:
            settings[key] = value
        elif key == "needed":
            settings[key] = True
        elif ".." in key:
            settings["read"] = values.whole(*map(int, key.split("..")))
        else:
            settings["read"] = READERS.get(key) or getattr(values, key)
    value = " ".join(words.split(" ")[len(names) :])
    return Option(names, value, " ".join(text.split()), **settings)
