"""Private answers by group of DuckDB's relations.

>>> import duckdb
>>> import fastexp as fx
>>> from fastexp.duckdb import release
>>> con = duckdb.connect()
>>> rents = con.sql("SELECT 'Rome' AS city, 400 + i AS rent FROM range(99) t(i)")
>>> median = fx.Median(epsilon=1.0, bounds=(0, 2000), step=10)
>>> release(rents, median, "rent", by="city", groups=["Rome", "Bern"]).columns
['city', 'rent']
"""

from .frames.duckdb import release, sample

__all__ = ["release", "sample"]
