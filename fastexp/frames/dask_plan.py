"""The graph of a call on a Dask frame: shuffles, and answers of what they bring together.

Each partition's part depends on its rows alone and a group's answer on its records alone, so
tasks may be run twice, elsewhere or again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd

from .._group_keys import codes_of, distinct, names_of
from .._group_names import Names
from .._key_columns import KEYS
from .._typing import IntArray
from ..errors import ParameterError, ParameterTypeError
from ..grouped.numbers import FLAT
from .call import Call, sample_call
from .checks import described, wanted

KINDS = {"integers": "int64", "floats": "float64", "text": "str"}


def check(frame: Any, mechanism: Any, column: Any, by: Any, person: Any, nan: Any) -> None:
    """Refuse a frame whose columns do not fit, before a budget is charged."""
    if not isinstance(frame, dd.DataFrame):
        raise ParameterTypeError(f"frame must be a Dask DataFrame, got {described(frame)}")
    wanted(frame.columns, column, by, person)
    trial = sample_call(mechanism, column, by, [], rng=0, person=person, nan=nan)
    empty = frame._meta  # no rows, of the types that they have
    for name in (column, by) if person is None else (column, by, person):
        if empty[name].ndim != 1:
            raise ParameterError(f"frame must have one column of the name {name!r}, got several")
        if isinstance(empty[name].dtype, pd.CategoricalDtype) and not frame[name].cat.known:
            raise ParameterError(f"{name!r} must have known categories: .cat.as_known() finds them")
    for argument, name in (("by", by), ("person", person)):
        if name is not None and getattr(empty[name].dtype, "kind", "O") == "f":
            raise ParameterTypeError(KEYS.format(argument))  # which may pass where it is empty
    trial.rows(empty[column], empty[by], None if person is None else empty[person])
    if hasattr(mechanism, "grid") and not pd.api.types.is_numeric_dtype(empty[column].dtype):
        raise ParameterTypeError(FLAT)


def answers(
    frame: Any, call: Call, column: str, by: str, person: str | None, name: str
) -> dd.DataFrame:
    """A row a group, in one partition, in order: its name and its answer."""
    rows = _mapped(frame, _picked, column, by, person, call.names)
    if person is not None:
        rows = _mapped(rows.shuffle("person"), _bounded, call)
    found = _mapped(rows.shuffle("group"), _answered, call)
    whole: dd.DataFrame = _mapped(found.repartition(npartitions=1), _arranged, call, by, name)
    return whole


def _mapped(frame: Any, step: Any, *args: Any) -> Any:
    """A step of each partition; what it makes of no rows tells the columns."""
    return frame.map_partitions(step, *args, meta=step(frame._meta, *args))


def _picked(
    part: pd.DataFrame, column: str, by: str, person: str | None, names: Names | None
) -> pd.DataFrame:
    """The rows that may count. A listed group is its place in the list, another its name."""
    groups: Any = _plain(part[by]) if names is None else codes_of(part[by], names)
    kept = np.asarray(groups.notna() if names is None else groups >= 0)
    found = {"group": groups, "record": _plain(part[column])}
    if person is not None:
        found["person"] = _plain(part[person])
        if names is not None:  # rows of nobody tell which groups there are
            kept = kept & found["person"].notna().to_numpy()
    rows = pd.DataFrame(found, index=part.index)[kept]
    return rows.reset_index(drop=True)


def _plain(column: pd.Series) -> pd.Series:
    """Without categories, whose numbers differ between partitions."""
    if not isinstance(column.dtype, pd.CategoricalDtype):
        return column
    kind = column.dtype.categories.dtype
    return column.astype("Int64" if pd.api.types.is_integer_dtype(kind) else kind)


def _bounded(part: pd.DataFrame, call: Call) -> pd.DataFrame:
    """The rows that stay when each person's are bounded; all of a person's are here."""
    told, keys = _own(part, call)
    kept = told.kept(part["record"], keys, part["person"])
    rows = part[["group", "record"]]
    if call.names is None:  # a group stays, though none of its rows may
        rows, kept = rows.assign(kept=kept), kept | ~rows["group"].duplicated().to_numpy()
    return rows[kept].reset_index(drop=True)


def _answered(part: pd.DataFrame, call: Call) -> pd.DataFrame:
    """The answers of the groups that are here, each with all of its records."""
    told, keys = _own(part, call)
    groups = pd.Series(np.unique(part["group"].to_numpy())) if call.names is not None else None
    if "kept" in part:
        told = replace(call, names=distinct(keys, "by")[1])
        part, keys = part[part["kept"]], keys[part["kept"]]
    labels, found = told.rows(part["record"], keys)
    if groups is None:
        groups = pd.Series(labels, dtype=_key_kind(part["group"]))
    return pd.DataFrame({"group": groups, "answer": _column(found, call)})


def _own(part: pd.DataFrame, call: Call) -> tuple[Call, Any]:
    """The call for the groups that are here only, and the rows' keys."""
    if call.names is None:
        return call, part["group"]
    here, codes = np.unique(part["group"].to_numpy(), return_inverse=True)
    names = _some(call.names, here)
    return replace(call, names=names), pd.Categorical.from_codes(codes, names.labels())


def _some(names: Names, places: IntArray) -> Names:
    """The groups of these places."""
    if names.texts is not None:
        return Names(None, tuple(names.texts[i] for i in places.tolist()))
    return names_of(np.asarray(names.labels(), np.int64)[places])


def _arranged(part: pd.DataFrame, call: Call, by: str, name: str) -> pd.DataFrame:
    """All groups in their order, with those that have no records."""
    if call.names is None:
        ordered = part.sort_values("group", ignore_index=True)
        return ordered.set_axis([by, name], axis=1)
    places = part["group"].to_numpy()
    absent = np.setdiff1d(np.arange(call.names.size), places)
    empty = replace(call, names=_some(call.names, absent))
    found = pd.concat([part["answer"], _column(empty.rows(np.zeros(0), [])[1], call)])
    order = np.argsort(np.concatenate([places, absent]))
    kind = "text" if call.names.text else "integers"
    groups = pd.Series(call.names.labels(), dtype=KINDS[kind])
    return pd.DataFrame({by: groups, name: found.iloc[order].reset_index(drop=True)})


def _column(found: Any, call: Call) -> pd.Series:
    """Answers of groups; draws of many are lists."""
    if call.size is None:
        return pd.Series(found, dtype=KINDS[call.answer_kind])
    return pd.Series(found.tolist(), dtype=object)


def _key_kind(keys: pd.Series) -> str:
    """The type of the groups' column, where they come from the data."""
    return KINDS["integers" if pd.api.types.is_integer_dtype(keys.dtype) else "text"]
