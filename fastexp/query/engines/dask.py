"""Frames of Dask: rows of listed groups are brought here, partition by partition, each once.

Workers only leave rows out. Answers are drawn in this process, so that a task that runs twice
draws nothing, and no graph holds what an answer is drawn with.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

import dask.base
import dask.config
import dask.dataframe as dd
import dask.optimization
import pandas as pd

from ..._keys.group_keys import codes_of
from ..._keys.group_names import Names
from ...errors import ParameterError
from .frame import Column, Use, Uses
from .limits import brought
from .pandas import PandasFrame, columns_of


class DaskFrame:
    """A `Frame` of a DataFrame; it is computed once, at `parts`."""

    spills = True

    def __init__(self, frame: dd.DataFrame) -> None:
        self._frame, self._types = frame, PandasFrame(frame._meta)
        self.names, self.check_answers = self._types.names, self._types.check_answers

    def empty(self, uses: Sequence[Use]) -> list[pd.Series]:
        for use in uses:
            column = self._frame[use.column]
            if isinstance(column.dtype, pd.CategoricalDtype) and not column.cat.known:
                raise ParameterError(
                    f"{use.column!r} must have known categories: .cat.as_known() finds them"
                )
        return columns_of(self._frame._meta, uses)

    def parts(self, uses: Sequence[Use]) -> Iterator[list[pd.Series]]:
        chosen = self._frame[list(dict.fromkeys(use.column for use in uses))]
        rows = chosen
        if isinstance(uses, Uses):
            keys = [uses[i].column for i in uses.by]
            rows = chosen.map_partitions(_in_list, keys, uses.groups, meta=chosen._meta)
        partitions = rows.to_delayed()
        scheduler_of: Any = dask.base.get_scheduler  # a client's method: its workers compute
        if hasattr(scheduler_of(collections=[rows]), "__self__") or not _are_apart(partitions):
            persist: Any = dask.base.persist  # it has no types
            partitions = list(brought(lambda: persist(*partitions)))
        while partitions:
            yield columns_of(brought(partitions.pop(0).compute), uses)

    def finished(self, columns: Sequence[Column]) -> dd.DataFrame:
        """Also in one partition, so that they keep their order."""
        answers = self._types.finished(columns)
        with dask.config.set({"dataframe.convert-string": False}):  # it makes text of objects
            from_pandas: Any = dd.from_pandas  # it has no types
            finished: dd.DataFrame = from_pandas(answers, npartitions=1, sort=False)
        return finished


def _are_apart(partitions: Sequence[Any]) -> bool:
    """Whether no task is of two partitions: to compute them one by one runs each task once.

    Else, as after a join, rows that are not the same in each run could come twice.
    """
    cull: Any = dask.optimization.cull
    graph, seen = dict(partitions[0].__dask_graph__()), set[Any]()
    for partition in partitions:
        tasks, _ = cull(graph, [partition.key])
        if not seen.isdisjoint(tasks):
            return False
        seen.update(tasks)
    return True


def _in_list(part: pd.DataFrame, by: list[str], groups: Names | None) -> pd.DataFrame:
    if groups is None:
        return part
    keys: Any = [part[name] for name in by]
    rows: Any = part[codes_of(keys if len(keys) > 1 else keys[0], groups) >= 0]
    return cast("pd.DataFrame", rows)
