"""The directive ``mechanisms``: the table of mechanisms, as the package has it."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.util.docutils import SphinxDirective

from fastexp.mechanisms.table import TABLE, Row

HEADS = "word", "class", "what it does", "where it can be asked for"


def where(word: str, row: Row) -> str:
    """Beside Python itself."""
    places = {
        f"fastexp {word}": row.answer,
        f"fastexp select --mechanism {word}": row.selects,
        "sessions, publications": row.grouped,
        "compare, epsilon": row.compared,
        "studies": row.study,
    }
    return "; ".join(place for place, there in places.items() if there)


class Mechanisms(SphinxDirective):
    """A row a mechanism."""

    def run(self) -> list[nodes.Node]:
        """The table."""
        rows = [
            (
                nodes.literal(word, word),
                pending_xref(
                    "",
                    nodes.literal(row.name, row.name),
                    refdomain="py",
                    reftype="class",
                    reftarget=f"fastexp.{row.name}",
                ),
                nodes.Text(row.sentence),
                nodes.Text(where(word, row)),
            )
            for word, row in TABLE.items()
        ]
        table, group = nodes.table(classes=["colwidths-auto"]), nodes.tgroup(cols=len(HEADS))
        table += group
        group += [nodes.colspec(colwidth=1) for _ in HEADS]
        head, body = nodes.thead(), nodes.tbody()
        group += [head, body]
        head += self._row([nodes.Text(text) for text in HEADS])
        body += [self._row(cells) for cells in rows]
        return [table]

    def _row(self, cells: Any) -> nodes.row:
        row = nodes.row()
        for cell in cells:
            paragraph = nodes.paragraph()
            paragraph += cell
            entry = nodes.entry()
            entry += paragraph
            row += entry
        return row


def setup(app: Any) -> dict[str, bool]:
    """Add the directive."""
    app.add_directive("mechanisms", Mechanisms)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
