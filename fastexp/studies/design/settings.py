"""Checks of a study's settings: one error lists every fault."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

import numpy as np

from ...errors import FastexpError, ParameterError
from ..subjects.subject import FIGURES
from . import contenders, data_sources
from .code import Code, code_of, mapped
from .data_sources import OF_SCENARIOS, text
from .generators import Spec, is_finite

T = TypeVar("T")
MOST_DATASETS, MOST_DRAWS, MOST_N = 10**12, 10**7, 10**9
LEAST_LEVEL = 1e-9
BLOCK_RECORDS, BLOCK_DRAWS, MOST_BLOCK = 1 << 20, 1 << 20, 4096


class Faults:
    """All that is wrong, with the setting's name before each."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def add(self, where: str, text: str) -> None:
        """Add a fault, unless it is there."""
        line = f"{where}: {text}"
        if line not in self.lines:
            self.lines.append(line)

    def attempt(self, where: str, make: Callable[[], T]) -> T | None:
        """What `make` returns; None and a fault if it raises."""
        try:
            return make()
        except FastexpError as error:
            self.add(where, str(error).replace(" (pass any_epsilon=True if it is meant)", ""))
        except TypeError:
            self.add(where, "a value has the wrong type")
        return None

    def raise_any(self, name: object) -> None:
        """Raise one error that lists them all."""
        if self.lines:
            count = "1 fault" if len(self.lines) == 1 else f"{len(self.lines)} faults"
            text = "".join(f"\n  {line}" for line in self.lines)
            raise ParameterError(f"study {name!r} has {count}:{text}")


def plain(value: object) -> Any:
    """A setting as JSON has it."""
    return mapped(value, lambda x: x.tolist() if isinstance(x, (np.ndarray, np.generic)) else x)


def written(value: object) -> Any:
    """A checked setting as JSON has it: of code its name and digest."""

    def leaf(x: object) -> object:
        return {"code": x.reference, "digest": x.digest} if isinstance(x, Code) else x

    return mapped(value, leaf)


def placeless(settings: dict[str, Any]) -> dict[str, Any]:
    """A study's settings without the places of files: their digests tell what they hold."""

    def without(data: dict[str, Any]) -> dict[str, Any]:
        known = "digest" in data
        return {key: value for key, value in data.items() if key != "file" or not known}

    return {**settings, "data": [without(data) for data in settings.get("data", [])]}


def normalise(given: Mapping[str, object], faults: Faults) -> dict[str, Any]:
    """All settings in the form that runs, with defaults; faults are added to `faults`."""
    name = given["name"]
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9_-]{1,100}", name):
        faults.add("name", "must consist of letters, digits, - and _")
    version = _one("version", given["version"], text, faults) or ""
    mechanisms = several(plain(given["mechanisms"]))

    def compared(item: object) -> list[Spec]:
        return [contenders.described(item, version)]

    settings: dict[str, Any] = {
        "bounds": _bounds(given["bounds"], faults),
        "epsilon": _list("epsilon", given["epsilon"], _positive, faults),
        "n": _list("n", given["n"], _counting(1, MOST_N), faults),
        "figures": _figures(given["figures"], version, faults),
        "levels": _list("levels", given["levels"], _level, faults),
        "data": _tables("data", _sources(given["data"]), partial(_data, version), faults),
        "mechanisms": _tables("mechanisms", mechanisms, compared, faults),
    }
    settings["mechanisms"] = contenders.told_apart(settings["mechanisms"])
    limits = (("datasets", 1, MOST_DATASETS), ("draws", 0, MOST_DRAWS), ("seed", 0, 2**64 - 1))
    for key, least, most in limits:
        settings[key] = _one(key, given[key], _counting(least, most), faults)
    if given["block"] is not None:
        settings["block"] = _one("block", given["block"], _counting(1, 10**6), faults)
    elif not faults.lines:
        settings["block"] = _block(settings)
    _one("question", given["question"], text, faults)
    return settings


def _block(settings: dict[str, Any]) -> int:
    """Data sets of a task: some 8 MB of records (smaller ones wait for each other), 2**20 draws."""
    longest = max(n for data in settings["data"] for n in sizes_of(settings, data))
    records = BLOCK_RECORDS // longest
    draws = BLOCK_DRAWS // max(1, settings["draws"])
    return int(max(1, min(records, draws, MOST_BLOCK, settings["datasets"])))


def sizes_of(settings: dict[str, Any], data: Spec) -> tuple[int, ...]:
    """How long data sets of a source are: as given values, by its own `n`, or by the study's."""
    size = data_sources.source_of(data).size
    return tuple(data.get("n", settings["n"])) if size is None else (size,)


def _bounds(value: object, faults: Faults) -> tuple[float, float] | None:
    ends = plain(value)
    if ends is None or _is_interval(ends):
        return None if ends is None else (ends[0], ends[1])
    faults.add("bounds", "must be two finite numbers, lower < upper")
    return None


