"""Compare two versions of fastexp: ``python -m benchmarks.compare OLD NEW [--case SUBSTRING]``.

OLD and NEW are the Python interpreters of two environments. Each case of `tasks` runs in both in
turn, in one process for each that stays. The table has medians over the rounds: of the CPU time of
a call, and of the ratio of NEW's to OLD's in a round, with its limit. The case *start* is the CPU
time of a new process with a first exact answer, beyond that of ``import numpy``, without a home and
so without a cache; its last two columns are seconds of NEW. "-" is what a version cannot do.
"""

import argparse
import json
import resource
import subprocess
from collections import defaultdict
from pathlib import Path
from statistics import median

START = "import numpy as np, fastexp as fx; fx.Exponential(1.0, 1.0).release(np.arange(8.0))"
START_LIMIT = 0.05  # seconds beyond NumPy's import
PATIENCE = 5  # CPU seconds of starts; the first version compiled for 3 s


def text(seconds):
    """Return a time in three digits with its unit."""
    for unit, scale in ("s", 1.0), ("ms", 1e-3), ("µs", 1e-6):
        if seconds and seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return "-"


def ask(worker, request):
    """Return a worker's answer to a request."""
    print(request, file=worker.stdin, flush=True)
    return json.loads(worker.stdout.readline())


def children_seconds():
    """Return the CPU seconds, in user and system mode, of all processes that have ended."""
    return sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


def process_seconds(python, code):
    """Return the CPU seconds of a new process that runs code."""
    before = children_seconds()
    subprocess.run([python, "-P", "-c", code], env={"HOME": "/dev/null"}, check=True)
    return children_seconds() - before


def starts(pythons, rounds):
    """Return the seconds that a first answer takes beyond NumPy's import."""
    spent = defaultdict(list)
    for _ in range(rounds):
        for python in pythons:
            for code in ("import numpy", START):
                times = spent[python, code]
                if sum(times) < PATIENCE:
                    times.append(process_seconds(python, code))
    old, new = (median(spent[p, START]) - median(spent[p, "import numpy"]) for p in pythons)
    return old, new, new


def measured(workers, case, rounds):
    """Return the medians of a case."""
    pairs = [[ask(worker, case) for worker in workers] for _ in range(rounds)]
    old, new = (None if None in times else median(times) for times in zip(*pairs, strict=True))
    return old, new, median(b / a for a, b in pairs) if old and new else None


def main():
    """Compare the cases whose names have the given part."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pythons", nargs=2, metavar="PYTHON", help="of the old, and of the new")
    parser.add_argument("--case", default="", help="only the cases whose names have this part")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", type=Path, help="a file for the figures")
    arguments = parser.parse_args()
    script, pipe = Path(__file__).with_name("tasks.py"), subprocess.PIPE
    workers = [
        subprocess.Popen([python, "-P", script], stdin=pipe, stdout=pipe, text=True)
        for python in arguments.pythons
    ]
    cases = [json.loads(worker.stdout.readline()) for worker in workers][1]
    record = {}
    print(f"{'case':30}{'old':>9}{'new':>9} {'limit':>6} ratio")
    for number, (name, limit) in enumerate([*cases, ("start", START_LIMIT)]):
        if arguments.case not in name:
            continue
        old, new, ratio = record[name] = (
            starts(arguments.pythons, arguments.rounds)
            if name == "start"
            else measured(workers, number, arguments.rounds)
        )
        shown = "-" if ratio is None else f"{ratio:.2f}" + " over" * (ratio > limit)
        print(f"{name:30}{text(old):>9}{text(new):>9} {limit:6.2f} {shown}", flush=True)
    for worker in workers:
        worker.communicate()
    if arguments.json:
        arguments.json.write_text(json.dumps(record, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
