"""The page of errors: each family of messages with its cause and its remedy, and an index."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from message_families import PACKAGE, TABLE, Family, families, sorted_into
from message_texts import PLACE, Message, messages
from sphinx.addnodes import pending_xref
from sphinx.util.docutils import SphinxDirective

COMMANDS = {"UserMistake": "command line, exit code 2", "Failure": "command line, exit code 1"}
COMMANDS["OSError"] = COMMANDS["Failure"]
PYTHON = {"AttributeError"}


class ErrorFamilies(SphinxDirective):
    """All families with their messages, and an index by class."""

    def run(self) -> list[nodes.Node]:
        """A section for each section of the table, and one for the index."""
        self.env.note_dependency(str(TABLE))
        members, faults = sorted_into(families(), messages(PACKAGE))
        if faults:
            raise self.error("\n".join(faults))
        sections: dict[str, nodes.section] = {}
        for family, its in members.items():
            if family.section not in sections:
                sections[family.section] = self._section(family.section)
            sections[family.section] += self._family(family, its)
        return [*sections.values(), self._index(members)]

    def _section(self, title: str) -> nodes.section:
        section = nodes.section(
            "", nodes.title(title, title), names=[nodes.fully_normalize_name(title)]
        )
        self.state.document.note_implicit_target(section, section)
        return section

    def _family(self, family: Family, its: list[Message]) -> nodes.section:
        section = nodes.section("", nodes.title(family.title, family.title), ids=[family.anchor])
        kinds = nodes.paragraph(classes=["error-classes"])
        for i, kind in enumerate(sorted({message.kind for message in its}, key=_rank)):
            kinds += [nodes.Text(" · ")] * (i > 0) + [self._class(kind)]
        section += kinds
        listed = nodes.bullet_list(classes=["error-messages"])
        for text in dict.fromkeys(message.text for message in its):
            listed += nodes.list_item("", _message(text))
        section += listed
        section += self._words("Cause", family.cause)
        section += self._words("Remedy", family.remedy)
        return section

    def _words(self, label: str, text: str) -> nodes.paragraph:
        parsed, faults = self.state.inline_text(text, self.lineno)
        return nodes.paragraph(
            "", "", nodes.strong("", f"{label}."), nodes.Text(" "), *parsed, *faults
        )

    def _class(self, kind: str) -> nodes.Node:
        if kind in COMMANDS:
            return nodes.inline("", COMMANDS[kind])
        shown = nodes.literal("", kind)
        if kind in PYTHON:
            return shown
        return pending_xref(
            "",
            shown,
            refdomain="py",
            reftype="exc",
            reftarget=f"fastexp.{kind}",
            refwarn=True,
            refdoc=self.env.docname,
        )

    def _index(self, members: dict[Family, list[Message]]) -> nodes.section:
        section = self._section("By class")
        entries = nodes.definition_list()
        for kind in sorted(
            {m.kind for its in members.values() for m in its} - {"OSError"}, key=_rank
        ):
            links = nodes.bullet_list(classes=["error-links"])
            for family, its in members.items():
                if any(COMMANDS.get(m.kind, m.kind) == COMMANDS.get(kind, kind) for m in its):
                    link = nodes.reference("", family.title, internal=True, refid=family.anchor)
                    links += nodes.list_item("", nodes.paragraph("", "", link))
            term = nodes.term("", "", self._class(kind))
            entries += nodes.definition_list_item("", term, nodes.definition("", links))
        section += entries
        return section


def _rank(kind: str) -> tuple[bool, bool, str]:
    """The package's classes first, then Python's, then the command line."""
    return kind in COMMANDS, kind in PYTHON, kind


def _message(text: str) -> nodes.Node:
    """A message as it is printed; names of what varies are slanted."""
    if "\n" in text:
        return nodes.literal_block(text, text, language="text")
    parts: list[nodes.Node] = []
    for i, part in enumerate(PLACE.split(text)):
        parts += [nodes.emphasis("", part)] if i % 2 else [nodes.Text(part)] if part else []
    return nodes.paragraph("", "", nodes.literal("", "", *parts))


def setup(app: Any) -> dict[str, bool]:
    """The directive."""
    app.add_directive("error-families", ErrorFamilies)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
