"""The walks of a record and of a command: which rooms they visit, and how often they climb.

A *room* is a folder of the package, with its sub-folders, or a file that lies beside
`fastexp/__init__.py`. `errors`, `_typing` and `_version` are no rooms here: all may use them.

A *visit*: a room is visited if a function of one of its files begins while the call runs.
What Python counts as a function counts: methods, properties, lambdas, wrappers of decorators,
comprehensions that are functions, each start and resumption of a generator. A kernel is machine
code, whose inside no profile sees; its wrapper is of `_compiler`, and what the wrapper calls counts
as a call into the kernel's file.

A *climb* is a call, not a return, into a file above the caller's: a method of a mechanism that a
lower room calls, a function that was handed down, the next item of a generator from above, a
kernel. The caller is the nearest function of ours, whoever is between (NumPy, the standard
library). What is above what is the order of a list `ROOMS`, lowest first, which may name
sub-folders and files of their own; a step up inside of a room is a climb too.

Calls are warm: each is made twice, and the second one counts, so that imports, first uses and
compilation do not. Words of the operating system are replaced by ones that never change, so that
the rare exact test of a draw, which is a walk of its own, does not make two counts differ.

    python -m tests.house.walks                  # of this tree
    python -m tests.house.walks TREE ORDER       # of another one; ORDER is the file with `ROOMS`

`fastexp/README.md` has the figures, beside those of 455bb5d, where each private file that lay
beside `__init__.py` was a room.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

HOUSE = Path(__file__).parent
APART = {"errors", "_typing", "_version"}


@dataclass
class Walk:
    """What one call did: its rooms, each with the first step into it, and its climbs."""

    rooms: dict[str, str] = field(default_factory=dict)
    climbs: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [f"{len(self.rooms)} rooms, {len(self.climbs)} climbs"]
        lines += [f"  {room:12} {step}" for room, step in self.rooms.items()]
        lines += [f"  climb        {step}" for step in self.climbs]
        return "\n".join(lines)


class Plan:
    """The rooms of a package, and what is above what."""

    def __init__(self, package: Path, floors: list[Any]) -> None:
        self.package = package.resolve()
        self.floors = {
            name: height
            for height, floor in enumerate(floors)
            for name in ([floor] if isinstance(floor, str) else floor)
        }

    def parts(self, file: str) -> tuple[str, ...]:
        """The way to a file from the package, without its suffix; empty if it is another's."""
        path = Path(file)
        if not path.is_relative_to(self.package):
            return ()
        return path.relative_to(self.package).with_suffix("").parts

    def floor(self, parts: tuple[str, ...]) -> int:
        """The height of a file: of the longest listed part of the way to it."""
        for end in range(len(parts), 0, -1):
            height = self.floors.get("/".join(parts[:end]))
            if height is not None:
                return height
        raise ValueError(f"{'/'.join(parts)} is in no room of the list")


class Watch:
    """Follows the calls of all threads while it is on."""

    def __init__(self, plan: Plan) -> None:
        self.walk = Walk()
        self._plan = plan
        self._seen: dict[CodeType, tuple[str, ...]] = {}

    def _parts(self, code: CodeType) -> tuple[str, ...]:
        """The way to the file of a function of ours; empty of others' and of those apart."""
        if code not in self._seen:
            parts = self._plan.parts(code.co_filename)
            self._seen[code] = () if parts[:1] and parts[0] in APART else parts
        return self._seen[code]

    def __call__(self, frame: FrameType, event: str, _argument: object) -> None:
        """What Python calls at each event."""
        code = frame.f_code
        if event != "call" or not self._parts(code):
            return
        caller = frame.f_back
        while caller is not None and not self._parts(caller.f_code):
            caller = caller.f_back
        self._step(None if caller is None else caller.f_code, code)
        if code.co_qualname in {"Kernel.__call__", "Helper.__call__"}:
            self._step(code, frame.f_locals["self"].function.__code__)

    def _step(self, caller: CodeType | None, called: CodeType) -> None:
        parts = self._parts(called)
        step = f"{self._name(caller)} -> {self._name(called)}"
        self.walk.rooms.setdefault(parts[0], step)
        floor = self._plan.floor(parts)
        if caller is not None and floor > self._plan.floor(self._parts(caller)):
            self.walk.climbs.append(step)

    def _name(self, code: CodeType | None) -> str:
        return "" if code is None else f"{'/'.join(self._parts(code))}.{code.co_qualname}"

    @contextlib.contextmanager
    def on(self) -> Iterator[None]:
        """Follow what is called in this block."""
        threading.setprofile(self)
        sys.setprofile(self)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)


@contextlib.contextmanager
def _constant_words() -> Iterator[None]:
    real = os.urandom
    os.urandom = lambda count: (bytes.fromhex("9e3779b97f4a7c15f39cc0605cedc834") * count)[:count]
    try:
        yield
    finally:
        os.urandom = real


def walk(plan: Plan, call: Callable[[], object]) -> Walk:
    """The walk of a call that is made for the second time."""
    with _constant_words():
        call()
        watch = Watch(plan)
        with watch.on():
            call()
    return watch.walk


def walks(plan: Plan, folder: Path) -> dict[str, Walk]:
    """The walks of the house by their names; a file of numbers is written into the folder."""
    import numpy as np

    import fastexp as fx
    from fastexp import cli

    few, many = (np.random.default_rng(1).normal(50.0, 10.0, n) for n in (1_000, 100_000))
    median = fx.Median(epsilon=1.0, bounds=(0, 120), step=1)
    exponential = fx.Exponential(epsilon=1.0, sensitivity=1.0)
    file = folder / "ages.csv"
    file.write_text("age\n" + "\n".join(str(int(record)) for record in few) + "\n")
    line = ["median", str(file), "--column", "age", "--epsilon", "1"]
    line += ["--bounds", "0", "120", "--step", "1", "--json", "--quiet"]

    def command() -> None:
        with contextlib.redirect_stdout(io.StringIO()):
            ending = cli.main(line)
        assert not ending, ending

    return {
        "Median.release, 1,000 records": walk(plan, lambda: median.release(few)),
        "Median.release, 100,000 unsorted records": walk(plan, lambda: median.release(many)),
        "Exponential.release": walk(plan, lambda: exponential.release(few)),
        "fastexp median": walk(plan, command),
    }


def floors_of(path: Path) -> list[Any]:
    """The list `ROOMS` of a file, which is not imported."""
    for node in ast.parse(path.read_text()).body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            targets = [node.target]
        if any(isinstance(t, ast.Name) and t.id == "ROOMS" for t in targets):
            floors: list[Any] = ast.literal_eval(node.value)
            return floors
    raise ValueError(f"{path} has no list ROOMS")


def main() -> None:
    """Print the walks of a tree."""
    tree = Path(sys.argv[1]) if len(sys.argv) > 1 else HOUSE.parent.parent
    order = Path(sys.argv[2]) if len(sys.argv) > 2 else HOUSE / "rooms.py"
    sys.path.insert(0, str(tree.resolve()))
    import fastexp

    package = Path(fastexp.__file__).parent
    assert package == tree.resolve() / "fastexp", package
    with tempfile.TemporaryDirectory() as folder:
        for name, seen in walks(Plan(package, floors_of(order)), Path(folder)).items():
            print(f"{name}: {seen}")


if __name__ == "__main__":
    main()
