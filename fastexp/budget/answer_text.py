"""Exact conversion of answers to text that can be stored, and back.

The text is JSON. Its length does not depend on the answers: numbers and candidates are padded to
a public width. Otherwise a disk that is nearly full would keep short answers, and long ones would
be drawn again.
"""

from __future__ import annotations

import json
import math
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from ..errors import ParameterTypeError

NUMBER_WIDTH = 24  # the most characters of a float64 or int64
ARRAYS = {"int64": int, "float64": float, "bool": bool}
READERS: dict[str, Any] = {
    "Fraction": Fraction,
    "Decimal": Decimal,
    "date": date.fromisoformat,
    "datetime64": np.datetime64,
}


def text(answers: object, width: int = NUMBER_WIDTH) -> str:
    """Return answers as JSON, each one (in arrays and lists, too) padded to `width` characters."""
    if type(answers) is list:
        return f"[{', '.join([text(item, width) for item in answers])}]"
    if isinstance(answers, np.ndarray):
        name = answers.dtype.name
        if name not in ARRAYS or answers.dtype != np.dtype(name):
            raise ParameterTypeError(f"answers cannot be arrays of {name}")
        values = text(answers.reshape(-1).tolist(), width)
        return f'{{"array": "{name}", "shape": {list(answers.shape)}, "values": {values}}}'
    return _one(answers).ljust(width)


def widest(candidates: tuple[Any, ...]) -> int:
    """Return the width to which candidates, and numbers beside them, are padded."""
    return max(NUMBER_WIDTH, *(len(_one(candidate)) for candidate in candidates))


def _one(answer: Any) -> str:
    kind = type(answer)
    if kind in (Fraction, Decimal, date, np.datetime64):
        return json.dumps({kind.__name__: str(answer)})
    if isinstance(answer, np.generic):
        return _one(answer.item())
    if answer is None or kind in (bool, int, float, str):
        return json.dumps(answer)
    if kind is tuple:
        return f'{{"tuple": [{", ".join(map(_one, answer))}]}}'
    if kind is bytes:
        return json.dumps({"bytes": answer.hex()})
    raise ParameterTypeError(f"answers cannot be objects of type {kind.__name__}")


def value(parsed: object) -> Any:
    """Return the answers of parsed JSON; ValueError, TypeError or KeyError if it is malformed."""
    if isinstance(parsed, list):
        return [value(item) for item in parsed]
    if not isinstance(parsed, dict):
        return parsed
    kind = next(iter(parsed), None)
    if kind == "array":
        if parsed.keys() != {"array", "shape", "values"}:
            raise ValueError
        array, shape, values = parsed["array"], parsed["shape"], parsed["values"]
        plain = ARRAYS[array]
        if len(values) != math.prod(shape) or any(type(item) is not plain for item in values):
            raise ValueError
        return np.array(values, dtype=array).reshape(shape)
    if len(parsed) != 1 or kind is None:
        raise ValueError
    (inside,) = parsed.values()
    if kind == "tuple":
        return tuple(value(list(inside)))
    if kind == "bytes":
        return bytes.fromhex(inside)
    return READERS[kind](inside)
