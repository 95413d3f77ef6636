"""Plants errors in a copy of the package, one at a time, and tells which of them no test sees.

`python -m tests.mutants --room laws --seed 1 --count 10` in this folder's parent, with the package
installed for tests: ten random errors of a room die, or survive all tests. Ends with the number of
those that survive. The tests that know a room best run first, then all: five minutes for each
error that survives.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.limits import PACKAGE, ROOT, docstring, files, room

SUITE = ["tests", "fastexp"]
FIRST = {  # the files of tests that most errors of a room die by, the quickest first
    "kernels": "kernels noise selection quantiles law",
    "parameters": "errors data query noise conformance",
    "top": "errors machine conformance cli",
    "privacy": "checks promise budget errors selection",
    "data": "data times cases errors query",
    "draws": "noise selection quantiles law exactness",
    "laws": "laws law checks promise",
    "mechanisms": "errors noise selection quantiles checks studies laws",
    "studies": "studies",
    "checks": "checks power",
    "query": "query files cases times budget",
    "cli": "cli errors conformance",
}
SECONDS = 1200  # then a run hangs
OTHERS: dict[type, Any] = {
    ast.Lt: ast.LtE,
    ast.Gt: ast.GtE,
    ast.Eq: ast.NotEq,
    ast.In: ast.NotIn,
    ast.Is: ast.IsNot,
    ast.Add: ast.Sub,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.FloorDiv,
    ast.LShift: ast.RShift,
    ast.BitAnd: ast.BitOr,
    ast.BitXor: ast.BitOr,
    ast.And: ast.Or,
}
OTHERS |= {new: old for old, new in OTHERS.items() if new not in OTHERS}
NAMES = {"min": "max", "any": "all", "lower": "upper", "floor": "ceil", "minimum": "maximum"}
NAMES |= {new: old for old, new in NAMES.items()}


class Mutant(NamedTuple):
    """A file whose text between two places is replaced."""

    path: Path
    line: int
    start: int
    stop: int
    text: str


def is_of_types(node: ast.AST) -> bool:
    """Whether only readers of types see this branch."""
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def parts(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a tree that run: no annotations, docstrings, or what f-strings hold."""
    if isinstance(node, ast.JoinedStr) or is_of_types(node):
        return
    yield node
    hidden = {id(getattr(node, name, None)) for name in ("annotation", "returns")}
    hidden.add(id(docstring(node)))
    for child in ast.iter_child_nodes(node):
        if id(child) not in hidden:
            yield from parts(child)


def changes(node: ast.AST) -> Iterator[ast.AST]:
    """What may stand in place of a node."""
    match node:
        case ast.Compare():
            for i, op in enumerate(node.ops):
                if other := OTHERS.get(type(op)):
                    ops = [*node.ops[:i], other(), *node.ops[i + 1 :]]
                    yield ast.Compare(node.left, ops, node.comparators)
        case ast.BinOp() if other := OTHERS.get(type(node.op)):
            yield ast.BinOp(node.left, other(), node.right)
        case ast.BoolOp():
            yield ast.BoolOp(OTHERS[type(node.op)](), node.values)
            yield ast.BoolOp(node.op, node.values[1:])
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert()):
            yield node.operand
        case ast.Constant(value=int() | float() as value):
            yield ast.Constant(not value if isinstance(value, bool) else value + 1)
        case ast.IfExp():
            yield ast.IfExp(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)
        case ast.Name() if node.id in NAMES:
            yield ast.Name(NAMES[node.id])
        case ast.Attribute() if node.attr in NAMES:
            yield ast.Attribute(node.value, NAMES[node.attr])
        case ast.Expr(ast.Call()) | ast.Raise() | ast.AugAssign():
            yield ast.Pass()
        case ast.Return() if node.value:
            yield ast.Return()


def mutants(path: Path) -> Iterator[Mutant]:
    """All errors that can be planted in a file."""
    source = path.read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node in parts(ast.parse(source)):
        for other in changes(node):
            start = starts[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]
            stop = starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]
            text = ast.unparse(ast.fix_missing_locations(other))
            text = text if isinstance(other, ast.stmt) else f"({text})"
            yield Mutant(path, node.lineno, start, stop, text)  # type: ignore[attr-defined]


def copied(place: Path) -> None:
    """Copy what git knows, and the compiled kernels."""
    names = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    ).stdout
    for name in names.split("\0")[:-1]:
        target = place / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, target)
    spec = importlib.util.find_spec("_fastexp")
    if spec is None or spec.origin is None:
        sys.exit("install the package first: its kernels are not compiled")
    shutil.copyfile(spec.origin, place / "_fastexp.abi3.so")


def ended(command: list[str], place: Path) -> str:
    """Run a command in a copy: return "" if it passes, or else the line that tells why."""
    environment = {**os.environ, "PYTHONPATH": str(place), "PYTHONDONTWRITEBYTECODE": "1"}
    process = subprocess.Popen(
        command,
        cwd=place,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,  # so that its children can be killed with it
    )
    try:
        output, _ = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return f"{SECONDS} s have passed"
    if process.returncode == 0:
        return ""
    reasons = [line for line in output.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return (reasons or output.splitlines() or ["it crashed"])[-1 if not reasons else 0][:100]


def killer(name: str, place: Path, *, is_quick: bool) -> str:
    """Run the tests of a room, then all: return what an error dies by, or ""."""
    pytest = [sys.executable, "-P", "-m", "pytest", "-x", "-q", "-n", "2", "-p", "no:cacheprovider"]
    first = [f"tests/test_{topic}.py" for topic in FIRST[name].split()]
    if name == "kernels":
        build = [sys.executable, "-c", "import hatch_build, shutil\n"]
        build[-1] += "shutil.copyfile(hatch_build.build(), '_fastexp.abi3.so')"
        if reason := ended(build, place):
            return reason
    return ended(pytest + first, place) or ("" if is_quick else ended(pytest + SUITE, place))


def main() -> int:
    """Plant errors, print what becomes of each, and return how many survive."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--room", required=True, choices=FIRST)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--quick", action="store_true", help="run the room's own tests only")
    options = parser.parse_args()
    paths = [path for path in files("fastexp", ".py") if room(path) == options.room]
    found = [mutant for path in paths for mutant in mutants(path)]
    chosen = random.Random(options.seed).sample(found, min(options.count, len(found)))
    survivors = 0
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        copied(place)
        for path, line, start, stop, text in chosen:
            source, copy = path.read_bytes(), place / path.relative_to(ROOT)
            copy.write_bytes(source[:start] + text.encode() + source[stop:])
            begin = time.monotonic()
            reason = killer(options.room, place, is_quick=options.quick)
            copy.write_bytes(source)
            survivors += not reason
            old = " ".join(source[start:stop].decode().split())
            where = f"{path.relative_to(PACKAGE)}:{line}"
            print(f"{'dies' if reason else 'SURVIVES'} {where}: {old[:70]} -> {text[:70]}")
            seconds = time.monotonic() - begin
            print(f"    {reason or 'tests pass'} ({seconds:.0f} s)", flush=True)
    print(f"{survivors} of {len(chosen)} survive in {options.room}, of {len(found)} possible")
    return survivors


if __name__ == "__main__":
    sys.exit(main())
