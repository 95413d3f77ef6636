"""Command lines as options, and the help."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import date
from functools import partial
from typing import Any, NoReturn

from ..errors import ParameterError
from . import table

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
FRACTION = re.compile(r"\d{1,18}/0*[1-9]\d{0,17}", re.ASCII)
FORM = partial(argparse.RawDescriptionHelpFormatter, max_help_position=24, width=80)


class Parser(argparse.ArgumentParser):
    """A parser whose mistakes are `ParameterError`."""

    def error(self, message: str) -> NoReturn:
        """Refuse a command line."""
        message = re.sub(r"^argument (\S+): ", r"\1 ", message)
        message = message.replace("invalid int value:", "must be an integer, got")
        message = message.replace("expected 2 arguments", "needs two numbers: --bounds 0 120")
        unknown = re.search(r"invalid choice: '(.*?)'", message)
        near = nearest(unknown[1], re.findall(r"'?([\w-]+)'?[,)]", message)) if unknown else ""
        raise ParameterError(message + near)


def read(words: Sequence[str]) -> argparse.Namespace | None:
    """Return the options of a command line; None if it wants help, which is printed."""
    try:
        options, unknown = _parser("--help-all" in words).parse_known_args(words or ["--help"])
    except SystemExit:
        return None
    if unknown:
        name = unknown[0].partition("=")[0]
        near = "; a LIST has commas: A,B,C"
        if name.startswith("-"):
            bare, known = name.lstrip("-").replace("-", "_"), [*vars(options)]
            alike = [x for x in known if x.startswith(bare) or bare.endswith(x)]
            near = nearest(name, [*map(option, alike or known)], 0 if alike else 0.75)
        raise ParameterError(f"there is no option {name!r} here" + near)
    given = [word.partition("=")[0] for word in words if word.startswith("--")]
    if twice := {name for name in given if given.count(name) > 1}:
        raise ParameterError(f"{min(twice)} is given twice: give it once, and a list as A,B")
    return options


def option(name: str) -> str:
    """Return an option as it is written."""
    return "FILE" if name == "file" else "--" + name.replace("_", "-")


def nearest(word: str, known: list[str], cutoff: float = 0.6) -> str:
    """Return the end of a message about an unknown word: empty if no known one is similar."""
    from difflib import get_close_matches

    near = get_close_matches(word[:99], known, 1, cutoff)
    return f"; did you mean {near[0]!r}?" if near else ""


def _parser(is_full: bool) -> Parser:
    about = "Exact private answers by the exponential mechanism of differential privacy."
    top = Parser("fastexp", description=about, formatter_class=FORM, allow_abbrev=False)
    top.epilog = "fastexp COMMAND --help shows the usual options of a command.\n" + table.EXITS
    top.add_argument("--help-all", action="help", help=argparse.SUPPRESS)
    top.add_argument("--version", action="store_true", help="print versions")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for name, row in table.MECHANISMS.items():
        names = f"{row.parameters} {table.SHARED}".split()
        usage = f"FILE --column age --epsilon 0.5 \\\n    {row.example}"
        _add(commands, name, row.about, usage, sorted(names, key=[*table.OPTIONS].index), is_full)
    for name, (about, usage, options) in table.COMMANDS.items():
        _add(commands, name, about, usage, options.split(), is_full)
    return top


def _add(
    commands: Any, command: str, about: str, usage: str, names: list[str], is_full: bool
) -> None:
    """Add a command; the first sentence of an option's help is its short help."""
    child = commands.add_parser(
        command,
        help=about,
        description=about,
        usage=f"fastexp {command} {usage}",
        epilog=table.LISTS if is_full else None,
        formatter_class=FORM,
        allow_abbrev=False,
    )
    # These words are values and no options.
    child._negative_number_matcher = re.compile(r"-[\d.].*|-(inf|nan).*")
    more = ", as --nan, --missing, --encoding" * ("nan" in names)
    child.add_argument("--help-all", action="help", help=f"show all options{more}")
    for name in names:
        form, _, text = table.OPTIONS[name].partition("  ")
        short = text.partition(". ")[0] if name in table.COMMON.split() else argparse.SUPPRESS
        settings: dict[str, Any] = {"help": text if is_full else short}
        if not form:
            settings["action"] = "store_true"
        elif "|" in form:
            settings["choices"] = form.split("|")
        elif form == "A B":
            settings |= {"nargs": 2, "type": number, "metavar": ("A", "B")}
        else:
            settings |= {"type": READERS.get(form, str), "metavar": form}
        if name == "file":
            child.add_argument(name, nargs="?", **settings)
        else:
            child.add_argument(option(name), **settings)


def number(text: str) -> Any:
    """Return a number as it is written: an int, a float that prints so, a Decimal or a Fraction.

    A date is one of bounds; what takes numbers refuses it.
    """
    bare = text.strip()
    if FRACTION.fullmatch(bare):
        from fractions import Fraction

        return Fraction(bare)
    if not NUMBER.fullmatch(bare):
        with suppress(ValueError):
            return date.fromisoformat(bare)
        raise argparse.ArgumentTypeError(
            "must be a number with a point, as 12, 1e3 or 0.9 for 90% (or a bound as "
            f"2024-12-31), got {text!r}"
        )
    if bare.lstrip("+-").isdigit():
        return int(bare)
    from decimal import Decimal

    exact, rounded = Decimal(bare), float(bare)
    return rounded if Decimal(repr(rounded)) == exact else exact


def numbers(text: str) -> list[Any]:
    """Return numbers that commas separate."""
    return [number(part) for part in text.split(",")]


def dated(text: str) -> str:
    """Return a text with the date of today."""
    text = text.replace("{date}", f"{date.today()}")
    if "{" in text:
        raise argparse.ArgumentTypeError(f"may have {{date}} but no other brace, got {text!r}")
    return text


READERS = {"X": number, "N": int, "Q": numbers, "LABEL": dated, "OUT": dated}
