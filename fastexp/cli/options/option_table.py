"""Every option of the command line, once: its help as it is printed, and what its value must be."""

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
COMMON = {  # of SHORTENED: what the short help has; that of other commands has all
    *("file", "column", "candidates", "q", "count", "bounds", "step", "epsilon", "by", "groups"),
    *("budget", "label", "output", "law", "mechanisms"),
    *("name", "like", "n", "error", "probability", "expected_error"),
}
FURTHER = "--accuracy, --plot, --person, --key ..."  # what the short help has not
HELP = "help"  # the heading of what every command has

# [a heading: the commands that have what follows]. An option begins a line: its names and value,
# <what its value must be>, two blanks, its help, whose first sentence is enough on a short screen.
# What a value must be: a function of `READERS` or `values` that reads it, or LEAST..MOST of an
# integer, and fields of `Option`.
# In place of a section "own" stand the options of the mechanism's row.
TEXT = f"""
[data: answers, compare]
FILE  CSV, Parquet, JSON lines or .npy; - is CSV on stdin
--column C  the column of FILE with the records (.npy has none)
--delimiter D <delimiter>  between the cells of CSV. Default: a comma; tab for a tab

[data: numbers, compare]
--nan raise|drop|lower|upper <default=raise>  missing records: refuse them (default; outside the
    promise, as it depends on the data), leave them out, or take them as the lower or upper
    bound

[the public answers: own]

[the public answers: numbers, compare, epsilon]
--bounds A B <pair lists=pair>  the lowest and the highest answer. With --grid: its ends, if not
    given
--step S <exact either=grid>  from one answer to the next, as 1 for ages. It divides B - A (default:
    2^40 steps)
--grid LIST <lists=numbers either=grid>  the answers themselves, increasing: 0,10,50,100, or a file
    of numbers (text, .npy)
--digits D <1..15 either=grid>  where no bounds are known: answers have so many significant digits
    and any magnitude from 1e-12 to 1e15, of both signs, or are 0

[the public answers: select, compare]
--candidates LIST <lists=words>  what can be selected: A,B,C or a file with one a line. Or a column
    of a file (parties.csv:party). It is public: choose it without looking at FILE; quote what
    has a comma: '"a, b",c'; from-data takes it from FILE, which breaks the promise of privacy
--utilities  FILE has two columns instead, candidate and utility. The candidates in it are public,
    higher utilities are better; needs --sensitivity

[what is compared: compare]
--mechanisms LIST <lists=words needed>  as median,maximum,laplace-median or
    exponential,permute-and-flip. Of numbers also quantile, order-statistic, mode,
    smooth-sensitivity-median; of candidates report-noisy-max, top-k, joint-top-k; of prices
    price. A parameter of its own stands behind a colon: median:step=10, quantile:q=0.9,
    top-k:k=3
--epsilon E <decimal needed>  the privacy loss of each mechanism, in nats
--truth T <exact>  what answers are compared with (default: the true number of each mechanism)
--convert  compare promises that differ: all are stated for replace, with delta beside
--plot PNG  a picture, too (.png, .svg, .pdf)

[what is wanted: epsilon]
NAME  the mechanism, as median, or quantile:q=0.9. It is one of those that compare takes, with
    parameters behind colons; its epsilon is what is looked for
--like DATA <needed>  what the data sets are like: public, for what is printed depends on them. A
    file (CSV, Parquet, JSON lines, .npy) whose records are drawn with replacement, or a
    generator, as normal:mean=40:sd=15 (fastexp study list has them)
--column C  the column of that file
--n N <count needed>  how many records a data set has
--error R <decimal>  the greatest error allowed, in --probability of the draws
--loss L <decimal>  the greatest loss of utility allowed, in --probability of the draws
--probability P <decimal>  as 0.95
--expected-error R <decimal>  the greatest expected error allowed
--expected-loss L <decimal>  the greatest expected loss allowed
--datasets N <count default=1000>  how many data sets (default: 1000)
--seed S <seed default=0>  the seed of the data sets (default: 0)

[privacy: answers]
--epsilon E <decimal either=epsilon!>  the privacy loss of each answer, in nats. Smaller is more
    private; where a person can have several groups or rows, the total is as many times as
    large, and is printed
--total-epsilon E <decimal either=epsilon!>  the privacy loss of all answers together, instead: each
    gets its share
--any-epsilon  lift the limits on epsilon, [1e-9, 1e6]

[privacy: with neighbors, select, compare, epsilon]
--neighbors add-remove|replace  what one person may do to the records: join or leave (default), or
    change theirs

[privacy: own]

[privacy: with widen, compare, epsilon]
--widen W <exact>  an answer counts as the best one within W of it: for equal records on a grid
    finer than the data

[privacy: select]
--mechanism {"|".join(table.SELECTING)} <default={table.DEFAULT}>  {
    "; ".join(r.selects for r in table.SELECTING.values())
}
--k K <count>  with top-k or joint-top-k: how many are selected

[privacy: select, compare, epsilon]
--sensitivity S <decimal>  with --utilities: the most that one record changes the utility of any one
    candidate
--monotonic  with --utilities: one record moves no two utilities in opposite directions

[groups and persons: answers]
--by C[,C] <names lists=words>  one answer per group: the columns that name the group
--groups LIST <lists=words>  the public list of groups: A,B,C or a file with one per line. Or a
    column of a file (cities.csv:city); of several columns a file that has them, or all
    combinations: 'city=A,B;year=2023,2024'. private: there is no list, and those that FILE has
    appear by a private rule; from-data takes all of these, which breaks the promise of privacy
--delta D <decimal>  with --groups private: a group of one person appears with at most this
    probability, as 1e-8. With --mechanism top-k: (epsilon, delta) instead of epsilon
--groups-epsilon E <decimal>  with --groups private: the privacy loss of which groups appear.
    Without it the total of an answer decides, at no loss: --with-total
--person C  the column that names the person of a row. Rows of a person beyond the two limits do not
    count; without this column the limits are your claim
--max-groups N <count>  the most groups that one person is in (default: 1)
--max-rows N <count>  the most rows that one person has in a group (default: 1)
--membership private|public  with --neighbors replace: whether a person may change group, too
    (private, default), or may not, as groups are public

[paying and keeping: answers]
--budget FILE  charge the release to this file, and never overspend it. Made by: fastexp budget FILE
    --epsilon E
--label NAME  the name of the release: run again, it repeats and is free. The budget file keeps its
    answers: the same command with the same label gives them without a look at FILE. Without a label
    every run is charged
--note TEXT  a line of your own for the log of the budget. It is not private: fastexp budget FILE
    --log shows it
--key FILE  a release key (fastexp key FILE): a retry with the same --label and the same records
    repeats its answers
--output OUT  write the answers to a .csv, .tsv, .parquet or .jsonl file. Its room on disk is
    reserved before anything is charged

[instead of a release, not private: answers]
--law <either=kind>  the exact law of the answers instead: not private
--draws N <count either=kind>  N simulated draws beside the exact law
--seed S <seed>  with --draws: the same draws again
--accuracy <either=kind>  a table of the exact expected error of the answers, of each group
--plot PNG  with --law, --draws or --accuracy: a picture (.png, .svg, .pdf)

[a publication: release]
PUBLICATION  a .toml file: source, query, answers, budget, label ...
--check  print the promise of each answer, the total and the groups. Neither source nor key are
    opened, nothing is drawn or charged
--like FILE  with --check: how accurate it would be on this public file. It has the same columns as
    the source and holds nobody's data

[a budget: budget]
FILE  the budget file
--epsilon E <decimal either=limit>  the limit, in nats of pure privacy
--rho R <decimal either=limit>  the limit, of zero-concentrated privacy
--delta D <decimal default=0>  with --epsilon: the limit of delta (default: 0)
--neighbors add-remove|replace  the relation that is counted. Default: the file's; add-remove for a
    new one
--log  what was charged, when, for which query, label and note

[a key: key]
FILE  is created, readable only by you

[a study: study run]
STUDY  a name of the list, or a .toml or .json file
--out DIR  a new folder, which keeps results as they come
--datasets N <count>  data sets of each kind and size
--draws N <0..1000000000>  draws for each data set; 0: exact figures only
--seed S <seed>  the seed of all data sets and draws

[a study: study run, study resume]
--allow-import  import and run the code that the study names

[a study: study resume, study report]
FOLDER  the --out of the run

[a study: study report]
--format F <formats lists=words>  the format of the figures' files: svg (default), png, pdf
--output DIR  the folder of the page (default: the same folder)

[where it runs: study run, study resume]
--executor threads|processes|dask <default=threads>  threads (default), processes, or dask. It needs
    the package distributed
--workers N <0..4096>  how many workers (default: one a CPU)
--scheduler ADDRESS  with dask: a running scheduler, as tcp://HOST:PORT. Default: workers on this
    machine

[what it does: demo]
--records marital-status|age|bid <implied=marital-status>  print its records as CSV instead

[what it does: warmup]
--image <either=place>  keep them for every user of an image. They go to share/fastexp below
    Python's prefix
--into DIR <either=place>  keep them in this folder. Everybody may read it, and uses it if
    FASTEXP_CACHE_DIR names it and it belongs to root or to them
--cpu native|x86-64-v3 <default=native>  compile for this machine (default), or for every x86-64 CPU
    with AVX2: results are the same to the last bit
--only LIST <commands lists=words>  what a first call of these needs, as median,select (default: all
    kernels)

[output and machine: answers, release]
--force  replace the output file if it exists
--quote-formulas  in a .csv or .tsv output, put an apostrophe before text that a spreadsheet would
    take for a formula, as =A1

[output and machine: answers, release, epsilon, study run, study resume]
-q --quiet  nothing on stderr but warnings and errors

[output and machine: every command]
--json  one JSON object on stdout

[output and machine: answers, release]
--memory SIZE <size>  memory for rows, as 500MB or 2GB (default: half of what is free). Rows beyond
    it go to a private folder on disk
--temp DIR  where rows beyond --memory go, in a private folder (default: the system's)
--threads N <0..65536 default=1>  how many threads (default: 1; 0: all)

[options: the program]
-V --version  print the version
--print-completion bash|zsh  print a script for tab completion. Use it by: eval "$(fastexp
    --print-completion bash)"

[help: the program, study, every command]
-h --help  show the usual options
--help-all  show all options, and more about them
"""


