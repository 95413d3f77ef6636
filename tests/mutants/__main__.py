"""Tries mutants: random ones of a room or of all, those of given addresses, or all rows.

    python -m tests.mutants --room laws --seed 1 --count 60   # 60 random mutants of laws
    python -m tests.mutants --only ADDRESS... or FILE         # these, or those that a file lists
    python -m tests.mutants --all                             # every row, which nox -s mutants runs

Random mutants are drawn evenly over the nodes of a room's functions that an operator changes,
without `--room` over those of all rooms. Each is tried by the checks and tests of its room
(`trial`); one that cannot be imported does not count, and another one is drawn. What survives is
printed, with addresses that `--only` takes.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.mutants import places
from tests.mutants.trial import Trial


def main() -> int:
    """Try what the command line asks for; 0 where every row is killed, or mutants were tried."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--room", help="a room of the package, with the rooms below it")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--only", nargs="+", metavar="ADDRESS", help="mutants, or files that list them")
    parser.add_argument("--all", action="store_true", help="every row")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args()
    if asked.only:
        drawn, count = list(given(asked.only)), None
    else:
        drawn, count = random_addresses(asked.room, asked.seed), asked.count
    survivors, killed = try_all(iter(drawn), count, asked.jobs)
    for survivor in survivors:
        print(survivor)
    print(f"{killed} killed, {len(survivors)} survived")
    return 0


def given(names: list[str]) -> Iterator[str]:
    """The addresses that arguments are, or that files list, one a line."""
    for name in names:
        if Path(name).is_file():
            lines = Path(name).read_text().splitlines()
            yield from (line.split()[0] for line in lines if ":" in line[:1] or line[:1].strip())
        else:
            yield name


def random_addresses(room: str | None, seed: int) -> Iterator[str]:
    """Addresses of random mutants of a room, or of all, without an end; none comes twice."""
    rooms = [name for name in places.rooms() if not room or f"{name}/".startswith(f"{room}/")]
    assert rooms, f"there is no room {room}"
    nodes = [node for name in rooms for node in places.nodes(name)]
    choose = random.Random(seed)
    seen = set()
    while True:
        address = choose.choice(choose.choice(nodes))
        if address not in seen:
            seen.add(address)
            yield address


def try_all(
    addresses: Iterator[str], count: int | None, jobs: int
) -> tuple[list[places.Mutant], int]:
    """The survivors, and how many were killed, of the first `count` viable mutants, or of all."""
    own = threading.local()
    trials: list[Trial] = []

    def verdict(mutant: places.Mutant) -> str:
        if not hasattr(own, "trial"):
            own.trial = Trial().__enter__()
            trials.append(own.trial)
        killer = own.trial.of(mutant)
        print(f"{killer or 'SURVIVED':<60} {mutant.address}", file=sys.stderr, flush=True)
        return killer

    survivors, killed = [], 0
    try:
        with ThreadPoolExecutor(jobs) as pool:
            while True:
                missing = None if count is None else count - killed - len(survivors)
                batch = list(map(places.mutant, itertools.islice(addresses, missing)))
                for mutant, killer in zip(batch, pool.map(verdict, batch), strict=True):
                    if not killer:
                        survivors.append(mutant)
                    elif killer != "not viable":
                        killed += 1
                if not batch:
                    return survivors, killed
    finally:
        for trial in trials:
            trial.__exit__()


if __name__ == "__main__":
    sys.exit(main())
