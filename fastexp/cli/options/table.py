"""Every option of the command line, once. The first sentence of its help is its short help."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from . import values

NUMBERS = ("median", "quantile", "maximum", "mode", "price")
ANSWERS = (*NUMBERS, "select")
RUNS = ("study run", "study resume")
EVERY = (
    *(*ANSWERS, "release", "budget", "key"),
    *("study list", *RUNS, "study report", "demo", "warmup", "info"),
)
COMMON = {  # of ANSWERS: what the short help has; that of other commands has all
    *("file", "column", "candidates", "q", "bounds", "step", "epsilon", "by", "groups"),
    *("budget", "label", "output", "law"),
}
HELP = "help"  # the heading of what every command has
MOST_DRAWS = 10**9  # 8 GB of indices


class Option(NamedTuple):
    """One option.

    Attributes
    ----------
    usage : str
        Its name and its value as they are typed: ``--by C[,C]``; of a flag its name; of what
        needs no name a word in capitals. Words with | between them are all that a value may be.
    help : str
        Sentences; the first is enough on a short screen.
    read : callable
        The text of a value to the value.
    only : tuple of str
        The commands that have it; default: those of its section.
    lists : {"", "pair", "numbers", "words"}
        What it takes several of.
    either : str
        Of the options with the same word at most one is given; of those with a "!" in it, one.
    default, implied : object
        The value if it is not given, and if it is given without one.
    needed : bool
        Whether it must be given.
    """

    usage: str
    help: str
    read: Callable[[str], Any] = str
    only: tuple[str, ...] = ()
    lists: str = ""
    either: str = ""
    default: Any = None
    implied: Any = None
    needed: bool = False

    @property
    def names(self) -> list[str]:
        """As it is typed: one name, or a short and a long one; none of what needs no name."""
        return [word for word in self.usage.split() if word.startswith("-")]

    @property
    def value(self) -> str:
        """What its value is called; "" of a flag."""
        return " ".join(word for word in self.usage.split() if not word.startswith("-"))

    @property
    def dest(self) -> str:
        """Its attribute."""
        return [self.value, *self.names][-1].lstrip("-").replace("-", "_").lower()

    @property
    def choices(self) -> list[str] | None:
        """All that its value may be; None if there is no such list."""
        return self.value.split("|") if "|" in self.value else None


class Section(NamedTuple):
    """Options under a heading, of some commands."""

    heading: str
    commands: tuple[str, ...]
    options: tuple[Option, ...]


TABLE = (
    Section(
        "data",
        ANSWERS,
        (
            Option("FILE", "CSV, Parquet, JSON lines or .npy; - is CSV on stdin"),
            Option("--column C", "the column of FILE that is asked about (.npy has none)"),
            Option(
                "--delimiter D",
                "between the cells of CSV. Default: a comma; tab for a tab",
                values.delimiter,
            ),
            Option(
                "--nan raise|drop|lower|upper",
                "missing records: refuse them (default; outside the promise, as it depends on the"
                " data), leave them out, or take them as the lower or upper bound",
                default="raise",
                only=NUMBERS,
            ),
        ),
    ),
    Section(
        "the public answers",
        NUMBERS,
        (
            Option(
                "--q Q",
                "which quantile: a decimal or a fraction, as 0.9 or 1/3",
                values.quantile,
                needed=True,
                only=("quantile",),
            ),
            Option(
                "--bounds A B",
                "the lowest and the highest answer. With --grid: its ends, if not given",
                values.pair,
                lists="pair",
            ),
            Option(
                "--step S",
                "from one answer to the next. It divides B - A (default: 2^40 steps)",
                values.exact,
                either="grid",
            ),
            Option(
                "--grid LIST",
                "the answers themselves, increasing: 0,10,50,100, or a file of numbers (text, "
                ".npy)",
                lists="numbers",
                either="grid",
            ),
            Option(
                "--candidates LIST",
                "what can be selected: A,B,C or a file with one a line. Or a column of a file "
                "(parties.csv:party). It is public: choose it without looking at FILE; quote what"
                " has a comma: '\"a, b\",c'; from-data takes it from FILE, which breaks the promise"
                " of privacy",
                lists="words",
                only=("select",),
            ),
            Option(
                "--utilities",
                "FILE (CSV) has two columns, candidate and utility; the candidates in it are "
                "public, higher utilities are better; needs --sensitivity",
                only=("select",),
            ),
        ),
    ),
    Section(
        "privacy",
        ANSWERS,
        (
            Option(
                "--epsilon E",
                "how private each answer is, in nats: smaller is more. Where a person can be in "
                "several groups or rows, all answers together cost as many times as much, as is "
                "said",
                values.decimal,
                either="epsilon!",
            ),
            Option(
                "--total-epsilon E",
                "of all answers together, instead: each gets its share",
                values.decimal,
                either="epsilon!",
            ),
            Option(
                "--neighbors add-remove|replace",
                "what one person may do to the records: join or leave (default), or change theirs",
                only=("median", "quantile", "select"),
            ),
            Option(
                "--convention weak|lower|upper|strict",
                "which answers are right: at most half of the records on either side (weak, "
                "default), the lower or the upper middle record, or the one that is both",
                only=("median",),
            ),
            Option(
                "--convention weak|lower",
                "which answers are right: at most the due share of the records on either side "
                "(weak, default), or that record of the data alone",
                only=("quantile",),
            ),
            Option(
                "--widen W",
                "an answer counts as the best one within W of it: for equal records on a grid "
                "finer than the data",
                values.exact,
                only=("median", "quantile", "maximum", "mode"),
            ),
            Option(
                "--scaling tight|textbook",
                "tight (default): all of epsilon is used; textbook: as tutorials do, which "
                "promises epsilon / 2 at the accuracy of epsilon / 2",
                only=("price",),
            ),
            Option(
                "--sensitivity S",
                "with --utilities: the most that one record changes the utility of any one "
                "candidate",
                values.decimal,
                only=("select",),
            ),
            Option(
                "--monotonic",
                "with --utilities: one record moves no two utilities in opposite directions",
                only=("select",),
            ),
            Option(
                "--mechanism exponential|permute-and-flip|top-k",
                "exponential (default); permute-and-flip: more accurate for the same epsilon, but"
                " costs more rho; top-k: the --k best in order, epsilon for all together",
                default="exponential",
                only=("select",),
            ),
            Option(
                "--k K",
                "with top-k: how many are selected",
                values.whole(1, MOST_DRAWS),
                only=("select",),
            ),
            Option(
                "--delta D",
                "with top-k: (epsilon, delta) instead of epsilon",
                values.decimal,
                only=("select",),
            ),
            Option("--any-epsilon", "lift the limits on epsilon, [1e-9, 1e6]"),
        ),
    ),
    Section(
        "answers by group, and persons",
        ANSWERS,
        (
            Option(
                "--by C[,C]",
                "one answer a group: the columns that say which group a row is of",
                values.names,
                lists="words",
            ),
            Option(
                "--groups LIST",
                "the public list of groups: A,B,C or a file with one a line. Or columns of a file"
                " (cities.csv:city). Of one name: A,; from-data takes those that FILE has, which "
                "breaks the promise of privacy",
                lists="words",
            ),
            Option(
                "--person C",
                "the column that says whose a row is: what a person has beyond the two limits "
                "does not count. Without it the limits are your claim",
            ),
            Option(
                "--max-groups N",
                "in how many groups one person is, at most (default: 1)",
                values.whole(1, 10**9),
            ),
            Option(
                "--max-rows N",
                "how many rows of theirs each group has, at most (default: 1)",
                values.whole(1, 10**9),
            ),
            Option(
                "--membership private|public",
                "where a person may change (neighbors replace): whether their group may, too "
                "(default: private)",
            ),
        ),
    ),
    Section(
        "paying and keeping",
        ANSWERS,
        (
            Option(
                "--budget FILE",
                "charge the release to this file, and never overspend it. Made by: fastexp budget"
                " FILE --epsilon E",
            ),
            Option(
                "--label NAME",
                "call the release so: run again, it repeats and is free. The budget file keeps "
                "its answers: the same command with the same label gives them without a look at "
                "FILE. Without a label every run is charged",
            ),
            Option(
                "--note TEXT",
                "a line of your own for the log of the budget (fastexp budget FILE --log). It is "
                "not private",
            ),
            Option(
                "--key FILE",
                "a release key (fastexp key FILE): a retry repeats answers, under --label, if the"
                " records are what they were",
            ),
            Option(
                "--output OUT",
                "write the answers to a .parquet, .csv or .json file. Its place is made before "
                "anything is charged",
            ),
            Option(
                "--force", "replace OUT if it exists", default=False, only=(*ANSWERS, "release")
            ),
        ),
    ),
    Section(
        "instead of a release, not private",
        ANSWERS,
        (
            Option("--law", "the exact law of the answers instead: not private", either="kind"),
            Option(
                "--draws N",
                "N simulated draws beside the exact law",
                values.whole(1, MOST_DRAWS),
                either="kind",
            ),
            Option(
                "--accuracy", "how wrong the answers are, exactly, of each group", either="kind"
            ),
            Option("--seed S", "with --draws: the same draws again", values.whole(0, 2**128 - 1)),
            Option("--plot PNG", "with --law or --draws: a picture (.png, .svg, .pdf)"),
        ),
    ),
    Section(
        "a publication",
        ("release",),
        (
            Option(
                "PUBLICATION", "a .toml file: source, query, answers, budget, label, output, key"
            ),
            Option(
                "--check",
                "print the promise of each answer, the total and the groups. Neither source nor "
                "key are opened, nothing is drawn or charged",
            ),
            Option(
                "--like FILE",
                "with --check: how accurate it would be on this public file. It has the same "
                "columns as the source and holds nobody's data",
            ),
        ),
    ),
    Section(
        "a budget",
        ("budget",),
        (
            Option("FILE", "the budget file"),
            Option(
                "--epsilon E", "the limit, in nats of pure privacy", values.decimal, either="limit"
            ),
            Option(
                "--rho R", "the limit, of zero-concentrated privacy", values.decimal, either="limit"
            ),
            Option(
                "--delta D",
                "with --epsilon: the limit of delta (default: 0)",
                values.decimal,
                default=0.0,
            ),
            Option(
                "--neighbors add-remove|replace",
                "the relation that is counted. Default: the file's; add-remove for a new one",
            ),
            Option("--log", "what was charged, when, for which query, label and note"),
        ),
    ),
    Section("a key", ("key",), (Option("FILE", "is created, readable by you alone"),)),
    Section(
        "a study",
        RUNS,
        (
            Option("STUDY", "a name of the list, or a .toml or .json file", only=("study run",)),
            Option("FOLDER", "the --out of the run", only=("study resume", "study report")),
            Option(
                "--out DIR", "a new folder for the results, kept as they come", only=("study run",)
            ),
            Option(
                "--datasets N",
                "data sets of each kind and size",
                values.whole(1, 10**9),
                only=("study run",),
            ),
            Option(
                "--draws N",
                "draws for each data set; 0: exact figures only",
                values.whole(0, MOST_DRAWS),
                only=("study run",),
            ),
            Option(
                "--seed S",
                "of all data sets and draws",
                values.whole(0, 2**128 - 1),
                only=("study run",),
            ),
            Option(
                "--format F",
                "of the figures' files: svg (default), png, pdf",
                values.among("svg", "png", "pdf"),
                lists="words",
                only=("study report",),
            ),
            Option(
                "--output DIR", "where to (default: into the same folder)", only=("study report",)
            ),
            Option(
                "--executor threads|processes|dask",
                "where it runs (default: threads); dask needs fastexp[distributed]",
                default="threads",
            ),
            Option("--workers N", "how many (default: one a CPU)", values.whole(0, 4096)),
            Option(
                "--scheduler ADDRESS",
                "with dask: a running scheduler, as tcp://HOST:PORT. Default: workers on this "
                "machine",
            ),
        ),
    ),
    Section(
        "what it does",
        ("demo", "warmup"),
        (
            Option(
                "--records marital-status|age|bid",
                "print its records as CSV instead",
                implied="marital-status",
                only=("demo",),
            ),
            Option(
                "--image",
                "keep them for every user of an image. They go to share/fastexp below Python's "
                "prefix",
                only=("warmup",),
            ),
        ),
    ),
    Section(
        "output and machine",
        ANSWERS,
        (
            Option("--json", "one JSON object on stdout", only=EVERY),
            Option(
                "-q --quiet",
                "nothing on stderr but warnings and errors",
                only=(*ANSWERS, "release", *RUNS),
            ),
            Option(
                "--memory SIZE",
                "for rows, as 500MB or 2GB (default: half of what is free); beyond it they go to "
                "a private folder on disk",
                values.size,
            ),
            Option("--temp DIR", "where that folder is made (default: the system's)"),
            Option(
                "--threads N", "how many (default: 1; 0: all)", values.whole(0, 1 << 16), default=1
            ),
        ),
    ),
    Section(
        "the program",
        ("",),
        (
            Option("--version", "print the version"),
            Option(
                "--print-completion bash|zsh",
                'print what completes commands and options: eval "$(fastexp --print-completion '
                'bash)"',
            ),
        ),
    ),
    Section(
        HELP,
        ("", "study", *EVERY),
        (
            Option("-h --help", "the usual options"),
            Option("--help-all", "all options, and more about them"),
        ),
    ),
)


def sections(command: str) -> dict[str, list[Option]]:
    """The options that a command has, by heading."""
    listed = {
        section.heading: [o for o in section.options if command in (o.only or section.commands)]
        for section in TABLE
    }
    return {heading: options for heading, options in listed.items() if options}
