"""Private answers by group of Spark data frames.

>>> import fastexp as fx
>>> from fastexp.spark import release
>>> median = fx.Median(epsilon=1.0, bounds=(0, 5000), step=50)
>>> rents = spark.createDataFrame([("Rome", 900.0)] * 99, ["city", "rent"])  # doctest: +SKIP
>>> release(rents, median, "rent", by="city", groups=["Oslo", "Rome"]).columns  # doctest: +SKIP
['city', 'rent']
"""

from .frames.spark import release, sample

__all__ = ["release", "sample"]