class Option(NamedTuple):
    """One option."""

    names: list[str]  # as it is typed: one, or a short and a long one; none of what needs none
    value: str  # what its value is called; "" of a flag; words with | are all that it may be
    help: str  # sentences; the first is enough on a short screen
    read: Callable[[str], Any] = str  # the text of a value to the value
    lists: str = ""  # what it takes several of: "", "pair", "numbers" or "words"
    either: str = ""  # of those with the same word at most one is given; with a "!" in it, one
    default: Any = None  # the value if it is not given
    implied: Any = None  # the value if it is given without one
    needed: bool = False  # whether it must be given

    @property
    def dest(self) -> str:
        """Its attribute."""
        return [self.value, *self.names][-1].lstrip("-").replace("-", "_").lower()

    @property
    def choices(self) -> list[str] | None:
        """All that its value may be; None if there is no such list."""
        return self.value.split("|") if "|" in self.value else None

    @property
    def short(self) -> str:
        """The first sentence of its help."""
        return self.help.partition(". ")[0]


READERS: dict[str, Callable[[str], Any]] = {  # besides those of `values`
    "count": values.whole(1, 10**9),
    "seed": values.whole(0, 2**128 - 1),
    "formats": values.among("svg", "png", "pdf"),
    "commands": values.among(*ANSWERS),
}


@cache
def sections(command: str) -> dict[str, list[Option]]:
    """The options that a command has, by heading; those of "" are the program's own."""
    options: dict[str, list[Option]] = {}
    for section in re.split(r"\n(?=\[)", TEXT.strip()):
        head, _, text = section.strip().partition("\n")
        heading, _, commands = head.strip("[]").partition(": ")
        row = table.COMMANDS.get(command) if commands == "own" else None
        if row is not None:
            text = (row.which if heading == "the public answers" else row.privacy).strip()
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
