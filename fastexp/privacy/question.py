"""What a release asks: its digest, and the text of its answers, of a width that is public."""

from __future__ import annotations

import hashlib
import json
import sys
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from ..errors import ParameterTypeError
from ..types import Array
from .guarantee import Guarantee

WIDTH = 24  # the most characters of a float64 or int64
MOST_WIDTH = 320  # of a number of Laplace noise: an integer below 2**1001


class Question(NamedTuple):
    """A release to be charged: its promise, so many times, and all that its answers depend on.

    `parts` are plain values: text, numbers, functions of modules, and tuples of these; never data.
    """

    name: str
    guarantee: Guarantee
    times: int
    parts: tuple[Any, ...]


def digest(parts: tuple[Any, ...]) -> str:
    """Return a digest of plain values: of 1, 1.0 and Decimal(1) alike; of 0.1 and a tenth not."""
    return hashlib.blake2b(_text(parts).encode(), digest_size=32).hexdigest()


def _text(value: Any) -> str:
    if isinstance(value, (tuple, list, np.ndarray)):
        return f"({','.join(map(_text, value))})"
    if isinstance(value, np.generic) and value.dtype.kind not in "mM":
        if value.dtype.char in "eg" or value.dtype == np.float32:  # some are read as they print
            return f"{value.dtype} {value}"
        value = value.item()
    if isinstance(value, FunctionType) and _found(value) is value:
        return f"{value.__module__}:{value.__qualname__}"
    if value is None or isinstance(value, (bool, str, bytes, date, timedelta, np.generic)):
        return repr(value)
    if isinstance(value, (int, float, Fraction, Decimal)):
        exact = Fraction(value)
        if not isinstance(value, float) or Fraction(repr(value)) == exact:
            return str(exact)
        return value.hex()
    raise ParameterTypeError(
        "where a release has a label, score must be a function of a module (no lambda, no method), "
        f"and candidates text, numbers or times, got an object of type {type(value).__name__}"
    )


def _found(function: FunctionType) -> Any:
    """Return what has the name of a function: a decorator may have given it to another one."""
    found: Any = sys.modules.get(function.__module__)
    for name in function.__qualname__.split("."):
        found = getattr(found, name, None)
    return found


def keep(answer: Any) -> str:
    """Return indices, numbers or arrays of them as JSON whose length does not depend on them.

    A disk that is nearly full would else keep short answers, and draw long ones again.
    """
    if not isinstance(answer, np.ndarray):
        return json.dumps(answer).ljust(MOST_WIDTH)
    numbers = ",".join(json.dumps(number).ljust(WIDTH) for number in answer.ravel().tolist())
    shape, kind = list(answer.shape), answer.dtype.name
    return f'{{"kind": "{kind}", "shape": {shape}, "numbers": [{numbers}]}}'


def kept(text: str) -> Any:
    """Return what was kept."""
    answer = json.loads(text)
    if not isinstance(answer, dict):
        return answer
    array: Array = np.array(answer["numbers"], answer["kind"]).reshape(answer["shape"])
    return array
