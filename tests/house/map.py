"""Writes the table of rooms in `fastexp/README.md` from the docstrings of the rooms.

    python -m tests.house.map           # write it
    python -m tests.house.map ROOM      # print the files of a room, each with its first line

A room's docstring says in its first paragraph what is in it, in its second what is not.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

from tests.house.rooms import PACKAGE, ROOMS, parsed

PAGE = PACKAGE / "README.md"
BEGIN, END = "<!-- made by `python -m tests.house.map` -->\n", "<!-- end -->\n"


def paragraphs(path: Path) -> list[str]:
    """The paragraphs of a file's docstring, each as one line."""
    text = ast.get_docstring(parsed(path)) or ""
    return [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]


def rows() -> list[tuple[str, str, str]]:
    """(room, what is in it, what is not) from the highest room to the lowest."""
    table = []
    for name in (room for floor in reversed(ROOMS) for room in floor):
        folder = PACKAGE / name
        if folder.is_dir():
            what, *rest = paragraphs(folder / "__init__.py")
            table.append((f"{name}/", what, rest[0] if rest else ""))
        else:
            table.append((f"{name}.py", paragraphs(PACKAGE / f"{name}.py")[0], ""))
    return table


def table() -> str:
    """The rooms as a table of Markdown."""
    lines = ["| room | what is in it | what is not |", "|---|---|---|"]
    lines += [f"| `{name}` | {what} | {never} |" for name, what, never in rows()]
    return "\n".join(lines) + "\n"


def renewed(page: str) -> str:
    """The page with the table of today's rooms."""
    head, begin, rest = page.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not (begin and end):
        raise ValueError("the page has no place for the table")
    return head + begin + "\n" + table() + "\n" + end + tail


def main() -> None:
    """Write the table, or print the files of a room."""
    if len(sys.argv) > 1:
        for path in sorted((PACKAGE / sys.argv[1]).glob("*.py")):
            print(f"{path.name}: {paragraphs(path)[0]}")
    else:
        PAGE.write_text(renewed(PAGE.read_text()))


if __name__ == "__main__":
    main()
