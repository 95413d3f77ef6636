"""Private answers by group of Arrow tables, batches and streams, as pyarrow tables.

>>> import fastexp as fx
>>> import pyarrow as pa
>>> from fastexp.arrow import release
>>> rents = pa.table({"city": ["Oslo", "Rome"] * 99, "rent": [900, 400] * 99})
>>> median = fx.Median(epsilon=1.0, bounds=(0, 2000), step=10)
>>> release(rents, median, "rent", by="city", groups=["Rome", "Bern"]).column_names
['city', 'rent']
"""

from .frames.arrow import release, sample

__all__ = ["release", "sample"]
