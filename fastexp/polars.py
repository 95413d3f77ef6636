"""Private answers by group in Polars, eager and lazy; importing it registers the namespace `fx`.

Examples
--------
>>> import fastexp as fx, fastexp.polars
>>> import polars as pl
>>> rents = pl.LazyFrame({"city": ["Oslo", "Rome"] * 500, "rent": [900, 600] * 500})
>>> median = fx.Median(epsilon=1.0, bounds=(0, 5_000), step=10)
>>> cities = ["Rome", "Bern", "Oslo"]  # public; Bern has no records, and is answered, too
>>> answers = rents.fx.release(median, "rent", by="city", groups=cities)
>>> answers.collect()["city"].to_list()
['Rome', 'Bern', 'Oslo']

`frame.fx.release` and `frame.fx.sample` are the functions below of a DataFrame or LazyFrame. They
read a lazy frame when they are called, once; what they return holds finished answers.
"""

from __future__ import annotations

from .frames.polars import release, sample
from .frames.polars_fx import FrameNamespace

__all__ = ["FrameNamespace", "release", "sample"]
