"""Every limit of the house with its value; exits with 1 if one is exceeded, seconds aside.

`python -m tests.limits` in this folder's parent; `--static` needs no installed package.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from statistics import median

from tests import child

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "fastexp"
BUILD = [ROOT / "hatch_build.py", ROOT / "hatch_glue.c"]
RUNNING = {"tokens": 95_000, "tests": 16_800}  # set once for each part of the work
FINAL = {"tokens": 100_000, "tests": 18_000, "words": 16_000, "pages": 25}  # these only fall
# Rooms that took more than their purse, from what is not planned.
RESERVE = {"studies": 990, "privacy": 1_350, "cli": 810, "query": 3_060}
MOST_RESERVE = 9_400
FORM = {
    "build": 2_300,
    "docs": 1_500,
    "benchmarks": 6_500,
    "files": 105,
    "class": 3,
    "file": 400,
    "function": 50,
}
ANSWER = {"functions": 12, "rooms": 6, "seconds": 0.05}
FLOORS = [  # rooms with their purses of tokens; a floor imports from itself and from those before
    {"kernels": 18_000},
    {"parameters": 3_000, "top": 1_000},
    {"privacy": 6_300},
    {"data": 10_300},
    {"draws": 12_000},
    {"laws": 7_000},
    {"mechanisms": 10_000},
    {"studies": 3_500, "checks": 2_000},
    {"query": 12_500},
    {"cli": 5_000},
]
LAYOUT = ["COMMENT", "NL", "NEWLINE", "INDENT", "DEDENT", "ENDMARKER"]
C_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|\\\n", re.DOTALL)
C_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|\w+|->|<<|>>|\+\+|--|&&|\|\||##|\.\.\.|[-+*/%&|^=!<>]=|\S')
Row = tuple[str, float, float]  # what, its value, its limit
Function = ast.FunctionDef | ast.AsyncFunctionDef


def docstring(node: ast.AST) -> ast.stmt | None:
    """Where the docstring of a module, class or function stands."""
    if not isinstance(node, ast.Module | ast.ClassDef | Function):
        return None
    return node.body[0] if ast.get_docstring(node, clean=False) is not None else None


def tokens(path: Path) -> list[str]:
    """Tokens without comments, docstrings and layout, so packing lines changes nothing.

    A string of 200 characters, a table and a stub count by their words.
    """
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".c":
        return C_TOKEN.findall(C_COMMENT.sub(" ", text))
    if path.suffix != ".py":
        return text.split()
    docstrings = [docstring(node) for node in ast.walk(ast.parse(text))]
    skipped = {(node.lineno, node.col_offset) for node in docstrings if node}
    found = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if tokenize.tok_name[token.type] not in LAYOUT and token.start not in skipped:
            found += token.string.split() if len(token.string) >= 200 else [token.string]
    return found


def files(name: str, *endings: str) -> list[Path]:
    """The files in a folder with these endings, or all, without what Python and Sphinx keep."""
    paths = [path for path in (ROOT / name).rglob("*") if path.is_file()]
    paths = [path for path in paths if path.parent.name not in ("__pycache__", "api")]
    return sorted(path for path in paths if not endings or path.suffix in endings)


def room(path: Path) -> str:
    """The room of a file of the package."""
    parts = path.relative_to(PACKAGE).parts
    return parts[0] if len(parts) > 1 else "top"


def floor(path: Path) -> int:
    """The number of a file's floor; a room without a plan is below all and may import nothing."""
    if path in (PACKAGE / "__init__.py", PACKAGE / "__main__.py"):  # they name everything
        return len(FLOORS) - 1
    return next((i for i, rooms in enumerate(FLOORS) if room(path) in rooms), -1)


