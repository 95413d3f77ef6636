"""Names that say what happened to a value instead of what it is, by room.

    python -m tests.house.names [ROOM]     # how many there are; of a room also where

Of a room it also prints calls that forward a tuple or dictionary by its name (`f(*pair)`), which
hide what is an argument of what: where names would do, they are to be written.

A name is counted where it gets a value: an assignment, a loop, `with ... as`, `import ... as`, a
parameter, an attribute, a function, a class, a file. Underscores before and after do not matter.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.house.rooms import PACKAGE, parsed

BANNED = {"asked", "found", "how", "kept", "listed", "made", "own", "shown", "told"}
# (file, name): why it says what the value is
EXCUSED: dict[tuple[str, str], str] = {}
# What a name means that files of several rooms have: the same thing in each of them.
MEANINGS = {
    "accuracy": "how accurate answers are, by their exact laws",
    "arrays": "data that come as arrays",
    "arrow": "Arrow data",
    "budget": "what may be spent",
    "contribution": "which of a person's rows count",
    "counts": "how many records each candidate has",
    "errors": "the exceptions, and what a command says of them",
    "finite": "a selection from finitely many candidates",
    "flips": "coins of randomised response",
    "grid": "the public grid",
    "grouping": "rows in the order of their groups",
    "gumbel": "the noisy maximum",
    "joint_top_k": "joint top-k",
    "laplace": "Laplace noise on a public grid",
    "mechanism": "what a mechanism is",
    "mode": "the mode",
    "noise": "float noise around a median",
    "noisy": "statistics with float noise",
    "number": "a private number",
    "permute_flip": "permute-and-flip",
    "quantile_chain": "sums of joint quantiles from answer to answer",
    "quantiles": "several quantiles in one draw",
    "rank_errors": "exact errors of rank statistics on many data sets",
    "rank_rows": "cells by rank distance of many data sets",
    "ranked": "statistics by rank distance",
    "rows": "a draw or a few from each row of utilities",
    "smooth": "smooth sensitivity",
    "study": "a study",
    "top_k": "top-k",
    "utilities": "utilities of candidates",
    "verbs": "release and sample of a call",
    "words": "random words",
}


def named(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Every name that gets a value, with its line."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield node.lineno, name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield node.lineno, name
            case ast.ClassDef(name=name) | ast.arg(arg=name):
                yield node.lineno, name
            case ast.alias(asname=str(name)) | ast.ExceptHandler(name=str(name)):
                yield node.lineno, name
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield node.lineno, name


def banned(package: Path = PACKAGE) -> list[tuple[str, int, str]]:
    """(file, line, name) of every banned name that nothing excuses."""
    places = []
    for path in sorted(package.rglob("*.py")):
        file = path.relative_to(package).as_posix()
        names = [(1, path.stem), *named(parsed(path))]
        places += [(file, line, name.strip("_")) for line, name in names]
    return [
        (file, line, name)
        for file, line, name in places
        if name in BANNED and (file, name) not in EXCUSED
    ]


def unneeded_excuses(package: Path = PACKAGE) -> list[tuple[str, str]]:
    """Excuses of names that are not there."""
    there = set()
    for file in {file for file, _ in EXCUSED}:
        if (package / file).exists():
            there |= {(file, name.strip("_")) for _, name in named(parsed(package / file))}
    return sorted(set(EXCUSED) - there)


def stems(package: Path = PACKAGE) -> dict[str, list[str]]:
    """The files of each name that several files have, `__init__` apart."""
    files: dict[str, list[str]] = {}
    for path in sorted(package.rglob("*.py")):
        files.setdefault(path.stem.strip("_"), []).append(path.relative_to(package).as_posix())
    return {stem: paths for stem, paths in files.items() if len(paths) > 1 and stem != "init"}


def forwarded(package: Path = PACKAGE) -> list[tuple[str, int, str]]:
    """(file, line, argument) of calls with a named tuple or dictionary behind `*` or `**`."""
    places = []
    for path in sorted(package.rglob("*.py")):
        file = path.relative_to(package).as_posix()
        for node in ast.walk(parsed(path)):
            if not isinstance(node, ast.Call):
                continue
            stars = [("*", arg.value) for arg in node.args if isinstance(arg, ast.Starred)]
            stars += [("**", keyword.value) for keyword in node.keywords if keyword.arg is None]
            for star, value in stars:
                if isinstance(value, ast.Name | ast.Attribute):
                    places.append((file, node.lineno, star + ast.unparse(value)))
    return places


def main() -> None:
    """Print the counts, and of a room the places."""
    places = banned()
    if len(sys.argv) > 1:
        for file, line, name in [*places, *forwarded()]:
            if file.startswith(sys.argv[1]):
                print(f"fastexp/{file}:{line}: {name}")
        return
    for counts in (
        Counter(file.rpartition("/")[0] or file for file, _, _ in places),
        Counter(name for _, _, name in places),
    ):
        print(*(f"{count:5} {what}" for what, count in counts.most_common()), sep="\n")
        print(f"{counts.total():5} in all\n")


if __name__ == "__main__":
    main()
