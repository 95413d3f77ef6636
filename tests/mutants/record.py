"""Which rows were killed on which text: `tests/data/mutants.json` has a digest of each file.

The digest is of a file's code, its rows, and the code of their checks, all without docstrings,
comments and imports. So a file that is renamed, or imports what was renamed, is no other file,
and no history is needed to know what changed.
"""

from __future__ import annotations

import ast
import functools
import json
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b
from pathlib import Path

from tests.mutants import places
from tests.mutants.jury import KILLED, ROOT, SURVIVED, Jury
from tests.mutants.rows import ROWS

RECORD = ROOT / "tests" / "data" / "mutants.json"


@functools.cache
def mutants() -> dict[str, places.Mutant]:
    """The mutant of every row."""
    return {name: places.mutant(row) for rows in ROWS.values() for name, row in rows.items()}


def digests() -> dict[Path, str]:
    """The digest of every file that rows change."""
    parts: dict[Path, list[str]] = {}
    for checks, rows in ROWS.items():
        text = code(ROOT / f"tests/support/checks/{checks}.py")
        for name in rows:
            mutant = mutants()[name]
            steps = mutant.address.partition(":")[2].rpartition("/")[2]  # without rooms and files
            row = steps, mutant.changes, text
            parts.setdefault(mutant.path, [code(mutant.path)]).append(repr(row))
    return {path: _hash("".join(sorted(texts))) for path, texts in parts.items()}


@functools.cache
def code(path: Path) -> str:
    """A digest of what a file does: of its syntax tree without docstrings and imports."""
    return _hash(_shown(ast.parse(path.read_text())))


def _shown(value: object) -> str:
    # As `ast.dump`, but the same by every Python.
    if isinstance(value, list):
        return f"[{' '.join(_shown(item) for item in value if not _is_silent(item))}]"
    if not isinstance(value, ast.AST):
        return repr(value)
    fields = (
        f"{name}={_shown(part)}" for name, part in ast.iter_fields(value) if part not in (None, [])
    )
    return f"{type(value).__name__}({' '.join(fields)})"


def _is_silent(node: object) -> bool:
    docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return docstring or isinstance(node, ast.Import | ast.ImportFrom)


def _hash(text: str) -> str:
    return blake2b(text.encode(), digest_size=8).hexdigest()


def write(now: dict[Path, str]) -> None:
    """Record these digests as those of files whose mutants are all killed."""
    RECORD.write_text(json.dumps(sorted(now.values()), indent=0) + "\n")


def changed(checks: str) -> list[str]:
    """The rows of a module of checks whose files are not recorded as they are."""
    recorded = set(json.loads(RECORD.read_text()))
    now = digests()
    return [name for name in ROWS[checks] if now[mutants()[name].path] not in recorded]


def faults(jury: Jury, checks: str, names: Iterable[str]) -> list[str]:
    """What is wrong with rows: those that survive or cannot run; or that their checks fail."""
    wrong = []
    for number, name in enumerate(names):
        mutant = mutants()[name]
        if number == 0:
            status, error = jury.verdict(checks, mutant.path, mutant.path.read_text())
            if status != SURVIVED:
                return [f"{checks} without a mutant: {status}, {error}"]
        status, error = jury.verdict(checks, mutant.path, mutant.text)
        if status != KILLED or "Traceback" not in error:  # by a check, not for want of a library
            wrong.append(f"{name}: {status}, {mutant}\n{error}")
    return wrong


def run_all(jobs: int) -> list[str]:
    """What is wrong with any row; if nothing is, the digests of all files are recorded."""

    def of_checks(checks: str) -> list[str]:
        with Jury([checks]) as jury:
            return faults(jury, checks, ROWS[checks])

    # The most first, so that no worker ends with them alone.
    order = sorted(ROWS, key=lambda checks: -len(ROWS[checks]))
    mutants()  # once, as trees are changed and changed back
    with ThreadPoolExecutor(jobs) as pool:
        wrong = [fault for faults in pool.map(of_checks, order) for fault in faults]
    if not wrong:
        write(digests())
    return wrong
