"""Does every test carry the marks of what it uses, so that `-m fast` is what it says?

A test uses what is named in it, and in the helpers, fixtures and values that it names, in its own
file or another one of the tests. Processes are also watched while tests run (`conftest.py`), and
no test waits for ever.
"""

from __future__ import annotations

import ast
import functools
import itertools
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.support.each import each

TESTS = Path(__file__).parents[1]
FILES = sorted(TESTS.rglob("test_*.py"))
# The marks that follow from what a test uses. `slow` and `proof` are judgements.
MARKS = {
    "process": {"subprocess", "multiprocessing", "os.fork", "pyspark", "distributed"},
    "engines": {"polars", "pandas", "duckdb", "dask", "distributed", "pyspark", "narwhals"},
    "peers": {"dp_accounting", "opendp", "diffprivlib"},
    "statistical": {
        "tests.support.goodness",
        *(f"scipy.stats.{name}" for name in ("chi2", "chisquare", "ks_2samp", "kstest", "kstwo")),
    },
}

WAITING = ("subprocess.run", "subprocess.check_output", ".communicate")


class Source:
    """A file of the tests: what its names stand for, and its tests."""

    def __init__(self, text: str) -> None:
        self._tree = ast.parse(text)
        self._imported = dict(_imports(self._tree))
        self._defined: dict[str, list[ast.AST]] = {}
        for node in self._tree.body:
            for name in _defined(node):
                self._defined.setdefault(name, []).append(node)

    def tests(self) -> Iterator[tuple[str, list[ast.AST], set[str]]]:
        """Every test: its name, what it consists of, its marks."""
        everywhere = _marks(self._defined.get("pytestmark", []))
        for node in self._tree.body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
                yield node.name, [node], _marks(node.decorator_list) | everywhere
            elif isinstance(node, ast.ClassDef):
                methods = {n.name: n for n in node.body if isinstance(n, ast.FunctionDef)}
                for name, method in methods.items():
                    if name.startswith("test"):
                        named = {n.removeprefix("self.") for n in _names(method)}
                        helpers = [methods[n] for n in named & methods.keys()]
                        decorators = method.decorator_list + node.decorator_list
                        marks = _marks(decorators) | everywhere
                        yield f"{node.name}::{name}", [method, *helpers], marks

    def uses(self, *nodes: ast.AST) -> set[str]:
        """The full names of everything from elsewhere that `nodes` use, directly or not."""
        used, seen, rest = set(), set(), list(nodes)
        while rest:
            node = rest.pop()
            used |= {full for _, full in _imports(node)}
            for name in _names(node):
                first, _, attribute = name.partition(".")
                if first in self._imported:
                    used.add(".".join(filter(None, (self._imported[first], attribute))))
                elif first not in seen:
                    seen.add(first)
                    rest += self._defined.get(first, [])
        return used.union(*map(_used_elsewhere, used))

    def uses_of(self, name: str) -> set[str]:
        """The same of one of its names."""
        return self.uses(*self._defined.get(name, []))


def missing(source: Source) -> list[str]:
    """The marks that tests of a file should have and have not."""
    return [
        f"{name}: {mark}"
        for name, nodes, marks in source.tests()
        for mark, libraries in MARKS.items()
        if mark not in marks and not libraries.isdisjoint(_prefixes(source.uses(*nodes)))
    ]


def endless(tree: ast.AST) -> list[str]:
    """Calls that wait for a process without a limit, and blocks that do so at their end."""
    nodes = list(ast.walk(tree))
    calls = [n for n in nodes if isinstance(n, ast.Call)]
    waiting = [c for c in calls if ast.unparse(c.func).endswith(WAITING)]
    unlimited = [c for c in waiting if "timeout" not in {k.arg for k in c.keywords}]
    processes = {"subprocess.Popen"}  # and the names in this file of functions that return one
    for node in nodes:
        if isinstance(node, ast.FunctionDef) and node.returns:
            returned = ast.unparse(node.returns)
            processes |= {node.name} if returned.startswith("subprocess.Popen") else set()
        elif isinstance(node, ast.Assign) and _starts(node.value, processes):
            processes |= {ast.unparse(target) for target in node.targets}
    blocks = [
        item.context_expr
        for node in nodes
        if isinstance(node, ast.With) and not _kills_at_last(node.body)
        for item in node.items
        if _starts(item.context_expr, processes)
    ]
    return [ast.unparse(node) for node in unlimited + blocks]


