"""Many rows through little memory: ``python -m benchmarks.memory [FILES]``.

A Parquet file of 1e7 rows, of 1,000 groups and 10,000 values, is read FILES times (30: 3e8 rows) as
one source, for a median of each group. Printed: CPU seconds, and the most memory that was held.
"""

import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

import fastexp as fx

ROWS, GROUPS, VALUES = 10**7, 1000, 10_000


def main():
    """Make the file, release, and print."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.parquet")
        rng = np.random.default_rng(1)
        columns = {
            "group": rng.integers(GROUPS, size=ROWS),
            "value": rng.integers(VALUES, size=ROWS),
        }
        parquet.write_table(pa.table(columns), path)
        del columns
        files = [path] * int(sys.argv[1] if len(sys.argv) > 1 else 30)
        query = fx.Query(by="group", groups=range(GROUPS))
        median = fx.Median(1.0, (0, VALUES), step=1)
        begin = time.process_time()
        query.release(files, {"median": (median, "value")})
        seconds = time.process_time() - begin
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{len(files) * ROWS:.1e} rows: {seconds:.1f} s of CPU, at most {most:,.0f} MB")


if __name__ == "__main__":
    main()
