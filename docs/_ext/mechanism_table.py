"""The directive ``mechanisms``: the table of mechanisms, as the package has it."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from fastexp.mechanisms.table import TABLE, Row


def where(word: str, row: Row) -> str:
    """Where it can be asked for, beside Python itself."""
    places = {
        f"`fastexp {word}`": row.answer,
        f"`fastexp select --mechanism {word}`": row.selects,
        "sessions, publications": row.grouped,
        "compare, epsilon": row.compared,
        "studies": row.study,
    }
    return "; ".join(place for place, there in places.items() if there)


class Mechanisms(SphinxDirective):
    """A row a mechanism, in Markdown."""

    def run(self) -> list[nodes.Node]:
        """The table."""
        rows = ["| word | class | what it does | where it can be asked for |", "|---|---|---|---|"]
        for word, row in TABLE.items():
            name = f"{{py:class}}`~fastexp.{row.name}`"
            rows.append(f"| `{word}` | {name} | {row.sentence} | {where(word, row)} |")
        return self.parse_text_to_nodes("\n".join(rows))


def setup(app: Any) -> dict[str, bool]:
    """Add the directive."""
    app.add_directive("mechanisms", Mechanisms)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
