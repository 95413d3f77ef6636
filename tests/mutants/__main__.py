"""Tries mutants: random ones of a room or of all, those of given addresses, or every row.

    python -m tests.mutants --room laws --seed 1 --count 60   # 60 random mutants of laws
    python -m tests.mutants --only ADDRESS... or FILE         # these, or those that a file lists
    python -m tests.mutants --all                             # every row; then they are recorded

Random mutants are drawn evenly over the nodes of a room's functions that operators change; without
`--room`, over those of all rooms. Each is tried by the checks and tests of its room (`trial`). One
that cannot be imported does not count, and another one is drawn. What survives is printed: its
address, which `--only` takes, and below it where it is, what was there, and what stands there now.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import sys
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.mutants import places
from tests.mutants.trial import Trial


def main() -> None:
    """Try what the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--room", help="a room of the package, with those below it")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--only", nargs="+", help="addresses, and files with one a line")
    parser.add_argument("--all", action="store_true", help="every row of tests/mutants/rows.py")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args()
    if asked.all:
        from tests.mutants import record  # another checkout may have no rows

        sys.exit("\n".join(record.run_all(asked.jobs)))
    count = None if asked.only else asked.count
    drawn = listed(asked.only) if asked.only else random_addresses(asked.room, asked.seed)
    survivors, killed = tried(iter(drawn), count, asked.jobs)
    for survivor in survivors:
        print(survivor)
    print(f"{killed} killed, {len(survivors)} survived")


def listed(arguments: list[str]) -> Iterator[str]:
    """The addresses that arguments are, or that files list: their lines that are not indented."""
    for argument in arguments:
        path = Path(argument)
        lines = path.read_text().splitlines() if path.is_file() else [argument]
        yield from (line.split()[0] for line in lines if line[:1].strip() and ":" in line)


def random_addresses(room: str | None, seed: int) -> Iterator[str]:
    """Addresses of random mutants of a room, or of all, without an end; none comes twice."""
    rooms = [name for name in places.rooms() if not room or f"{name}/".startswith(f"{room}/")]
    nodes = [node for name in rooms for node in places.nodes(name)]
    if not nodes:
        sys.exit(f"there is nothing to change in a room {room}")
    choose = random.Random(seed)  # noqa: S311  # no secrets
    drawn = set()
    while True:
        address = choose.choice(choose.choice(nodes))
        if address not in drawn:
            drawn.add(address)
            yield address


def tried(
    addresses: Iterable[str], count: int | None, jobs: int
) -> tuple[list[places.Mutant], int]:
    """The survivors of the first `count` viable mutants, or of all, and how many were killed."""
    own = threading.local()
    trials: list[Trial] = []

    def killer(mutant: places.Mutant) -> str | None:
        if not hasattr(own, "trial"):
            own.trial = Trial()
            trials.append(own.trial)
        killer = own.trial.killer(mutant)
        outcome = "survived" if killer == "" else killer or "not viable"
        print(f"{mutant.address}    {outcome}", file=sys.stderr, flush=True)
        return killer

    survivors, killed = [], 0
    try:
        with ThreadPoolExecutor(jobs) as pool:
            while True:
                missing = None if count is None else count - killed - len(survivors)
                batch = list(map(places.mutant, itertools.islice(addresses, missing)))
                for mutant, name in zip(batch, pool.map(killer, batch), strict=True):
                    killed += bool(name)
                    survivors += [mutant] if name == "" else []
                if not batch:
                    return survivors, killed
    finally:
        for trial in trials:
            trial.close()


if __name__ == "__main__":
    main()
