"""The command ``fastexp``: it charges before it reads, and keeps answers before it prints them."""

from __future__ import annotations

import os
import re
import sys
from argparse import Namespace
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

from ..errors import BudgetError, BudgetExceeded, FastexpError, OutputError
from . import table
from .parser import nearest, option, read
from .watch import Watch, charged, note

OK, FAILURE, MISTAKE, NO_ROOM, NO_ANSWERS = range(5)
TERMS = {  # of messages of the package
    "frame must": "FILE must",
    "path must be that of a file": "FILE must be the path of a file",
    "say by nan": "say by --nan",
    "see missing and decimal of CSV": "see --missing and --decimal",
    "see encoding": "see --encoding",
    "convert it, got": "convert it, or give a list with types, as .parquet; got",
    "use Budget(epsilon=..., delta=...)": "fastexp budget FILE --epsilon E --delta D makes one",
}
COLUMN = re.compile(r"frame must have each column once, got (\w+ columns?) (.*?): (.*)")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    if arguments is None:  # a process of its own, which PyArrow would make half a second slower
        sys.meta_path.insert(0, SimpleNamespace(find_spec=_without_pandas))  # type: ignore[arg-type]
    if sys.stdout is None:
        note("fastexp: error: there is no stdout")
        return FAILURE
    with Watch() as watch:
        try:
            watch.options = read(sys.argv[1:] if arguments is None else arguments)
            if watch.options is not None:
                sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
                _run(watch.options)
            sys.stdout.flush()
        except KeyboardInterrupt:
            code, text = 128 + watch.number, "interrupted"
        except Exception as error:
            code, text = _told(error)
            if isinstance(error, OSError) and not isinstance(error, FastexpError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # drops the rest
        else:
            return OK
        if code in (FAILURE, 128 + watch.number):
            with suppress(FastexpError):
                text += f"; {charged(watch.options)}"
        note(f"fastexp: {text}")
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


def _told(error: Exception) -> tuple[int, str]:
    """Return the exit code of an error, and its message, if it holds no data by construction."""
    if isinstance(error, FastexpError):
        text, notes = _in_terms(str(error)), getattr(error, "__notes__", [])
        is_late = isinstance(error, OutputError) and error.answers is not None
        code = FAILURE if is_late or type(error) is BudgetError else MISTAKE
        code = NO_ROOM if isinstance(error, BudgetExceeded) else NO_ANSWERS if notes else code
        return code, "\n".join([f"error: {text}", *notes])
    if isinstance(error, OSError):
        return FAILURE, f"error: a file could not be read or written: {error.strerror}"
    if isinstance(error, MemoryError):
        return FAILURE, "error: there is not enough memory"
    if isinstance(error, ImportError) and error.name:
        package = error.name.partition(".")[0]
        return FAILURE, f"error: {package} is needed: pip install {package}"
    trace, place = error.__traceback__, ""
    while trace is not None:
        path = Path(trace.tb_frame.f_code.co_filename)
        place = f" at {path.name}:{trace.tb_lineno}" if "fastexp" in path.parts else place
        trace = trace.tb_next
    kind = type(error).__name__
    return FAILURE, f"error: unexpected {kind}{place}; its message is withheld: it may hold data"


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
