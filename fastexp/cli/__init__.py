"""The command ``fastexp``: it charges before it reads, and keeps answers before it prints them."""

from __future__ import annotations

import os
import re
import sys
from argparse import Namespace
from collections.abc import Sequence
from contextlib import suppress
from types import SimpleNamespace

from ..errors import BudgetError, BudgetExceeded, FastexpError, OutputError
from . import table
from .parser import nearest, option, read
from .watch import NOTHING, Watch, charged, note

OK, FAILURE, MISTAKE, NO_ROOM, NO_ANSWERS, INTERRUPTED = range(6)
TERMS = {  # of messages of the package
    "frame must": "FILE must",
    "path must be that of a file": "FILE must be the path of a file",
    "Budget.file(path, epsilon=...) makes one": "fastexp budget FILE --epsilon X makes one",
    "give nan='drop', 'lower' or 'upper'": "give --nan drop, lower or upper",
    "see missing and decimal of CSV": "see --missing and --decimal",
    "one for each of by": "one for each of --by: give a table with these columns",
    "or give datetimes as bounds and step=timedelta(days=1)": "convert the column",
    "see encoding": "see --encoding",
    ", and step a duration, as timedelta(hours=1), all of them whole days": ", and dates take no "
    "--step",
    "convert it, got": "convert it, or give a list with types, as .parquet; got",
    "sample shows its answers": "use fastexp quantile for each q",
    "q must be a number, got list": "q must be one number, as 0.9: for several use fastexp "
    "quantiles",
    "must be a sequence of quantiles": "must be several, as 0.1,0.9: for one use fastexp quantile",
    "neighbors must be 'replace', got 'add-remove', for which the promise does not hold": "--"
    "neighbors must be 'add-remove', as that of the budget, got 'replace'",
    "got step 1 day, 0:00:00, bounds": "got",
    "use Budget(epsilon=..., delta=...)": "fastexp budget FILE --epsilon X --delta X makes one",
}
COLUMN = re.compile(r"frame must have each column once, got (no columns?) (.*?): (.*)")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    if arguments is None:  # a process of its own, which PyArrow would make half a second slower
        sys.meta_path.insert(0, SimpleNamespace(find_spec=_without_pandas))
    code = OK
    with Watch() as watch:
        try:
            watch.options = read(sys.argv[1:] if arguments is None else arguments)
            if sys.stdout is None:
                raise OutputError("there is no stdout")
            if watch.options is not None:
                sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
                _run(watch.options)
            sys.stdout.flush()
        except (Exception, KeyboardInterrupt) as error:
            watch.ignore()
            outcome = NOTHING
            with suppress(Exception):  # of a budget that cannot be read
                outcome = charged(watch.options)
            code, text = _told(error, outcome)
            note(f"fastexp: {text}")
    if code == INTERRUPTED:
        code = 128 + watch.number
    if arguments is None:  # threads of PyArrow may abort an orderly end
        with suppress(OSError, AttributeError):  # of a full disk, or without stdout
            sys.stdout.flush()
        os._exit(code)
    return code


def _without_pandas(name: str, *_: object) -> None:
    if name == "pandas":
        raise ModuleNotFoundError


def _run(options: Namespace) -> None:
    if options.version:
        import numpy as np

        from .. import __version__
        from ..kernels.jit import MODE, MODULE

        level = f", level {MODULE.LEVEL}" if MODULE else ""
        print(f"fastexp {__version__}, NumPy {np.__version__}, kernels {MODE}{level}")
    elif options.command == "demo":
        from .demo import demo

        demo()
    else:
        from . import answer

        (answer.show_budget if options.command == "budget" else answer.answer)(options)


def _told(error: BaseException, outcome: str) -> tuple[int, str]:
    """Return the exit code of an error, and its message, if it holds no data by construction."""
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED, f"interrupted; {outcome}"
    if isinstance(error, FastexpError):
        code, notes = MISTAKE, getattr(error, "__notes__", [])
        is_late = isinstance(error, OutputError) and error.answers is not None
        if is_late or (type(error) is BudgetError and outcome != NOTHING):
            code, notes = FAILURE, [outcome]
        elif isinstance(error, BudgetExceeded):
            code = NO_ROOM
        elif notes:
            code = NO_ANSWERS
        return code, "\n".join([f"error: {_in_terms(str(error))}", *notes])
    if isinstance(error, OSError):
        text = f"a file could not be read or written: {error.strerror}"
    else:
        text = f"unexpected {type(error).__name__}; its message is withheld: it may hold data"
    return FAILURE, f"error: {text}; {outcome}"


def _in_terms(text: str) -> str:
    """Return a message of the package in the words of the command line."""
    if found := COLUMN.fullmatch(text):
        what, name, some = found.groups()
        known = re.findall(r"'(.*?)'(?:, |$)", some)
        near = nearest(name[1:-1], known)
        if len(known) == 1 and set(known[0]) & set(",;|\t"):
            near = "; is another delimiter between its columns? see --delimiter"
        return f"FILE has {what} {name}: {some}{near}"
    for term, ours in TERMS.items():
        text = text.replace(term, ours)
    first, _, rest = text.partition(" ")
    return f"{option(first)} {rest}" if first in table.OPTIONS and first != "file" else text
