"""Private answers by group in pandas; importing it registers the accessor `fx`.

Examples
--------
>>> import fastexp as fx, fastexp.pandas
>>> import pandas as pd
>>> rents = pd.DataFrame({"city": ["Oslo", "Rome"] * 500, "rent": [900, 600] * 500})
>>> median = fx.Median(epsilon=1.0, bounds=(0, 5_000), step=10)
>>> cities = ["Rome", "Bern", "Oslo"]  # public; Bern has no records, and is answered, too
>>> answers = rents.fx.release(median, "rent", by="city", groups=cities, key=fx.release_key())
>>> answers["city"].tolist()
['Rome', 'Bern', 'Oslo']
>>> rents["rent"].fx.release(median, by=rents["city"], groups=cities).index.tolist()
['Rome', 'Bern', 'Oslo']

`frame.fx.release` and `frame.fx.sample` are the functions below of a DataFrame; of a series see
`SeriesAccessor`.
"""

from __future__ import annotations

from .frames.pandas import release, sample
from .frames.pandas_fx import FrameAccessor, SeriesAccessor

__all__ = ["FrameAccessor", "SeriesAccessor", "release", "sample"]
