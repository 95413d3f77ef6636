"""What a study's settings must be: every fault is found before any is told."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import FastexpError, ParameterError
from ..subjects.subject import FIGURES
from . import population
from .data_sources import SOURCES, UTILITIES, check
from .registry import MECHANISMS

MOST_DATASETS, MOST_DRAWS, MOST_N = 10**12, 10**7, 10**9
LARGEST = sys.float_info.max
LEAST_LEVEL = 1e-9
BLOCK_RECORDS, BLOCK_DRAWS, MOST_BLOCK = 1 << 20, 1 << 20, 4096


class Faults:
    """All that is wrong, with the setting's name before each."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def add(self, where: str, text: str) -> None:
        """Keep a fault; one that is already there is not told twice."""
        line = f"{where}: {text}"
        if line not in self.found:
            self.found.append(line)

    def attempt(self, where: str, make: Callable[[], Any]) -> Any:
        """What `make` returns; None and a fault where it refuses."""
        try:
            return make()
        except FastexpError as error:
            self.add(where, str(error).replace(" (pass any_epsilon=True if it is meant)", ""))
        except TypeError:
            self.add(where, "a value has the wrong type")
        return None

    def raise_any(self, name: Any) -> None:
        """Raise one error that lists them all."""
        if self.found:
            many = "fault" if len(self.found) == 1 else "faults"
            listed = "".join(f"\n  {line}" for line in self.found)
            raise ParameterError(f"study {name!r} has {len(self.found)} {many}:{listed}")


def plain(value: Any) -> Any:
    """A setting as JSON has it."""
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value.item() if isinstance(value, np.generic) else value


def placeless(settings: dict[str, Any]) -> dict[str, Any]:
    """A study's settings without the places of files: their digests tell what they hold."""

    def without(data: dict[str, Any]) -> dict[str, Any]:
        known = "digest" in data
        return {key: value for key, value in data.items() if key != "file" or not known}

    return {**settings, "data": [without(data) for data in settings.get("data", [])]}


def from_file(path: Path, known: list[str]) -> dict[str, Any]:
    """The settings in a TOML or JSON file; a results folder's file holds them as "study"."""
    try:
        text = path.read_text(encoding="utf-8")
        found = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except OSError as error:
        raise ParameterError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:  # tomllib's and json's errors name line and column
        raise ParameterError(f"{path} is not valid: {error}") from None
    settings = found.get("study", found) if isinstance(found, dict) else None
    if not isinstance(settings, dict):
        raise ParameterError(f"{path} must hold the settings of a study")
    unknown, missing = sorted(set(settings) - set(known)), {"mechanisms", "epsilon"} - set(settings)
    faults = Faults()
    for key in unknown:
        faults.add(key, f"unknown; a study has {', '.join(known)}")
    for key in sorted(missing):
        faults.add(key, "missing")
    faults.raise_any(settings.get("name", path.stem))
    settings.setdefault("name", path.stem)
    if settings is found:  # a results folder's file has the paths that the run was given
        settings["data"] = _found_from(settings.get("data", "normal"), path.parent)
    return settings


def _found_from(data: Any, folder: Path) -> Any:
    """The data with relative files made relative to the study's own folder."""
    for item in _listed(data):
        if isinstance(item, dict) and isinstance(item.get("file"), str):
            item["file"] = str(folder / item["file"])
    return data


def normalise(study: Any, faults: Faults) -> dict[str, Any]:
    """All settings in the form that runs, with defaults; faults are kept."""
    if not isinstance(study.name, str) or not re.fullmatch(r"[A-Za-z0-9_-]{1,100}", study.name):
        faults.add("name", "must consist of letters, digits, - and _")
    made: dict[str, Any] = {
        "bounds": _bounds(study.bounds, faults),
        "epsilon": _list("epsilon", study.epsilon, _positive, faults),
        "n": _list("n", study.n, _counting(1, MOST_N), faults),
        "figures": _list("figures", study.figures, _word(FIGURES), faults),
        "levels": _list("levels", study.levels, _level, faults),
        "data": _tables("data", study.data, _data, faults),
        "mechanisms": _tables("mechanisms", study.mechanisms, _mechanism, faults),
    }
    limits = (("datasets", 1, MOST_DATASETS), ("draws", 0, MOST_DRAWS), ("seed", 0, 2**64 - 1))
    for key, least, most in limits:
        made[key] = _one(key, getattr(study, key), _counting(least, most), faults)
    if study.block is not None:
        made["block"] = _one("block", study.block, _counting(1, 10**6), faults)
    elif not faults.found:
        made["block"] = _block(made)
    _one("question", study.question, text, faults)
    return made


