"""The parser: argparse with the table of options, and plain messages about misspelt words."""

from __future__ import annotations

import argparse
import re
import sys
from itertools import takewhile
from pathlib import Path
from typing import Any, NoReturn

from ... import __version__
from ..terminal.errors import MISTAKE, did_you_mean
from ..terminal.printing import note
from .command_table import below
from .option_table import ANSWERS, Option, sections
from .screens import screen
from .values import numbers

PLAIN = {  # messages of argparse, and what we say instead
    r"^the following arguments are required: (.*)$": r"\1 is needed",
    r"^one of the arguments (\S+) (\S+) is required$": r"\1 or \2 is needed",
    r"^(\S+): not allowed with argument (\S+)$": r"\1 does not go with \2",
}


class Parser(argparse.ArgumentParser):
    """The parser of a command: errors in one line, with the way to the help."""

    command = ""  # "" of the program itself

    @property
    def options(self) -> dict[str, Option]:
        """All options, by each of their names."""
        headings = sections(self.command).values()
        return {name: option for options in headings for option in options for name in option.names}

    def format_help(self) -> str:
        """Return the short help."""
        return screen(self.command, program())

    def parse_known_args(  # pyright: ignore[reportIncompatibleMethodOverride]  # it has overloads
        self, args: Any = None, namespace: Any = None
    ) -> Any:
        """Refuse misspelt words, join each list to one argument, and parse."""
        given = sys.argv[1:] if args is None else list(args)
        commands = below(self.command)
        if not commands:
            given = self._arranged(given)
        elif not given:
            given = ["--help"]
        elif given[0] == "help":  # `help COMMAND`, as in other programs
            given = [*given[1:], "--help"]
        elif _is_option(given[0]):
            self._option(given[0])
        elif given[0] not in commands:
            self.error(f"unknown command {given[0]!r}{did_you_mean(given[0], commands)}")
        return super().parse_known_args(given, namespace)

    def _option(self, word: str) -> Option:
        name = word.partition("=")[0]
        if name not in self.options:
            long = [known[2:] for known in self.options if known.startswith("--")]
            self.error(f"unknown option {name!r}{did_you_mean(name.lstrip('-'), long, '--')}")
        return self.options[name]

    def _arranged(self, given: list[str]) -> list[str]:
        """Return options, each with its value in one word, and then the argument without a name.

        A list may be several words. If these may be any words, FILE may be the last of them.
        """
        parts: list[list[str]] = []  # an option's name and its values
        bare: list[str] = []
        lists: list[list[str]] = []  # the parts of options whose values may be any words
        rest = list(given)
        while rest:
            word = rest.pop(0)
            if word == "--":
                bare += rest
                break
            if not _is_option(word):
                bare.append(word)
                continue
            option = self._option(word)
            part = [word]
            if option.value and "=" not in word:
                part += self._values(option, word, rest)
                del rest[: len(part) - 1]
            parts.append(part)
            if option.lists == "words":
                lists.append(part)
        if not bare and lists and len(lists[-1]) > 2:
            bare.append(lists[-1].pop())
        if len(bare) > 1:
            self.error(f"unexpected argument {bare[1]!r}: {bare[0]!r} stands there already")
        ready = [f"{name}={','.join(values)}" if values else name for name, *values in parts]
        return [*ready, "--", *bare] if bare else ready

    def _values(self, option: Option, name: str, rest: list[str]) -> list[str]:
        """Return the words that are the value of an option."""
        words = list(takewhile(lambda word: not _is_option(word), rest))
        if not words and option.implied is None:
            self.error(f"{name} needs a value (one that begins with - is written {name}=-...)")
        if option.lists == "pair" and words and "," not in words[0]:
            return words[:2]
        if option.lists == "numbers":
            return list(takewhile(numbers, words)) or words[:1]
        return words if option.lists == "words" else words[:1]

    def error(self, message: str) -> NoReturn:
        """Print what is wrong, and exit."""
        plain = message.removeprefix("argument ").replace(": must ", " must ", 1)
        for pattern, words in PLAIN.items():
            plain = re.sub(pattern, words, plain)
        note(f"{self.prog}: error: {plain}\nsee: {self.prog} --help")
        sys.exit(MISTAKE)


class _FullHelp(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        command = parser.command if isinstance(parser, Parser) else ""
        sys.stdout.write(screen(command, program(), full=True))
        parser.exit()


class _Completion(argparse.Action):
    def __call__(
        self,
        parser: argparse.ArgumentParser,
        _namespace: argparse.Namespace,
        shell: object,
        *_: object,
    ) -> None:
        from .completion import script

        sys.stdout.write(script(parser, str(shell)))
        parser.exit()


ACTIONS: dict[str, dict[str, Any]] = {  # options that act as soon as they are parsed
    "help": {"action": "help"},
    "help_all": {"action": _FullHelp, "nargs": 0},
    "version": {"action": "version", "version": f"fastexp {__version__}"},
    "print_completion": {"action": _Completion, "choices": ("bash", "zsh")},
}


def program() -> str:
    """Return the name of this program: ``fastexp`` or ``python -m fastexp``."""
    path = Path(sys.argv[0])
    is_module = path.name == "__main__.py" and path.parent.name == "fastexp"
    return "python -m fastexp" if is_module else "fastexp"


def build() -> Parser:
    """Build the parser; parsed options name the command, its module and its function."""
    top = Parser(prog=program(), add_help=False, allow_abbrev=False)
    _fill(top)
    return top


def _fill(parser: Parser) -> None:
    """Add the options and subcommands of a command."""
    either: dict[str, Any] = {}
    for options in sections(parser.command).values():
        for option in options:
            target: argparse._ActionsContainer = parser
            if option.either:
                needed = option.either.endswith("!")
                if option.either not in either:
                    either[option.either] = parser.add_mutually_exclusive_group(required=needed)
                target = either[option.either]
            _add(target, option)
    commands = below(parser.command)
    if not commands:
        return
    children = parser.add_subparsers(metavar="COMMAND", prog=parser.prog, required=True)
    for name, command in commands.items():
        child = children.add_parser(
            name, help=command.short, description=command.short, add_help=False, allow_abbrev=False
        )
        child.command = f"{parser.command} {name}".strip()
        child.set_defaults(module=command.module, function=command.function, command=name)
        if child.command in ANSWERS:
            child.set_defaults(**dict.fromkeys(_of_other_answers(child.command)))
        _fill(child)


def _of_other_answers(command: str) -> set[str]:
    """Return the options that only other commands about a column have: here they are None."""
    names = {
        answer: {option.dest for options in sections(answer).values() for option in options}
        for answer in ANSWERS
    }
    return set().union(*names.values()) - names[command]


def _add(target: argparse._ActionsContainer, option: Option) -> None:
    text = option.short  # for completion: argparse does not print the help
    if option.dest in ACTIONS:
        target.add_argument(*option.names, help=text, **ACTIONS[option.dest])
    elif not option.names:
        target.add_argument(option.dest, metavar=option.value, help=text)
    elif not option.value:
        target.add_argument(*option.names, action="store_true", help=text)
    else:
        target.add_argument(
            *option.names,
            type=option.read,
            choices=option.choices,
            metavar=option.value,
            default=option.default,
            nargs=None if option.implied is None else "?",
            const=option.implied,
            required=option.needed,
            help=text,
        )


def _is_option(word: str) -> bool:
    """Whether a word is an option; "-", negative numbers and texts with blanks are not."""
    return word.startswith("-") and word != "-" and " " not in word and not numbers(word)
