"""Screens of help, 80 columns wide: a short one that fits a terminal, and a full one."""

from __future__ import annotations

import textwrap

from .command_table import ABOUT, COMMANDS, ENDINGS, Command, below
from .option_table import ANSWERS, COMMON, FURTHER, HELP, Option, sections

WIDTH, INDENT = 80, 20
FULL = {  # what the full help of a command has beside options
    "release": "A publication to start from, and all options"
}


def screen(name: str, program: str, full: bool = False) -> str:
    """The help of a command, as ``study run``, or of the program itself: "".

    `program` is the program's name; the full help has all options and remarks.
    """
    blocks = _head(name, program)
    if below(name):
        blocks.append(_commands(below(name)))
    headings = sections(name)
    if full:
        blocks += [f"{heading}:\n{_rows(options, full)}" for heading, options in headings.items()]
    else:
        short = [o for heading, options in headings.items() for o in options if heading != HELP]
        if name in ANSWERS:
            short = [option for option in short if option.dest in COMMON]
        blocks += [_rows(short, full)] if short else []
    if not name:
        blocks.append(ENDINGS)
    elif full:
        blocks.append(COMMANDS[name].more)
    elif COMMANDS[name].more or any(option.help != option.short for option in short):
        further = f"Also {FURTHER}" if name in ANSWERS else FULL.get(name, "All options, and more")
        blocks.append(f"{further}: {program} {name} --help-all")
    return "\n\n".join(block.strip("\n") for block in blocks if block) + "\n"


def _head(name: str, program: str) -> list[str]:
    if not name:
        return [f"usage: {program} COMMAND ...", ABOUT]
    command = COMMANDS[name]
    blocks = [f"usage: {program} {name} {command.usage}".rstrip()]
    about = command.about or f"{command.short[0].upper()}{command.short[1:]}."
    blocks.append(textwrap.fill(about, WIDTH))
    if command.examples:
        blocks.append("\n".join(["examples:", *(f"  fastexp {one}" for one in command.examples)]))
    return blocks


def _commands(commands: dict[str, Command]) -> str:
    return "\n".join(["commands:", *(f"  {n:<9} {c.short}" for n, c in commands.items())])


def _rows(options: list[Option], full: bool) -> str:
    """Options and their help; of a short screen its first sentence."""
    lines = []
    for option in options:
        text = option.help if full else option.short
        name = f"  {' '.join([', '.join(option.names), option.value]).strip()}"
        help_lines = textwrap.wrap(text, WIDTH - INDENT, break_on_hyphens=False)
        if len(name) <= INDENT - 2:
            name = f"{name:<{INDENT}}{help_lines.pop(0)}"
        lines += [name, *(" " * INDENT + line for line in help_lines)]
    return "\n".join(lines)
