"""The commands and their options, as plain data: help is printed without NumPy."""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """The command of one mechanism."""

    mechanism: str  # its public name
    about: str  # what the command answers
    parameters: str  # the options that are its parameters; digits stands for a grid
    needs: str  # of these one each: a|b
    example: str


NUMBERS = "bounds step grid digits neighbors"
GRID = "bounds|grid|digits"
AGES = "--bounds 0 99 --step 1"
MECHANISMS = {
    "median": Row("Median", "the median of a column", f"{NUMBERS} convention", GRID, AGES),
    "quantile": Row(
        "Quantile",
        "a quantile of a column",
        f"q {NUMBERS} convention",
        f"q {GRID}",
        f"--q 0.9 {AGES}",
    ),
    "quantiles": Row(
        "Quantiles",
        "several quantiles of a column",
        f"q count {NUMBERS}",
        f"q|count {GRID}",
        f"--count 9 {AGES}",
    ),
    "price": Row(
        "Price",
        "a price of high revenue, for a column of bids",
        "bounds step scaling",
        "bounds step",
        "--bounds 0 50 --step 0.5",
    ),
    "select": Row(
        "MostCommon",
        "the most common of public candidates in a column",
        "candidates neighbors",
        "candidates",
        "--candidates tea,coffee",
    ),
}
ALWAYS = "file column epsilon"
NEEDS = {
    "by": "groups",
    "groups": "by",
    "max_groups": "by",
    "budget": "label",
    "label": "budget",
    "delta": "groups_epsilon",
    "groups_epsilon": "delta",
}
QUERY = "by groups person max_groups max_rows membership"
CSV = "delimiter encoding decimal missing"
SHARED = "file column epsilon nan delta groups_epsilon budget label check output json accuracy "
SHARED += f"{QUERY} {CSV}"
COMMANDS = {  # others: what they do, an example, their options
    "budget": (
        "a budget file, which releases charge: create it or show it",
        "FILE [--epsilon 1]",
        "file epsilon rho delta neighbors log json",
    ),
    "demo": ("a short story on real data", "", ""),
}
COMMON = "column q count candidates bounds step epsilon rho by groups person budget label log "
COMMON += "check output json accuracy"  # in the short help

# The form of the value, two blanks, and the help; its first sentence is the short help.
OPTIONS = {
    "file": "FILE  a .csv, .tsv, .parquet or .arrow file, - for CSV of stdin, or a budget",
    "column": "C  the column of FILE with the records",
    "candidates": "LIST  the public candidates: A,B,C, or a file",
    "q": "Q  a quantile, 0.9 or 1/3, or for quantiles several: 0.1,0.5,0.9",
    "count": "N  so many evenly spaced quantiles: 9 gives the deciles",
    "bounds": "A B  the lowest and the highest answer, public: numbers, or dates as 2024-12-31. "
    "Choose them without looking at FILE: records outside count as the nearest one",
    "step": "X  the distance between answers, such as 1 for ages. It divides the bounds; it "
    "should be that of the records, if they are rounded (default, but not of prices: 2^40 answers)",
    "grid": "LIST  instead of bounds: all answers, increasing, 0,10,50, or a file",
    "digits": "N  if you know no bounds: answers of so many significant digits",
    "convention": "weak|lower|upper  what counts as the median if their number is even",
    "scaling": "tight|textbook  whether epsilon is used fully, or half (default: tight)",
    "epsilon": "X  the privacy loss in nats: smaller is more private. Of each answer; if a person "
    "can have several groups or rows, the total is as many times larger, and is printed",
    "rho": "X  instead of epsilon: a limit of zero-concentrated privacy",
    "neighbors": "add-remove|replace  what a person may do: join or leave, or change. Default: add-"
    "remove",
    "nan": "raise|drop|lower|upper  missing records: refuse them (default; that depends on the "
    "data), leave them out, or count them at a bound",
    "by": "C,C  one answer for each group, as these columns say",
    "groups": "LIST  the public list of groups: A,B,C, or a file. With 'private' there is none: a "
    "private rule selects groups with enough persons. 'from-data' takes all, which breaks"
    " the promise",
    "delta": "X  the largest probability that a promise fails. With private groups: 1e-8",
    "groups_epsilon": "X  with private groups: the privacy loss of which groups appear",
    "person": "C  the column with the person of each row",
    "max_groups": "N  the most groups in which a person counts (default: 1)",
    "max_rows": "N  the most rows of a person that count in a group (default: 1)",
    "membership": "private|public  whether a person may also change the group",
    "budget": "FILE  charge this file. Make it with: fastexp budget FILE --epsilon X",
    "label": "LABEL  the name of this release in the budget. The budget keeps the answers under it:"
    " the same command prints them again at no cost. {date} in it stands for today; "
    "other braces are refused",
    "check": "  print what would be promised and charged. FILE is not opened",
    "log": "  print all charges",
    "output": "OUT  write the answers to a new file. It ends in .csv, .tsv, .parquet or .arrow, "
    "and {date} in it stands for today",
    "json": "  print JSON",
    "accuracy": "  NOT PRIVATE: print exact expected errors instead. Nothing is released",
    "delimiter": "CHAR  the delimiter of CSV. Default: a comma; of .tsv a tab",
    "encoding": "NAME  the encoding of CSV, such as cp1252. Default: utf-8",
    "decimal": ".|,  the decimal point of CSV",
    "missing": "LIST  texts of CSV that mean a missing value, such as ?,-",
}
LISTS = (
    "A LIST is A,B,C (quote an entry with a comma or outer blanks; one entry is A,),\n"
    "a text file with one a line (quotes around a whole line are dropped), or a table\n"
    "(.csv, .parquet) with columns of the same names, as groups of several columns\n"
    "need. If FILE is CSV, entries are text, as its cells are written; else whole\n"
    "numbers, dates and true, false are read as such, but cells of a .csv as text.\n"
    "Lists are public: choose them without looking at FILE."
)
EXITS = (
    "\nexit codes: 0 done; 1 a failure, such as a closed output; 2 a mistake, nothing\n"
    "charged; 3 more than remains, nothing charged; 4 charged, no answers; 130, 143\n"
    "interrupted, terminated. Answers go to stdout, all else to stderr."
)
WHY = {
    "bounds": "the lowest and the highest answer\n"
    "why:  bounds taken from the data show the records of two persons\n"
    "do:   choose them by what the numbers mean: for ages --bounds 0 120 --step 1\n"
    "else: --digits 3, if you know none; --grid lists the answers themselves",
    "candidates": "the public list to select from\n"
    "why:  a list made from the data shows that somebody with a rare value took part\n"
    "do:   take it from the form or code book, as in --candidates yes,no,unknown;\n"
    "      candidates that nobody has do no harm",
    "groups": "the public list of groups\n"
    "why:  which groups occur in the data may be private\n"
    "do:   take it from a register, as in --groups Rome,Oslo or --groups towns.txt\n"
    "else: --groups private, and --delta and --groups-epsilon, if there is no list",
}
