"""Is epsilon given by its name wherever a document shows code?"""

from __future__ import annotations

import ast
import doctest
import inspect
from collections.abc import Iterator

import fastexp as fx
from tests.docs.page_code import ROOT, blocks, pages
from tests.doors.mechanisms import Mechanism
from tests.support.each import each

CLASSES = [name for name in fx.__all__ if inspect.isclass(getattr(fx, name))]
PLACE = {  # of epsilon among the arguments
    name: [*inspect.signature(getattr(fx, name)).parameters].index("epsilon")
    for name in CLASSES
    if name == "Budget" or issubclass(getattr(fx, name), Mechanism)
}
DOCUMENTED = ast.Module, ast.ClassDef, ast.FunctionDef
FILES = [*pages(), *sorted((ROOT / "examples").glob("*.py"))]
FILES += sorted(path for path in (ROOT / "fastexp").rglob("*.py") if ">>> " in path.read_text())


def trees(text: str, suffix: str) -> Iterator[ast.AST]:
    """Each piece of Python in a page, or of a file and the examples in its docstrings."""
    codes = [block.text for block in blocks(text)]
    if suffix == ".py":
        file = ast.parse(text)
        yield file
        nodes = [node for node in ast.walk(file) if isinstance(node, DOCUMENTED)]
        codes = [doc for node in nodes if (doc := ast.get_docstring(node)) and ">>> " in doc]
    for code in codes:
        shown = [example.source for example in doctest.DocTestParser().get_examples(code)]
        for piece in shown or [code]:
            try:
                yield ast.parse(piece)
            except SyntaxError:  # of another language
                continue


def unnamed(text: str, suffix: str) -> list[str]:
    """Calls that give epsilon by its place."""
    calls = [node for tree in trees(text, suffix) for node in ast.walk(tree)]
    return [
        ast.unparse(call)
        for call in calls
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and isinstance(call.func.value, ast.Name)
        and call.func.value.id == "fx"
        and len(call.args) > PLACE.get(call.func.attr, 99)
    ]


@each("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_epsilon_has_its_name(path):
    assert unnamed(path.read_text(encoding="utf-8"), path.suffix) == []


@each(
    ("text", "suffix"),
    [
        ("```pycon\n>>> fx.Median(1.0, bounds=(0, 1))\n```\n", ".md"),
        ("```{code-cell}\nm = [fx.Quantile(0.5, e) for e in (1, 2)]\n```\n", ".md"),
        ("fx.Budget(1.0)", ".py"),
        ('"""It.\n\n    >>> fx.TopK(2, 1.0, sensitivity=1)\n"""', ".py"),
    ],
)
def test_a_number_in_its_place_is_seen(text, suffix):
    assert len(unnamed(text, suffix)) == 1
    assert {"Median", "Quantile", "TopK", "Budget", "Laplace"} < PLACE.keys()
