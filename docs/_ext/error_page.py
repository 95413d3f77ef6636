"""The pages of errors: each family of messages with its cause and its remedy."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from message_families import PLACE, TABLE, Family, families, slug
from sphinx.addnodes import pending_xref
from sphinx.util.docutils import SphinxDirective

COMMANDS = {"UserMistake": "command line, exit code 2", "Failure": "command line, exit code 1"}
PYTHON = {"AttributeError"}


class ErrorFamilies(SphinxDirective):
    """The families of one section of the table, with their messages."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """A section for each family."""
        self.env.note_dependency(str(TABLE))
        (section,) = self.arguments
        return [self._family(family) for family in families() if family.section == section]

    def _family(self, family: Family) -> nodes.section:
        section = nodes.section("", nodes.title(family.title, family.title), ids=[family.anchor])
        kinds = nodes.paragraph(classes=["error-classes"])
        for i, kind in enumerate(family.errors):
            kinds += [nodes.Text(" · ")] * (i > 0) + [_class(kind, self.env.docname)]
        section += kinds
        texts = nodes.bullet_list(classes=["error-messages"])
        for text in family.messages:
            texts += nodes.list_item("", _message(text))
        section += texts
        section += self._words("Cause", family.cause)
        section += self._words("Remedy", family.remedy)
        return section

    def _words(self, label: str, text: str) -> nodes.paragraph:
        parsed, faults = self.state.inline_text(text, self.lineno)
        return nodes.paragraph(
            "", "", nodes.strong("", f"{label}."), nodes.Text(" "), *parsed, *faults
        )


class ErrorClasses(SphinxDirective):
    """The pages on which each class has messages."""

    def run(self) -> list[nodes.Node]:
        """A list of the classes."""
        self.env.note_dependency(str(TABLE))
        sections: dict[str, dict[str, None]] = {}  # keys only: a set in the table's order
        for family in families():
            for kind in family.errors:
                sections.setdefault(kind, {})[family.section] = None
        entries = nodes.definition_list()
        for kind in sorted(sections, key=_rank):
            links = nodes.paragraph()
            for i, section in enumerate(sections[kind]):
                links += [nodes.Text(" · ")] * (i > 0) + [_page(section, self.env.docname)]
            term = nodes.term("", "", _class(kind, self.env.docname))
            entries += nodes.definition_list_item("", term, nodes.definition("", links))
        return [entries]


def _class(kind: str, page: str) -> nodes.Node:
    """A class by the name that a reader knows, and a link to it."""
    if kind in COMMANDS:
        return nodes.inline("", COMMANDS[kind])
    literal = nodes.literal("", kind)
    if kind in PYTHON:
        return literal
    return pending_xref(
        "",
        literal,
        refdomain="py",
        reftype="exc",
        reftarget=f"fastexp.{kind}",
        refwarn=True,
        refdoc=page,
    )


def _page(section: str, page: str) -> nodes.Node:
    """A link to the page of a section."""
    return pending_xref(
        "",
        nodes.inline("", section),
        refdomain="std",
        reftype="doc",
        reftarget=slug(section),
        refexplicit=True,
        refwarn=True,
        refdoc=page,
    )


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
    """The directives."""
    app.add_directive("error-families", ErrorFamilies)
    app.add_directive("error-classes", ErrorClasses)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
