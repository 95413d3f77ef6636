"""The table of the README, from a file of pytest-benchmark: ``python -m benchmarks.table FILE``.

It also writes the medians to ``bench_results/peers.json``.
"""

import json
import sys
from itertools import groupby
from pathlib import Path

from .compare import text

RESULTS = Path(__file__).parents[1] / "bench_results" / "peers.json"


def main():
    """Print the machine, and for each task and size fastexp's time and that of the best peer."""
    record = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    print(f"{record['machine_info']['cpu'].get('brand_raw')}, CPU time of one thread.\n")
    print("| task and size | fastexp | best peer | its time | ratio |\n|---|---:|---|---:|---:|")
    results = {}
    for task, rows in groupby(record["benchmarks"], key=lambda row: row["group"]):
        times = {row["params"]["way"]: row["stats"]["median"] for row in rows}
        results[task] = dict(times)
        ours = times.pop("fastexp", None)
        best = min(times, key=times.get, default="-")
        theirs = times.get(best)
        ratio = f"{theirs / ours:.2f}" if ours and theirs else "-"
        print(f"| {task} | {text(ours)} | {best} | {text(theirs)} | {ratio} |")
    RESULTS.write_text(json.dumps(results, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