def _block(made: dict[str, Any]) -> int:
    """Data sets of a task: some 8 MB of records (smaller ones wait for each other), 2**20 draws."""
    given = [len(d["values"]) for d in made["data"] if isinstance(d.get("values"), list)]
    room = min(BLOCK_RECORDS // max(*made["n"], *given, 1), BLOCK_DRAWS // max(1, made["draws"]))
    return int(max(1, min(room, MOST_BLOCK, made["datasets"])))


def _bounds(value: Any, faults: Faults) -> Any:
    if value is None:
        return None
    value = plain(value)
    good = isinstance(value, list) and len(value) == 2 and all(map(_finite, value))
    if not good or not value[0] < value[1]:
        faults.add("bounds", "must be two finite numbers, lower < upper")
        return None
    return tuple(value)


def _finite(value: Any) -> bool:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and -LARGEST <= value <= LARGEST


def _list(key: str, value: Any, one: Callable[[Any], Any], faults: Faults) -> Any:
    """One value or a list of them as a tuple; none twice."""
    value = plain(value)
    listed = _listed(value)
    if not listed:
        faults.add(key, "must not be empty")
    made = [_one(key, item, one, faults) for item in listed]
    if len(set(made)) < len(made) and None not in made:
        faults.add(key, "must not hold a value twice")
    return tuple(made)


def _one(key: str, value: Any, one: Callable[[Any], Any], faults: Faults) -> Any:
    return faults.attempt(key, lambda: one(plain(value)))


def _short(value: Any) -> str:
    told = repr(value)
    return told if len(told) <= 60 else f"{told[:57]}..."


def _positive(value: Any) -> float:
    if not _finite(value) or value <= 0:
        raise ParameterError(f"must be numbers > 0 (nats), got {_short(value)}")
    return float(value)


def _level(value: Any) -> float:
    if not _finite(value) or not LEAST_LEVEL <= value <= 1 - LEAST_LEVEL:
        raise ParameterError(f"must be numbers between 1e-9 and 1 - 1e-9, got {_short(value)}")
    return float(value)


def _counting(least: int, most: int) -> Callable[[Any], int]:
    def one(value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise ParameterError(
                f"must be an integer between {least} and {most}, got {_short(value)}"
            )
        return value

    return one


def _word(words: tuple[str, ...]) -> Callable[[Any], str]:
    def one(value: Any) -> str:
        if value not in words:
            raise ParameterError(f"must be of {', '.join(words)}, got {value!r}")
        return str(value)

    return one


def _tables(key: str, value: Any, one: Callable[[dict[str, Any]], Any], faults: Faults) -> Any:
    """Names, or dicts with a name, one or several, each with its place in the faults."""
    value = plain(value)
    listed = _listed(value)
    if not listed:
        faults.add(key, "must not be empty")
    made = []
    for i, item in enumerate(listed):
        table = {"name": item} if isinstance(item, str) else item
        where = f"{key}[{i}]"
        if not isinstance(table, dict):
            faults.add(where, "must be a name or a table of settings")
            continue
        if isinstance(table.get("name"), str):
            where += f" ({table['name']})"
        made.append(faults.attempt(where, lambda t=table: one(dict(t))))  # type: ignore[misc]
    return tuple(made)


def text(value: Any) -> str:
    """Text that a file can hold: no halves of a character."""
    try:
        value.encode()
    except (AttributeError, UnicodeError):
        raise ParameterError("must be text") from None
    return str(value)


def label(table: dict[str, Any]) -> None:
    """Check the label that a table of settings may have."""
    if not text(table.get("label", "x")).strip():
        raise ParameterError("label must not be empty")


def _named(table: dict[str, Any], known: Any, what: str) -> None:
    if not isinstance(table.get("name"), str):
        raise ParameterError(f"name must be text: one of {', '.join(known)}")
    if table["name"] not in known:
        raise ParameterError(f"unknown {what} {table.get('name')!r}; there are {', '.join(known)}")
    label(table)


def _data(table: dict[str, Any]) -> dict[str, Any]:
    if "file" in table:
        return population.described(table)
    _named(table, SOURCES, "data")
    kept: dict[str, Any] = {key: table[key] for key in ("name", "label") if key in table}
    rest = {key: value for key, value in table.items() if key not in kept}
    return {**kept, **check(table["name"], rest)}


def _mechanism(table: dict[str, Any]) -> dict[str, Any]:
    _named(table, MECHANISMS, "mechanism")
    entry = MECHANISMS[table["name"]]
    unknown = sorted(set(table) - {"name", "label", *entry.parameters})
    if unknown:
        known = ", ".join(entry.parameters) or "none"
        raise ParameterError(f"unknown parameters {', '.join(unknown)}; it has: {known}")
    for key, value in table.items():
        if not isinstance(value, (str, bool)) and not all(map(_finite, _listed(value))):
            raise ParameterError(f"{key} must be a number, a word, true or false, or a list")
    # one order, whatever order they are given in: labels are made of it
    return {key: table[key] for key in ("name", "label", *entry.parameters) if key in table}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def takes_utilities(data: dict[str, Any]) -> bool:
    """Whether a data set of this source is the utilities of candidates."""
    return "file" not in data and SOURCES[data["name"]].rows == UTILITIES
