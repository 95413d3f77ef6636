"""The directive ``commands``: every command with its options, from the tables of the parser."""

from __future__ import annotations

import re
from typing import Any, cast

from command_groups import Entry, Group, groups, target
from docutils import nodes
from sphinx.domains.std import StandardDomain
from sphinx.util.docutils import SphinxDirective

from fastexp.cli.options.command_table import COMMANDS

OPTION = re.compile(r"(?<!\S)(--[a-z][\w-]*|-{1,2}\w)")


def help_text(text: str, known: dict[str, str]) -> list[nodes.Node]:
    """A sentence, in which options are literal, and links where the commands have them."""
    parts: list[nodes.Node] = []
    for index, piece in enumerate(OPTION.split(text)):
        if index % 2 == 0:
            parts.append(nodes.Text(piece))
            continue
        literal = nodes.literal(piece, piece)
        if piece in known:
            parts.append(nodes.reference("", "", literal, refid=known[piece], internal=True))
        else:
            parts.append(literal)
    return parts


def console(text: str) -> nodes.literal_block:
    """Text as it stands on a terminal."""
    return nodes.literal_block(text, text, language="text")


class Commands(SphinxDirective):
    """All commands and options."""

    def run(self) -> list[nodes.Node]:
        """A section a group of commands."""
        return [self._group(group) for group in groups()]

    def _group(self, group: Group) -> nodes.section:
        head, *_ = group.commands
        section = nodes.section(ids=["-".join(["fastexp", *head.split(), "command"])])
        section += nodes.title(group.title, group.title)
        for command in group.commands:
            section += self._command(command) if command else []
        entries = group.entries()
        known = {
            name: target(entry.commands[0], name)
            for of_heading in entries.values()
            for entry in of_heading
            for name in entry.option.names
        }
        for heading, of_heading in entries.items():
            section += nodes.rubric(heading, heading[0].upper() + heading[1:])
            rows = nodes.definition_list()
            for entry in of_heading:
                rows += self._entry(entry, known, group)
            section += rows
        for remark in group.remarks:
            section += console(remark.strip("\n"))
        return section

    def _command(self, name: str) -> list[nodes.Node]:
        command = COMMANDS[name]
        usage = f"usage: fastexp {name} {command.usage}".rstrip()
        about = command.about or f"{command.short[0].upper()}{command.short[1:]}."
        lines = [usage, *(f"$ fastexp {example}" for example in command.examples)]
        paragraph = nodes.paragraph("", "", *help_text(about, {}))
        return [paragraph, console("\n".join(lines))]

    def _entry(self, entry: Entry, known: dict[str, str], group: Group) -> nodes.Node:
        option = entry.option
        names = option.names or [option.value]
        usage = " ".join(part for part in (", ".join(option.names), option.value) if part)
        term = nodes.term("", "", nodes.literal(usage, usage))
        domain = cast(StandardDomain, self.env.get_domain("std"))
        for command in entry.commands:
            for name in names:
                anchor = target(command, name)
                term["ids"].append(anchor)
                program = "-".join(["fastexp", *command.split()])
                domain.add_program_option(program, name, self.env.docname, anchor)
        if facts := group.facts(entry):
            term += nodes.Text(f" ({'; '.join(facts)})")
        text = option.help.removesuffix(".") + "."
        others = {name: anchor for name, anchor in known.items() if name not in names}
        definition = nodes.definition("", nodes.paragraph("", "", *help_text(text, others)))
        return nodes.definition_list_item("", term, definition)


def setup(app: Any) -> dict[str, bool]:
    """Add the directive."""
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
