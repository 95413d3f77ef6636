"""The commands of the command line, in the groups that share options, and each option once."""

from __future__ import annotations

from typing import NamedTuple

from fastexp.cli.options.command_table import COMMANDS, COUNTS, GRID, GROUPS, KEYS
from fastexp.cli.options.option_table import ANSWERS, HELP, NUMBERS, Option, sections


class Entry(NamedTuple):
    """An option, and the commands of a group that have it."""

    option: Option
    commands: list[str]


class Group(NamedTuple):
    """Commands that are described together."""

    title: str
    commands: tuple[str, ...]
    remarks: tuple[str, ...] = ()

    def entries(self) -> dict[str, list[Entry]]:
        """By heading, the options; that of help, which all have, is the program's."""
        entries: dict[str, list[Entry]] = {}
        for command in self.commands:
            for heading, options in sections(command).items():
                if heading == HELP and command:
                    continue
                for option in options:
                    known = entries.setdefault(heading, [])
                    same = [entry for entry in known if entry.option == option]
                    if same:
                        same[0].commands.append(command)
                    else:
                        known.append(Entry(option, [command]))
        return entries

    def facts(self, entry: Entry) -> list[str]:
        """Which commands have an option, if not all of the group, and whether it is needed."""
        option = entry.option
        facts = []
        if len(entry.commands) < len(self.commands):
            facts.append(f"of {', '.join(entry.commands)}")
        alternatives = " or ".join(
            other.names[0]
            for options in sections(entry.commands[0]).values()
            for other in options
            if option.either and other.either == option.either and other != option
        )
        if option.needed or not option.names:
            facts.append("needed")
        elif option.either.endswith("!"):
            facts.append(f"this or {alternatives} is needed")
        elif alternatives:
            facts.append(f"not with {alternatives}")
        return facts


def groups() -> list[Group]:
    """All commands, in the order of the program's own list."""
    names = ", ".join(NUMBERS[:-1])
    shared = Group(f"fastexp {names}, {NUMBERS[-1]}, select", ANSWERS, (GRID, COUNTS, GROUPS, KEYS))
    others = [
        Group(f"fastexp {name}", (name,), (command.more,) if command.more else ())
        for name, command in COMMANDS.items()
        if name not in ANSWERS
    ]
    return [Group("The program", ("",)), shared, *others]


def target(command: str, name: str) -> str:
    """The anchor of an option of a command."""
    words = ["fastexp", *command.split(), name.lstrip("-").lower()]
    return "-".join(words)
