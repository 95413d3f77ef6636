"""Private answers by group of a frame of any kind; the result is of the same kind.

Examples
--------
>>> import fastexp as fx, pyarrow as pa
>>> from fastexp import frame
>>> rents = pa.table({"city": ["Oslo", "Rome"] * 500, "rent": [900, 600] * 500})
>>> median = fx.Median(epsilon=1.0, bounds=(0, 5_000), step=10)
>>> frame.release(rents, median, "rent", by="city", groups=["Rome", "Bern"])["city"].to_pylist()
['Rome', 'Bern']

For libraries that take whatever frame their users have. Importing it imports no engine.
"""

from __future__ import annotations

from .frames.any import release, sample

__all__ = ["release", "sample"]