def _starts(value: ast.expr, processes: set[str]) -> bool:
    return ast.unparse(value.func if isinstance(value, ast.Call) else value) in processes


def _kills_at_last(body: list[ast.stmt]) -> bool:
    last = body[-1]
    return isinstance(last, ast.Try) and any(".kill()" in ast.unparse(s) for s in last.finalbody)


@functools.cache
def _imports(tree: ast.AST) -> list[tuple[str, str]]:
    """(name, what it stands for) of every import below a node; `importorskip` is one."""
    pairs = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name.partition(".")[0]  # what `import a.b` binds
                pairs.append((alias.asname, alias.name) if alias.asname else (first, first))
        elif isinstance(node, ast.ImportFrom):
            pairs += [(a.asname or a.name, f"{node.module}.{a.name}") for a in node.names]
        elif isinstance(node, ast.Assign):
            names = [n.id for n in ast.walk(node.targets[0]) if isinstance(n, ast.Name)]
            pairs += zip(names, _skipped_for(node.value), strict=False)
        elif isinstance(node, ast.Expr):
            pairs += [("", library) for library in _skipped_for(node.value)]
    return pairs


def _skipped_for(value: ast.AST) -> list[str]:
    """The libraries whose `pytest.importorskip` a value is; of several, in their order."""
    calls = value.elts if isinstance(value, ast.Tuple) else [value]
    return [
        call.args[0].value
        for call in calls
        if isinstance(call, ast.Call)
        if ast.unparse(call.func) == "pytest.importorskip"
        if isinstance(call.args[0], ast.Constant)
    ]


def _defined(node: ast.AST) -> Iterator[str]:
    """The names that a statement of a file binds."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        yield from (n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name))


@functools.cache
def _names(tree: ast.AST) -> frozenset[str]:
    """The names below a node, dotted as far as they are; parameters may name fixtures."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            names.add(node.arg)
        attributes: list[str] = []
        while isinstance(node, ast.Attribute):
            attributes.append(node.attr)
            node = node.value
        if isinstance(node, ast.Name):
            names.add(".".join([node.id, *reversed(attributes)]))
    return frozenset(names)


def _marks(nodes: Iterable[ast.AST]) -> set[str]:
    names = {name for node in nodes for name in _names(node)}
    return {n.removeprefix("pytest.mark.") for n in names if n.startswith("pytest.mark.")}


def _prefixes(names: set[str]) -> set[str]:
    """`a.b.c` is of `a` and of `a.b`."""
    return {n for name in names for n in itertools.accumulate(name.split("."), "{}.{}".format)}


@functools.cache
def _source(path: Path) -> Source:
    return Source(path.read_text())


@functools.cache
def _used_elsewhere(full: str) -> frozenset[str]:
    """What a name from another file of the tests uses."""
    module, _, name = full.rpartition(".")
    path = TESTS.parent / (module.replace(".", "/") + ".py")
    inside = module.startswith("tests.") and path.exists()
    return frozenset(_source(path).uses_of(name)) if inside else frozenset()


def _place(path: Path) -> str:
    return str(path.relative_to(TESTS))


@pytest.mark.slow
@each("path", FILES, ids=_place)
def test_marks_fit_what_tests_use(path):
    assert missing(_source(path)) == []


