"""Private answers by group in pandas; importing it registers the accessor `fx`.

Examples
--------
>>> import fastexp as fx, fastexp.pandas
>>> import pandas as pd
>>> rents = pd.DataFrame({"city": ["Oslo", "Rome"] * 500, "rent": [900, 600] * 500})
>>> median = fx.Median(epsilon=1.0, bounds=(0, 5_000), step=10)
>>> cities = ["Rome", "Bern", "Oslo"]  # public; Bern has no records, and is answered, too
>>> answers = rents.fx.release(median, "rent", by="city", groups=cities)
>>> answers["city"].tolist()
['Rome', 'Bern', 'Oslo']

`frame.fx.release` and `frame.fx.sample` are the functions below of a DataFrame. A series is what
`mechanism.release(series, by=..., groups=...)` takes.
"""

from __future__ import annotations

from .frames.pandas import release, sample
from .frames.pandas_fx import FrameAccessor

__all__ = ["FrameAccessor", "release", "sample"]
