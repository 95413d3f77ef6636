"""Private answers by group from Arrow streams without pyarrow: a dict of two arrays."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from .. import _arrow
from .._number_columns import NULLS
from .._typing import AnyArray
from ..errors import ParameterTypeError
from . import checks
from .call import Call, Columns

OTHER = "columns of an Arrow stream must be of integers, floats or text, got another type"


def answered(
    call: Call, frame: Any, column: str, by: str, person: str | None, name: str
) -> dict[str, AnyArray]:
    """Groups and answers. Only after the charge is the frame asked for its stream."""
    names = [column, by] if person is None else [column, by, person]

    def read() -> Columns:
        batches = call.each(call.unraised(lambda: _arrow.table(frame, names, "frame")))
        columns = [list(chunks) for chunks in zip(*batches, strict=True)]
        coded = columns[0][0].kind == "dictionary"
        held = (columns[0][0].child if coded else None) or columns[0][0]
        checks.records(
            call.mechanism,
            column,
            held.kind,
            numeric=held.kind in ("integers", "floats") or held.format == NULLS,
            text=held.kind == "text" or held.format == NULLS,
            coded=coded,
        )
        return Columns(*map(_joined, columns))

    labels, found = call.answers(None, read)
    text = call.of_text(labels, column=True)
    kind = object if call.answer_kind == "text" else None
    groups = np.array(labels, dtype=object if text else np.int64)
    return {by: groups, name: np.asarray(found, dtype=kind)}


def _joined(chunks: list[_arrow.Column]) -> AnyArray:
    """Numbers as a masked array, if there are gaps; texts as objects, None for a gap."""
    parts = [_plain(chunk) for chunk in chunks]
    if not any(isinstance(part, np.ma.MaskedArray) for part in parts):
        return parts[0] if len(parts) == 1 else np.concatenate(parts)
    gaps = np.concatenate([np.ma.getmaskarray(part) for part in parts])
    return np.ma.MaskedArray(np.concatenate([np.ma.getdata(part) for part in parts]), gaps)


def _plain(chunk: _arrow.Column) -> AnyArray:
    values, valid = chunk.values, chunk.valid
    if chunk.kind in ("integers", "floats") and values is not None:
        return values if valid is None else np.ma.MaskedArray(values, ~valid)
    if chunk.kind == "text" and values is not None and chunk.offsets is not None:
        # What is no UTF-8 becomes what no listed name can be.
        data, ends = values.tobytes(), chunk.offsets.tolist()
        texts = [data[a:b].decode(errors="surrogateescape") for a, b in pairwise(ends)]
        return _with_gaps(np.array(texts, dtype=object), valid)
    if chunk.kind == "dictionary" and values is not None and chunk.child is not None:
        child = _plain(chunk.child)
        gaps = None if child.dtype == object else ~np.ma.getmaskarray(child)
        entries = np.full(child.size + 1, None, dtype=object)
        entries[:-1] = _with_gaps(np.ma.getdata(child).astype(object), gaps)
        inside = (values >= 0) & (values < child.size)
        kept = inside if valid is None else inside & valid
        return np.asarray(entries[np.where(kept, values, child.size)])
    if chunk.kind == "other" and chunk.format == NULLS:
        return np.full(chunk.length, None, dtype=object)
    raise ParameterTypeError(OTHER)


def _with_gaps(items: AnyArray, valid: AnyArray | None) -> AnyArray:
    """Objects, None where they are not valid."""
    if valid is not None:
        items[~valid] = None
    return items
