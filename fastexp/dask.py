"""Private answers by group of Dask data frames.

>>> import dask.dataframe as dd, pandas as pd
>>> import fastexp as fx
>>> from fastexp.dask import release
>>> rents = dd.from_pandas(pd.DataFrame({"city": ["Rome"] * 99, "rent": [900] * 99}), npartitions=2)
>>> median = fx.Median(epsilon=1.0, bounds=(0, 5000), step=50)
>>> release(rents, median, "rent", by="city", groups=["Oslo", "Rome"]).compute().shape
(2, 2)
"""

from .frames.dask import release, sample

__all__ = ["release", "sample"]