def _is_interval(ends: object) -> bool:
    good = isinstance(ends, list) and len(ends) == 2 and all(map(is_finite, ends))
    return good and isinstance(ends, list) and ends[0] < ends[1]


def _figures(value: object, version: str, faults: Faults) -> tuple[Any, ...]:
    """Names of figures, and functions of the user's with their names."""

    def one(item: object) -> object:
        if not isinstance(item, dict):
            return _word(FIGURES)(item)
        code = code_of(item["figure"], version)
        if not callable(code.value or one):
            raise ParameterError("a figure must be a name or a callable f(answers, truth)")
        if not re.fullmatch("[A-Za-z0-9_-]{1,100}", item["name"]) or item["name"] in FIGURES:
            raise ParameterError(
                "a figure of one's own must have a name of letters, digits, - and _ that no figure "
                f"of fastexp has, as in {{'name': function}}, got {item['name']!r}"
            )
        return {"name": item["name"], "figure": code}

    items: list[Any] = []
    for item in several(plain(value)):
        if callable(item):
            items.append({"name": code_of(item).name, "figure": item})
        elif isinstance(item, dict) and set(item) != {"name", "figure"}:
            items += [{"name": name, "figure": figure} for name, figure in item.items()]
        else:
            items.append(item)
    checked = tuple(_one("figures", item, one, faults) for item in items)
    _list("figures", [figure_name(figure) for figure in checked], str, faults)
    return checked


def figure_name(figure: Any) -> str:
    """What a checked figure is called."""
    return str(figure["name"] if isinstance(figure, dict) else figure)


def _list(key: str, value: object, one: Callable[[object], T], faults: Faults) -> tuple[Any, ...]:
    """One value or a list of them as a tuple; none twice."""
    items = several(plain(value))
    if not items:
        faults.add(key, "must not be empty")
    values = [_one(key, item, one, faults) for item in items]
    if len(set(values)) < len(values) and None not in values:
        faults.add(key, "must not hold a value twice")
    return tuple(values)


def _one(key: str, value: object, one: Callable[[object], T], faults: Faults) -> T | None:
    return faults.attempt(key, lambda: one(plain(value)))


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _positive(value: object) -> float:
    if not is_finite(value) or value <= 0:
        raise ParameterError(f"must be numbers > 0 (nats), got {_short(value)}")
    return float(value)


def _level(value: object) -> float:
    if not is_finite(value) or not LEAST_LEVEL <= value <= 1 - LEAST_LEVEL:
        raise ParameterError(f"must be numbers between 1e-9 and 1 - 1e-9, got {_short(value)}")
    return float(value)


def _counting(least: int, most: int) -> Callable[[object], int]:
    def one(value: object) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise ParameterError(
                f"must be an integer between {least} and {most}, got {_short(value)}"
            )
        return value

    return one


def _word(words: tuple[str, ...]) -> Callable[[object], str]:
    def one(value: object) -> str:
        if value not in words:
            raise ParameterError(f"must be of {', '.join(words)}, got {value!r}")
        return str(value)

    return one


def _tables(
    key: str, items: list[Any], one: Callable[[object], list[Spec]], faults: Faults
) -> tuple[Spec, ...]:
    """What each item means, one or several, with its place in the faults."""
    if not items:
        faults.add(key, "must not be empty")
    tables: list[Spec] = []
    for i, item in enumerate(items):
        name = item.get("name") if isinstance(item, dict) else item
        where = f"{key}[{i}] ({name})" if isinstance(name, str) else f"{key}[{i}]"
        tables += faults.attempt(where, partial(one, item)) or []
    return tuple(tables)


def _sources(value: object) -> list[Any]:
    """One source of data or several; a list of numbers is one."""
    if not isinstance(value, (list, tuple)) or (value and all(map(is_finite, value))):
        return [plain(value)]
    return [plain(item) for item in value]


def _data(version: str, data: object) -> list[Spec]:
    """The sources that one entry of `data` means, each perhaps with sizes and bounds of its own."""
    table: object = data
    places: Spec = {}
    if isinstance(data, dict):
        table = {key: value for key, value in data.items() if key not in OF_SCENARIOS}
        places = {key: value for key, value in data.items() if key in OF_SCENARIOS}
    if "n" in places:
        places["n"] = [_counting(1, MOST_N)(size) for size in several(places["n"])]
    if not _is_interval(places.get("bounds", [0, 1])):
        raise ParameterError("bounds must be two finite numbers, lower < upper")
    return [{**spec, **places} for spec in data_sources.described(table, version)]


def several(value: object) -> list[Any]:
    """A value as a list of one, if it is none."""
    return value if isinstance(value, list) else [value]
