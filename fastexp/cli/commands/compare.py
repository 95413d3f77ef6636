"""``fastexp compare``: mechanisms beside each other on a file's records; not private."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping, Sequence
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._intake import arrays
from ...mechanisms.table import TABLE
from ...pictures import canvas
from ...query.engines.frame import ColumnRead
from ..options.values import Refused, quantiles, written
from ..request import public_lists, score_release
from ..request.input_file import VALUE, InputFile, is_npy, open_rows
from ..terminal import printing
from ..terminal.errors import UserMistake, did_you_mean

if TYPE_CHECKING:
    from ..._typing import AnyArray
    from ...mechanisms.base import Mechanism
    from ...query.engines.frame import Frame

COMPARED = {word: row for word, row in TABLE.items() if row.compared}
NUMBERS = {word for word, row in COMPARED.items() if "bounds" in row.parameters}
SELECTIONS = COMPARED.keys() - NUMBERS


def compare(options: Namespace) -> None:
    """Print how accurate several mechanisms are on the same records."""
    from ... import compare as compared

    if options.plot is not None:
        canvas.check(options.plot)
    words = options.mechanisms.split(",")
    names = {word.partition(":")[0] for word in words}
    selects = names <= SELECTIONS
    for name in names - (SELECTIONS if selects else NUMBERS):
        if name in SELECTIONS:
            raise UserMistake(f"--mechanisms: {name} selects, and others give numbers")
        hint = did_you_mean(name, COMPARED)
        raise UserMistake(f"--mechanisms: there is no mechanism {name!r}{hint}")
    if options.column is None and not (options.utilities or is_npy(options.file)):
        raise UserMistake("--column is needed: the column of FILE that holds the records")
    settings = {name: value for name, value in vars(options).items() if value is not None}
    if (grid := public_lists.grid(options)) is not None:
        settings["grid"] = grid
    reading: dict[str, Any] = {} if selects else {"nan": options.nan}
    with open_rows(InputFile(options.file, options.delimiter)) as frame:
        if selects:
            scores = score_release.scores_in(frame, options)
            settings |= {"sensitivity": scores.sensitivity, "monotonic": scores.monotonic}
            settings |= {"candidates": scores.candidates}
        mechanisms = [built(word, settings) for word in words]
        data = scores.read() if selects else _records(frame, options.column or VALUE)
    laws = [mechanism.law(data, **reading) for mechanism in mechanisms]
    comparison = compared(mechanisms, laws, truth=options.truth, convert=options.convert)
    if options.plot is not None:
        canvas.save(comparison.plot().figure, options.plot)
    if options.json:
        head = {"kind": "comparison", "private": False, "plot": options.plot}
        printing.as_json({**head, **comparison.as_dict()})
    else:
        print(comparison)


def built(word: str, settings: Mapping[str, Any], option: str = "--mechanisms") -> Mechanism:
    """Return the mechanism that a word names; its own parameters follow the name after colons."""
    name, *parts = word.split(":")
    kind = COMPARED[name].kind
    takes = signature(kind).parameters
    values = {key: value for key, value in settings.items() if key in takes}
    for key, value in assigned(parts).items():
        if key not in takes:
            raise UserMistake(f"{option}: {name} has no parameter {key!r}")
        values[key] = value
        if key == "q":
            values[key] = _q(option, name, value, several="count" in takes)
    for key, parameter in takes.items():
        if key not in values and parameter.default is parameter.empty:
            raise UserMistake(f"{option}: {name} needs {key}, as {name}:{key}=...")
    mechanism: Mechanism = kind(**values)
    return mechanism


def _q(option: str, name: str, value: object, *, several: bool) -> Any:
    """Return the quantile of a mechanism, or its list of several."""
    try:
        numbers = quantiles(str(value))
    except Refused as refused:
        raise UserMistake(f"{option}: q {refused}") from None
    if not several and len(numbers) > 1:
        raise UserMistake(f"{option}: {name} has one q; for several there is quantiles:q={value}")
    return numbers if several else numbers[0]


def assigned(parts: Sequence[str]) -> dict[str, Any]:
    """Return the parameters after a name, such as "step=10", as numbers or else text."""
    pairs = [part.partition("=")[::2] for part in parts]
    return {key: text if written(text) is None else written(text) for key, text in pairs}


def _records(frame: Frame, column: str) -> AnyArray:
    """Return the numbers of a column; missing ones are NaN."""
    parts: list[AnyArray] = []
    for (cells,) in frame.parts([ColumnRead(column, "numbers")]):
        values, missing = arrays.apart(cells, "drop")
        parts.append(values if missing is None else np.where(missing, np.nan, values))
    return np.concatenate(parts) if parts else np.zeros(0)
