"""Do tests reach private modules through `tests/doors` only, and is each name there needed?"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.house.rooms import PACKAGE, modules, parsed

TESTS = Path(__file__).parents[1]
DOORS = sorted((TESTS / "doors").glob("[a-z]*.py"))
MOST_DOORS = 40
PUBLIC = {"fastexp", "fastexp.cli", "fastexp.errors", "fastexp.privacy", "fastexp.__main__"}
DOTTED = re.compile(r"\bfastexp(?:\.\w+)+")
IMPORTS = re.compile(r"from (fastexp[.\w]*) import \(?([\w, ]+)")
FILE = re.compile(r"\bfastexp/[\w/]+\.py\b")


def private(name: str) -> str | None:
    """The private module that a dotted name is, or is a part of."""
    parts = name.split(".")
    for end in range(len(parts), 1, -1):
        at = PACKAGE.parent.joinpath(*parts[:end])
        if at.with_suffix(".py").is_file() or (at / "__init__.py").is_file():
            module = ".".join(parts[:end])
            return None if module in PUBLIC else module
    return None


def names_in(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Dotted names that a file imports or has in its texts: of scripts, patches and paths."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
            dotted = [match[0] for match in DOTTED.finditer(text)]
            dotted += [
                f"{match[1]}.{name.split()[0]}"
                for match in IMPORTS.finditer(text)
                for name in match[2].split(",")
                if name.strip()
            ]
            dotted += [match[0][:-3].replace("/", ".") for match in FILE.finditer(text)]
            yield from ((node.lineno, name) for name in dotted)


def trespasses(tests: Path) -> list[str]:
    """The private modules that files outside the doors name, as "file:line: module"."""
    return [
        f"{path.relative_to(tests)}:{line}: {module}"
        for path in sorted(tests.rglob("*.py"))
        if path.parent.name != "doors"
        for line, name in names_in(parsed(path))
        if name.startswith("fastexp.") and (module := private(name)) and "." in module[8:]
    ]


@pytest.mark.slow
def test_only_doors_name_private_modules():
    assert trespasses(TESTS) == []
    assert len(DOORS) <= MOST_DOORS


@pytest.mark.parametrize(
    "text",
    [
        "from {room}.{file} import name",
        "from {room} import {file}",
        "import {room}.{file} as f",
        "def test():\n    from {room} import {file}",
        "patch('{room}.{file}.name')",
        "CODE = '''\nfrom {room} import other, {file}\n'''",
        "FILE = ROOT / '{folder}/{file}.py'",
    ],
)
def test_a_private_module_is_seen_wherever_it_is_named(tmp_path, text):
    module = next(
        name for name in modules() if name.startswith("fastexp._") and name.count(".") > 1
    )
    room, _, file = module.rpartition(".")
    text = text.format(room=room, folder=room.replace(".", "/"), file=file)
    (tmp_path / "test_file.py").write_text(text)
    assert any(line.endswith(f": {module}") for line in trespasses(tmp_path))


def imported(paths: Iterable[Path]) -> Iterator[tuple[str, str, str]]:
    """(module, name there, name here) of what files import from modules."""
    for path in paths:
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    yield node.module, alias.name, alias.asname or alias.name


@pytest.mark.slow
def test_each_name_of_a_door_is_used():
    names = {(f"tests.doors.{p.stem}", here) for p in DOORS for _, _, here in imported([p])}
    used = {(module, there) for module, there, _ in imported(TESTS.rglob("*.py"))}
    assert {name for name in names - used if name[1] != "annotations"} == set()
