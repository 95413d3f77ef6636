"""Screens of help, 80 columns wide: a short one that fits a terminal, and a full one."""

from __future__ import annotations

import textwrap

from .command_table import ABOUT, COMMANDS, ENDINGS, Command, below
from .option_table import ANSWERS, COMMON, FURTHER, HELP, SHORTENED, Option, sections

WIDTH, INDENT = 80, 20
FULL = {  # what the full help of a command has besides options
    "release": "A publication to start from, and all options"
}


def screen(name: str, program: str, full: bool = False) -> str:
    """Return the help of a command such as ``study run``, or of the program itself: "".

    `program` is the program's name. The full help has all options and remarks.
    """
    blocks = _head(name, program)
    if below(name):
        blocks.append(_commands(below(name)))
    blocks += _full(name) if full else _short(name, program)
    if not name:
        blocks.append(ENDINGS)
    return "\n\n".join(block.strip("\n") for block in blocks if block) + "\n"


def _full(name: str) -> list[str]:
    """Return all options, then remarks."""
    headings = [f"{head}:\n{_rows(options, True)}" for head, options in sections(name).items()]
    return [*headings, COMMANDS[name].more if name else ""]


def _short(name: str, program: str) -> list[str]:
    """Return the common options, then what the full help has besides them."""
    options = [one for head, section in sections(name).items() for one in section if head != HELP]
    if name in SHORTENED:
        options = [option for option in options if option.dest in COMMON]
    blocks = [_rows(options, False)] if options else []
    has_more = any(option.help != option.short for option in options)
    if name and (COMMANDS[name].more or has_more):
        further = f"Also {FURTHER}" if name in ANSWERS else FULL.get(name, "All options, and more")
        blocks.append(f"{further}: {program} {name} --help-all")
    return blocks


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
    return "\n".join(["commands:", *(f"  {n:<10} {c.short}" for n, c in commands.items())])


def _rows(options: list[Option], full: bool) -> str:
    """Return options with their help; in a short screen, with its first sentence."""
    lines = []
    for option in options:
        text = option.help if full else option.short
        name = f"  {' '.join([', '.join(option.names), option.value]).strip()}"
        help_lines = textwrap.wrap(text, WIDTH - INDENT, break_on_hyphens=False)
        if len(name) <= INDENT - 2:
            name = f"{name:<{INDENT}}{help_lines.pop(0)}"
        lines += [name, *(" " * INDENT + line for line in help_lines)]
    return "\n".join(lines)