def sizes() -> Iterator[Row]:
    """Tokens by room, of the build, and in all; files, tests and documentation."""
    purses = {name: purse for rooms in FLOORS for name, purse in rooms.items()}
    purses |= {name: purses[name] + taken for name, taken in RESERVE.items()}
    counts = dict.fromkeys(purses, 0)
    package = files("fastexp")
    for path in package:
        if path != PACKAGE / "__init__.pyi" and path.suffix != ".md":
            counts[room(path)] = counts.get(room(path), 0) + len(tokens(path))
    for name, count in counts.items():
        yield f"tokens of {name}", count, purses.get(name, 0)  # a room without a plan has no purse
    yield "tokens from the reserve", sum(RESERVE.values()), MOST_RESERVE
    build = sum(len(tokens(path)) for path in BUILD)
    yield "tokens of the build, C and hook", build, FORM["build"]
    lines = sum(path.read_text().count("\n") for path in files("tests", ".py"))
    total = build + sum(counts.values())
    for what, limits in ("this part", RUNNING), ("the end", FINAL):
        yield f"tokens in all, by {what}", total, limits["tokens"]
        yield f"lines of tests, by {what}", lines, limits["tests"]
    yield "files of the package", len(package), FORM["files"]
    docs = sum(len(tokens(path)) for path in files("docs", ".py", ".css", ".html", ".js", ".rst"))
    yield "tokens of the documentation's code", docs, FORM["docs"]
    benchmarks = sum(len(tokens(path)) for path in files("benchmarks", ".py"))
    yield "tokens of benchmarks", benchmarks, FORM["benchmarks"]
    made = "index.md", "changes.md", "reference"  # are not written as pages, or by hand
    pages = [
        path.read_text().split()
        for path in files("docs", ".md", ".ipynb")
        if path.relative_to(ROOT / "docs").parts[0] not in made
    ]
    yield "words of documentation", sum(map(len, pages)), FINAL["words"]
    yield "pages of documentation", len(pages), FINAL["pages"]


def place(name: str) -> Path | None:
    """The file of a module of the package."""
    path = ROOT / name.replace(".", "/")
    paths = path.with_suffix(".py"), path / "__init__.py"
    return next((each for each in paths if each.is_file() and PACKAGE in each.parents), None)