@each(
    ("text", "mark"),
    [
        ("import subprocess\ndef test(): subprocess.run([])", "process"),
        ("import os\ndef child(): os.fork()\ndef test(): child()", "process"),
        ("import os\n@pytest.fixture\ndef child(): os.fork()\ndef test(child): pass", "process"),
        ("def test():\n    import polars as pl\n    pl.DataFrame()", "engines"),
        ("pl = pytest.importorskip('polars')\nCASES = [pl.Series()]\ndef test(): CASES", "engines"),
        ("a, pl = 1, 2\ndef test():\n    pytest.importorskip('polars')", "engines"),
        ("from tests.support.goodness import fits\ndef test(): assert fits([], [])", "statistical"),
        (
            "from tests.support import goodness\ndef test(): goodness.two_sample_fits()",
            "statistical",
        ),
        ("from scipy import stats\ndef test(): stats.kstest([], [])", "statistical"),
        ("import scipy.stats\ndef test(): scipy.stats.chisquare([])", "statistical"),
        ("from scipy.stats import kstest\ndef p(): kstest([])\ndef test(): p()", "statistical"),
        ("from tests.support.killed_run import main\ndef test(): main()", "process"),
    ],
)
def test_what_is_missing_is_noticed(text, mark):
    assert missing(Source(text)) == [f"test: {mark}"]
    for marked in (f"@pytest.mark.{mark}", f"@pytest.mark.{mark}()"):
        assert missing(Source(text.replace("def test(", f"{marked}\ndef test("))) == []
    assert missing(Source(f"{text}\npytestmark = [pytest.mark.{mark}]")) == []


def test_classes_are_looked_into():
    child = "import os\nclass TestAll:\n    def child(self): os.fork()\n    def test(self"
    for text in (child + "): self.child()", child + ", child): pass"):
        assert missing(Source(text)) == ["TestAll::test: process"]
        marked = text.replace("class", "@pytest.mark.process\nclass")
        assert missing(Source(marked)) == []


@pytest.mark.slow
@each("path", sorted(TESTS.rglob("*.py")), ids=_place)
def test_nobody_waits_for_ever(path):
    assert endless(ast.parse(path.read_text())) == []


def test_waiting_for_ever_is_noticed():
    text = "subprocess.run([])\nprocess.communicate()\nsubprocess.run([], timeout=9)"
    assert endless(ast.parse(text)) == ["subprocess.run([])", "process.communicate()"]


@each(
    "text",
    [
        "with subprocess.Popen([]) as one: pass",
        "one = subprocess.Popen([])\nwith one, one.stdout: pass",
        "def start() -> subprocess.Popen[str]: pass\nwith start(): pass",
    ],
)
def test_a_block_that_waits_for_ever_is_noticed(text):
    """`Popen` waits without a limit at the end of its block, whatever was raised in it."""
    assert len(endless(ast.parse(text))) == 1
    assert endless(ast.parse(f"{text[:-4]}\n try: pass\n finally: one.kill()")) == []


def run_apart(path, text, *options):
    """A run of one file of tests, with these settings and this `conftest.py`."""
    path.write_text(text)
    command = [sys.executable, "-m", "pytest", "-c", "pyproject.toml", "-p", "tests.conftest"]
    return subprocess.run(
        [*command, "-p", "no:cacheprovider", *options, str(path)],
        cwd=TESTS.parent,
        capture_output=True,
        text=True,
        timeout=100,
    )


@pytest.mark.process
def test_a_test_that_hangs_ends_the_run_with_a_traceback(tmp_path, pytestconfig):
    assert 300 <= float(pytestconfig.getini("faulthandler_timeout")) <= 1200
    text = "def test_hanging():\n    __import__('threading').Event().wait()\n"
    run = run_apart(tmp_path / "test_hanging.py", text, "-o", "faulthandler_timeout=1")
    assert run.returncode == 1
    assert "Timeout (0:00:01)!" in run.stderr
    assert "in test_hanging" in run.stderr


@pytest.mark.process
def test_a_skip_is_a_failure_where_peers_are_asked_for(tmp_path):
    path = tmp_path / "test_peer.py"
    text = "import pytest\n@pytest.mark.peers\ndef test(): pytest.importorskip('no_peer')\n"
    assert run_apart(path, text).returncode == 0
    run = run_apart(path, text, "-m", "peers")
    assert run.returncode == 1
    assert "could not import 'no_peer'" in run.stdout
