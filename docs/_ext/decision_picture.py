"""The directive ``decision``: questions and the answers that they lead to, as a picture.

Its text has a question a line and, indented under it, ``condition | answer`` lines. The picture is
SVG within the page and takes the theme's colours, light or dark; it is narrow enough for a
telephone. The list below it, which the page writes, is its text alternative.
"""

from __future__ import annotations

import textwrap
from html import escape
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

WIDTH, LEFT, RIGHT = 380, 14, 214  # of the picture; where conditions and answers begin
LINE, GAP = 17, 10  # from line to line, from box to box
STYLE = """
.decision { max-width: 480px; width: 100%; height: auto; display: block; margin: 0 auto 1rem; }
.decision text { font-size: 13px; fill: var(--pst-color-text-base); }
.decision .answer { font-family: var(--pst-font-family-monospace); fill: var(--pst-color-link); }
.decision .question { font-weight: 600; }
.decision rect { fill: var(--pst-color-surface); stroke: var(--pst-color-border); }
.decision path { fill: none; stroke: var(--pst-color-text-muted); }
"""


def _box(x: int, y: int, width: int, lines: list[str], kind: str) -> tuple[str, int]:
    """A box with lines of text, and its height."""
    height = LINE * len(lines) + 12
    parts = [f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="5"/>']
    for i, line in enumerate(lines):
        at = y + 18 + LINE * i
        parts.append(f'<text class="{kind}" x="{x + 9}" y="{at}">{escape(line)}</text>')
    return "".join(parts), height


def picture(text: list[str], label: str) -> str:
    """The SVG of a directive's lines."""
    parts, y = [], 2
    for line in text:
        if not line.strip():
            continue
        if not line.startswith(" "):
            y += GAP if parts else 0
            box, height = _box(2, y, WIDTH - 4, textwrap.wrap(line, 50), "question")
            parts.append(box)
            y += height + GAP
            continue
        condition, _, answer = (part.strip() for part in line.partition("|"))
        before = textwrap.wrap(condition, 27)
        box, height = _box(RIGHT, y, WIDTH - RIGHT - 2, answer.split(" or "), "answer")
        tall = max(height, LINE * len(before) + 8)
        middle = y + height // 2
        for i, words in enumerate(before):
            parts.append(f'<text x="{LEFT}" y="{y + 18 + LINE * i}">{escape(words)}</text>')
        parts.append(f'<path d="M{RIGHT - 16} {middle}h12m-4 -4l4 4l-4 4"/>{box}')
        y += tall + GAP
    return (
        f'<svg class="decision" role="img" aria-label="{escape(label)}" '
        f'viewBox="0 0 {WIDTH} {y}"><style>{STYLE}</style>{"".join(parts)}</svg>'
    )


class Decision(SphinxDirective):
    """The picture; its argument is its label."""

    has_content = True
    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """The SVG as it is."""
        svg = picture(list(self.content), self.arguments[0])
        return [nodes.raw("", svg, format="html")]


def setup(app: Any) -> dict[str, bool]:
    """Add the directive."""
    app.add_directive("decision", Decision)
    return {"parallel_read_safe": True}
