"""A run that tests kill: ``python -m tests.support.killed_run FOLDER EXECUTOR TASKS``.

After some tasks it says which processes work for it, and waits to be killed.
"""

from __future__ import annotations

import multiprocessing
import sys
import time

from tests.support.small_study import small


def main(out: str, executor: str, enough: int) -> None:
    """Run until enough tasks are done."""

    def wait(done: int, _: int) -> None:
        if done == enough:
            workers = [str(process.pid) for process in multiprocessing.active_children()]
            sys.stdout.write(" ".join(workers) + "\n")
            sys.stdout.flush()
            time.sleep(600)

    small().run(executor, workers=2, out=out, progress=wait)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
