"""The rooms of the house, lowest first, and who imports from whom.

python -m tests.house.rooms      # rooms, arrows between them, circles, imports that go up
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "fastexp"
# A room is a folder, or a file beside `fastexp/__init__.py`. A file imports from its own room and
# from rooms of lower floors; rooms of one floor do not know each other.
ROOMS: list[list[str]] = [
    ["errors", "_typing", "_version"],
    ["_threads", "_compiler"],
    ["kernels", "kernels/bits"],
    ["kernels/select"],
    ["kernels/numbers"],
    ["kernels/figures", "kernels/groups"],
    ["reference"],
    ["_parameters"],
    ["pictures"],
    ["privacy", "_arrow", "_randomness"],
    ["budget"],
    ["_intake"],
    ["_selection"],
    ["_numbers", "_keys"],
    ["sensitivity", "smooth"],
    ["grouped", "laws"],
    ["utilities"],
    ["mechanisms"],
    ["auditing", "comparison", "exact_errors"],
    ["query/disk"],
    ["query/engines", "studies/subjects"],
    ["query/files"],
    ["query/frames", "query/output"],
    ["query/calls", "studies/design"],
    ["query", "studies/sums", "studies/ready", "sufficient_epsilon"],
    ["studies/store"],
    ["studies/report"],
    ["studies/run"],
    ["studies"],
    ["__init__"],  # the public names
    ["cli/terminal"],
    ["cli/options"],
    ["cli/request"],
    ["cli/render"],
    ["cli/commands"],
    ["cli"],
    ["__main__"],
]
FLOOR = {room: floor for floor, rooms in enumerate(ROOMS) for room in rooms}
Graph = Mapping[str, Iterable[str]]


def parsed(path: Path) -> ast.Module:
    """The syntax tree of a file, made once of each text."""
    return _parsed(path.read_text())


@cache
def _parsed(text: str) -> ast.Module:
    return ast.parse(text)


def module(path: Path, package: Path = PACKAGE) -> str:
    """The name by which a file is imported; of an `__init__.py` its folder's."""
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room(path: Path, package: Path = PACKAGE) -> str:
    """The folder of a file, or the file itself where it lies beside `fastexp/__init__.py`."""
    parts = path.relative_to(package).with_suffix("").parts
    return "/".join(parts[:-1]) or parts[0]


def modules(package: Path = PACKAGE) -> dict[str, Path]:
    """Every file of the package by its name."""
    return {module(path, package): path for path in sorted(package.rglob("*.py"))}


def imports(path: Path, package: Path, names: Collection[str]) -> set[str]:
    """Those of `names` that a file imports, wherever in it and for whatever use."""
    folder = path.parent.relative_to(package.parent).parts
    imported = set()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = folder[: len(folder) - node.level + 1] if node.level else ()
            base = ".".join([*above, *([node.module] if node.module else [])])
            inside = {f"{base}.{alias.name}" for alias in node.names}
            imported |= {name if name in names else base for name in inside}
    return {name for name in imported if name in names}


def graph(package: Path = PACKAGE) -> dict[str, set[str]]:
    """What each file imports."""
    names = modules(package)
    return {name: imports(path, package, names) - {name} for name, path in names.items()}


def circles(arrows: Graph) -> list[list[str]]:
    """Groups in which each leads to each other one (strongly connected, two or more)."""
    order: list[str] = []
    done: set[str] = set()
    backward: dict[str, set[str]] = {}
    for start, ends in arrows.items():
        for end in ends:
            backward.setdefault(end, set()).add(start)
    for start in arrows:
        _visit(start, arrows, done, order)
    done = set()
    groups = []
    for start in reversed(order):
        group: list[str] = []
        _visit(start, backward, done, group)
        if len(group) > 1:
            groups.append(sorted(group))
    return groups


def _visit(start: str, arrows: Graph, done: set[str], order: list[str]) -> None:
    """Append what can be reached from `start` to `order`, each after what it leads to."""
    if start in done:
        return
    done.add(start)
    path = [(start, iter(arrows.get(start, ())))]
    while path:
        _, ends = path[-1]
        following = next((end for end in ends if end not in done), None)
        if following is None:
            order.append(path.pop()[0])
        else:
            done.add(following)
            path.append((following, iter(arrows.get(following, ()))))


def room_arrows(arrows: Graph, package: Path = PACKAGE) -> dict[str, set[str]]:
    """Which rooms the files of each room import from."""
    rooms = {name: room(path, package) for name, path in modules(package).items()}
    between: dict[str, set[str]] = {name: set() for name in rooms.values()}
    for name, others in arrows.items():
        between[rooms[name]] |= {rooms[other] for other in others} - {rooms[name]}
    return between


def upward(arrows: Graph, package: Path = PACKAGE) -> list[str]:
    """The imports that do not go to the own room or a lower floor, as "file <- module"."""
    rooms = {name: room(path, package) for name, path in modules(package).items()}
    top = len(ROOMS)
    return [
        f"{name} <- {other}"
        for name, others in arrows.items()
        for other in sorted(others)
        if rooms[other] != rooms[name]
        and FLOOR.get(rooms[other], top) >= FLOOR.get(rooms[name], -1)
    ]


def main() -> None:
    """Print what the rooms are and what is wrong with them."""
    arrows = graph()
    between = room_arrows(arrows)
    count = sum(len(others) for others in between.values())
    print(f"{len(between)} rooms on {len(ROOMS)} floors, {count} arrows")
    print("rooms that are not listed:", *sorted(set(between) - set(FLOOR)) or ["none"])
    for kind, groups in ("files", circles(arrows)), ("rooms", circles(between)):
        print(f"circles of {kind}:", *[" ".join(group) for group in groups] or ["none"], sep="\n  ")
    print("imports that go up:", *upward(arrows) or ["none"], sep="\n  ")


if __name__ == "__main__":
    main()