def imports(path: Path, tree: ast.Module) -> tuple[set[Path], set[str]]:
    """The files of the package that a file imports, wherever it does, and the other packages."""
    inner, outer = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [("", alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            folder = path.relative_to(ROOT).parts[: -node.level] if node.level else ()
            module = ".".join([*folder, *([node.module] if node.module else [])])
            names = [(module, f"{module}.{alias.name}") for alias in node.names]
        else:
            continue
        for module, name in names:
            inner.add(place(name) or place(module))
            outer.add(name.partition(".")[0])
    return {target for target in inner if target}, outer - {"fastexp", "__future__"}


def forms() -> Iterator[Row]:
    """The depth of classes, the longest file and function."""
    bases: dict[str, set[str]] = defaultdict(set)
    lengths, functions = [], []
    for path in [*files("fastexp", ".py"), *BUILD]:
        text, name = path.read_text(), str(path.relative_to(ROOT))
        lengths.append((text.count("\n"), name))
        for node in ast.walk(ast.parse(text if path.suffix == ".py" else "")):
            if isinstance(node, ast.ClassDef):
                names = [ast.unparse(base).partition("[")[0] for base in node.bases]
                bases[node.name] |= {base.rpartition(".")[2] for base in names} - {node.name}
            elif isinstance(node, Function):
                body = node.body[1 if docstring(node) else 0 :] or node.body
                lines = (body[-1].end_lineno or 0) - body[0].lineno + 1
                functions.append((lines, f"{name}:{node.name}"))

    def depth(name: str) -> int:
        return 1 + max(map(depth, bases[name]), default=0) if name in bases else 0

    deepest = max(bases, key=depth)
    yield f"depth of classes: {deepest}", depth(deepest), FORM["class"]
    for kind, (lines, name) in {"file": max(lengths), "function": max(functions)}.items():
        yield f"lines of a {kind}: {name}", lines, FORM[kind]


def faults() -> Iterator[Row]:
    """Imports that go upwards or around, and what must not be there."""
    found: dict[str, list[str]] = {
        "imports upwards": [],
        "files in a circle of imports": [],
        "imports of kernels other than numpy": [],
        "imports of numba outside kernels/jit.py and the hook": [],
        "readings of __doc__ at import": [],
        "fastmath": [],
    }
    upwards, circle, strangers, numba, docs, fast = found.values()
    inner: dict[Path, set[Path]] = {}
    for path in [*files("fastexp", ".py"), *files("tests", ".py"), *files("benchmarks", ".py")]:
        tree, name = ast.parse(path.read_text()), str(path.relative_to(ROOT))
        targets, outer = imports(path, tree)
        if name != "fastexp/kernels/jit.py":
            numba += [name] * len(outer & {"numba", "llvmlite"})
        if not path.is_relative_to(PACKAGE):
            continue
        inner[path] = targets
        above = [target for target in targets if floor(target) > floor(path)]
        upwards += [f"{name} of {target.relative_to(ROOT)}" for target in above]
        if room(path) == "kernels" and path.name != "jit.py":
            strangers += [f"{name} of {package}" for package in outer - {"numpy"}]
        parts = [p for p in tree.body if room(path) != "cli" or not isinstance(p, Function)]
        nodes = [node for part in parts for node in ast.walk(part)]
        docs += [name for node in nodes if "__doc__" in map(vars(node).get, ("id", "attr"))]
    for path in [*inner, *BUILD]:
        fast += [path.name] * len(re.findall("fast-?math|Ofast", " ".join(tokens(path))))
    try:
        TopologicalSorter(inner).prepare()
    except CycleError as error:
        circle += [str(path.relative_to(ROOT)) for path in error.args[1][1:]]
    for what, names in found.items():
        yield ": ".join([what, *names]), len(names), 0


WARM = """
import sys, fastexp as fx
def see(frame, event, called):
    _, inside, path = frame.f_code.co_filename.partition(fx.__path__[0] + "/")
    if event == "call" and inside:
        functions.add(frame.f_code)
        rooms.add(path.partition("/")[0])
    elif event == "c_call" and called.__module__ == "_fastexp":
        rooms.add("kernels")
choose, median = fx.Exponential(1.0, 1), fx.Median(1.0, (0, 120), step=1)
for call, data in (choose.release, [*range(50)]), (median.release, [*range(100)] * 10):
    for _ in range(3):
        functions, rooms = set(), set()
        sys.setprofile(see)
        call(data)
        sys.setprofile(None)
    print(type(call.__self__).__name__, len(functions), len(rooms))
"""
FIRST = """
import numpy, time
start = time.process_time()
import fastexp as fx
fx.Median(1.0, (0, 120), step=1).release([31, 47, 52])
print(time.process_time() - start)
"""


def answers() -> Iterator[Row]:
    """Functions and rooms of a warm release, and the CPU seconds of the first one."""
    nowhere = {"HOME": "/nonexistent", "XDG_CACHE_HOME": "/nonexistent", "FASTEXP_KERNELS": ""}
    for line in child.run(WARM, **nowhere).splitlines():
        name, functions, rooms = line.split()
        yield f"functions of a warm {name}.release", int(functions), ANSWER["functions"]
        yield f"rooms of a warm {name}.release", int(rooms), ANSWER["rooms"]
    seconds = median(float(child.run(FIRST, **nowhere)) for _ in range(5))
    yield "seconds of the first answer beyond NumPy's import", seconds, ANSWER["seconds"]


def main() -> int:
    """Print each limit; 1 if one is exceeded, but by seconds, which depend on the machine."""
    rows = [*sizes(), *forms(), *faults(), *(() if "--static" in sys.argv else answers())]
    for what, value, limit in rows:
        print(f"{value:9,.6g} of {limit:9,.6g}  {what}{'  OVER' if value > limit else ''}")
    return int(any(value > limit and "seconds" not in what for what, value, limit in rows))


if __name__ == "__main__":
    sys.exit(main())
