"""Do the files and names exist that pages, docstrings and comments mention?"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.house.rooms import parsed

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
FILE = re.compile(r"(?<![\w./-])[\w./-]*\w\.py\b")
NAME = re.compile(r"(?<!`)(?:`|``)([A-Za-z_][\w.]*)(?:\(\))?(?:`|``)(?!`)")
COMMENT = re.compile(r"^ *#.*|  #.*", re.MULTILINE)
WRITTEN = re.compile(r"^ *:caption: *(\S+)", re.MULTILINE)  # a file that a page itself has
WORD = re.compile(r"\w+")
NO_CODE = (".cff", ".csv", ".data", ".json", ".md", ".toml")
# Names in backquotes that this code does not have, and what they are.
OTHERS = {
    "NAME_0.25": "a column of several quantiles",
    "rent_0.25": "a column of several quantiles",
    "target_context.refresh": "a method in numba",
    "v0.1.0": "a tag",
    **dict.fromkeys(
        [
            "spark.archives",
            "spark.executor.memoryOverhead",
            "spark.io.encryption.enabled",
            "spark.network.crypto.enabled",
        ],
        "a setting of Spark",
    ),
}
OF_OTHER_LIBRARIES = [  # pages that are tables of their names
    f"docs/howto/{page}.md" for page in ("opendp", "from-diffprivlib", "from-opendp", "from-tumult")
]


@cache
def pages() -> list[Path]:
    """The repository's pages, and its Python files."""
    folders = [ROOT / name for name in ("fastexp", "tests", "benchmarks", "docs", "examples")]
    inside = [path for folder in folders for path in sorted(folder.rglob("*"))]
    paths = [*sorted(ROOT.iterdir()), *inside]
    built = ROOT / "docs" / "_build"
    return [p for p in paths if p.suffix in (".md", ".py", ".pyi") and built not in p.parents]


@cache
def parts(path: Path) -> tuple[str, set[str]]:
    """The prose of a file, and the words of its code, which include those of its other texts."""
    if path.suffix == ".md":
        return path.read_text(), set()
    lines, prose = path.read_text().splitlines(), []
    for node in ast.walk(parsed(path)):
        match node:
            case ast.Expr(value=ast.Constant(value=str(docstring))):
                prose.append(docstring)
                lines[node.lineno - 1 : node.end_lineno] = [""] * (
                    node.end_lineno - node.lineno + 1
                )
    code = "\n".join(lines)
    words = {path.stem, path.parent.name, *WORD.findall(COMMENT.sub("", code))}
    return "\n".join([*prose, *COMMENT.findall(code)]), words


@cache
def mentions() -> dict[str, str]:
    """The prose of each file."""
    return {path.relative_to(ROOT).as_posix(): parts(path)[0] for path in pages()}


@cache
def known() -> set[str]:
    """The words of all code."""
    return set().union(*(parts(path)[1] for path in pages()))


@cache
def files() -> set[str]:
    """Each Python file by its name, and by its path from any folder above it."""
    paths = [path.relative_to(ROOT).parts for path in pages()]
    return {"/".join(path[start:]) for path in paths for start in range(len(path))}


def absent_files(prose: str) -> list[str]:
    """The Python files that a text names, and that neither exist nor are in it."""
    here = files().union(WRITTEN.findall(prose))
    return [name for name in FILE.findall(prose) if name.replace("../", "") not in here]


def absent_names(prose: str) -> list[str]:
    """The names in backquotes with an underscore or a dot whose words are in no code."""
    names = [name for name in NAME.findall(prose) if "_" in name or "." in name.strip(".")]
    return [
        name
        for name in names
        if name not in OTHERS
        and not name.endswith(NO_CODE)
        and not set(WORD.findall(name)) <= known()
    ]


def test_files_exist():
    absent = {page: absent_files(prose) for page, prose in mentions().items()}
    assert {page: names for page, names in absent.items() if names} == {}


def test_names_exist():
    """Cases of benchmarks are named by parts, as `benchmarks/README.md` has them."""
    absent = {page: absent_names(prose) for page, prose in mentions().items()}
    for page in ("benchmarks/README.md", *OF_OTHER_LIBRARIES):
        del absent[page]
    assert {page: names for page, names in absent.items() if names} == {}


def test_every_excuse_is_needed():
    prose = "\n".join(mentions().values())
    assert all(f"`{name}" in prose for name in OTHERS)


def test_what_is_gone_is_noticed():
    gone = "_go" + "ne"
    text = f"`{gone}.read`, ``_{gone}``, `known.{gone}()`, `files`, no/such{'.py'}, house/rooms.py"
    assert absent_names(text) == [f"{gone}.read", f"_{gone}", f"known.{gone}"]
    assert absent_files(text) == ["no/such" + ".py"]
    assert absent_files("ooms" + ".py") == ["ooms" + ".py"]
    assert absent_files(f":caption: own{'.py'}\nown{'.py'}, other{'.py'}") == ["other" + ".py"]
