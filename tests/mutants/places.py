"""Where mutants are: rooms, their functions and constants, and addresses of changes.

An address is `room:function:operator:number`, as `laws:Law.pmf:edge:2`. A room is a folder of the
package, or a file that lies beside `fastexp/__init__.py`. Which of its files has the function is
looked up, so that files may be renamed, parted and merged; where several have one of that name, a
function stands before it that only this file has (`kernels/select:throw/settled`). A constant is
called like a function.
Several steps, each made on what the one before left, are joined by commas, `edge:2,skip:1`, and
the number 1 may be left out.
"""

from __future__ import annotations

import ast
import functools
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from tests.house.rooms import PACKAGE, parsed, room
from tests.mutants import operators

ROOT = PACKAGE.parent


class Mutant(NamedTuple):
    """A changed file of the package: its text, and what stood there before and stands there now."""

    address: str
    path: Path
    text: str
    line: int
    changes: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        where = f"{self.path.relative_to(ROOT)}:{self.line}"
        return "\n    ".join([self.address, where, *map(" -> ".join, self.changes)])


@functools.cache
def rooms() -> dict[str, list[Path]]:
    """The files of every room."""
    files: dict[str, list[Path]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        files.setdefault(room(path), []).append(path)
    return files


@functools.cache
def units(path: Path) -> dict[str, list[ast.stmt]]:
    """The functions and constants of a file by their names, with those of its classes."""
    statements: dict[str, list[ast.stmt]] = {}
    for name, node in _units(parsed(path).body, ""):
        statements.setdefault(name, []).append(node)
    return statements


def _units(body: Iterable[ast.stmt], prefix: str) -> Iterator[tuple[str, ast.stmt]]:
    for node in body:
        if isinstance(node, operators.FUNCTION):
            if "overload" not in map(ast.unparse, node.decorator_list):
                yield prefix + node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from _units(node.body, f"{prefix}{node.name}.")
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                for name in target.elts if isinstance(target, ast.Tuple) else [target]:
                    yield prefix + ast.unparse(name), node
        elif isinstance(node, ast.If) and not operators.is_silent(node):
            yield from _units([*node.body, *node.orelse], prefix)


@functools.cache
def names(folder: str) -> dict[str, tuple[Path, list[ast.stmt]]]:
    """The functions and constants of a room, by the names that addresses have for them."""
    homes: dict[str, list[tuple[Path, list[ast.stmt]]]] = {}
    for path in rooms()[folder]:
        for name, nodes in units(path).items():
            homes.setdefault(name, []).append((path, nodes))
    unique = {name: places[0] for name, places in homes.items() if len(places) == 1}
    anchors = {path: name for name, (path, _) in reversed(unique.items())}
    for name, places in homes.items():
        if len(places) > 1:
            unique |= {f"{anchors.get(place[0], place[0].stem)}/{name}": place for place in places}
    return unique


def unit(folder: str, name: str) -> tuple[Path, list[ast.stmt]]:
    """The file and the statements of a function or constant; LookupError where there is none."""
    anchor, _, plain = name.rpartition("/")
    try:
        if not anchor:
            return names(folder)[plain]
        path, _ = names(folder)[anchor]
        return path, units(path)[plain]
    except KeyError:
        raise LookupError(f"no function or constant has the address {folder}:{name}") from None


def mutant(address: str) -> Mutant:
    """The mutant of an address; LookupError where there is none."""
    folder, name, steps = address.split(":", 2)
    path, statements = unit(folder, name)
    tree = _tree(statements)
    done: list[operators.Site] = []
    try:
        for step in steps.split(","):
            operator, _, number = step.partition(":")
            sites = operators.sites(tree, operator)
            if not 0 < int(number or 1) <= len(sites):
                raise LookupError(f"{operator} has {len(sites)} sites at {address}")
            done.append(sites[int(number or 1) - 1])
            done[-1].slot.put(done[-1].new)
        text = _with(path, statements, tree.body)
    finally:
        for site in reversed(done):
            site.slot.put(site.old)
    line = getattr(done[0].old, "lineno", statements[0].lineno)
    changes = tuple((_shown(site.old), _shown(site.new)) for site in done)
    return Mutant(address, path, text, line, changes)


def _with(path: Path, statements: list[ast.stmt], changed: list[ast.stmt]) -> str:
    # The text of a file with other statements in the place of these.
    lines = path.read_text().splitlines()
    for node, new in reversed(list(zip(statements, changed, strict=True))):
        start = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))]) - 1
        text = textwrap.indent(ast.unparse(ast.fix_missing_locations(new)), " " * node.col_offset)
        lines[start : node.end_lineno] = text.splitlines()
    return "\n".join([*lines, ""])


def _shown(node: ast.AST) -> str:
    first, *rest = ast.unparse(node).splitlines()
    return f"{first} ..." if rest else first


def nodes(folder: str) -> list[list[str]]:
    """Of every node of a room that operators change, the addresses of these mutants.

    Of constants only the numbers are changed: what else they are is seldom a mistake.
    """
    addresses: dict[tuple[int, str, int | None], list[str]] = {}
    for name, (_, statements) in names(folder).items():
        is_function = isinstance(statements[0], operators.FUNCTION)
        for operator in operators.OPERATORS if is_function else operators.NUMBERS:
            for i, (slot, _, _) in enumerate(operators.sites(_tree(statements), operator), 1):
                key = id(slot.parent), slot.field, slot.place
                addresses.setdefault(key, []).append(f"{folder}:{name}:{operator}:{i}")
    return list(addresses.values())


def _tree(statements: list[ast.stmt]) -> ast.Module:
    return ast.Module([*statements], [])
