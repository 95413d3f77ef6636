"""Code of the user in a study: functions and objects, of which a file holds names and digests.

A digest covers the source of a function (of a lambda, and where Python has no source, its byte
code), its defaults and the values that it closes over; of an object the source of its class and
its attributes without an underscore. What these refer to in their module does not count.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from operator import attrgetter
from typing import Any

import numpy as np

from ...errors import ParameterError, StudyError

OTHER = (
    "the code of {} differs from the one that the study was made with: go on with that code, or "
    "run the study anew (a study with version= goes on while that stays the same)"
)
DEEP = 8  # values in values, at most
FORM = {"code", "digest"}  # keys of what is written down


@dataclass(frozen=True)
class Code:
    """A callable or an object of the user's: its name, its digest, and itself if it is here."""

    reference: str  # module:qualified name
    digest: str
    value: Any = field(default=None, compare=False, repr=False)

    @property
    def name(self) -> str:
        """The last part of its name."""
        return self.reference.rpartition(":")[2].rpartition(".")[2]

    @property
    def plain(self) -> dict[str, str]:
        """What is written down."""
        return {"code": self.reference, "digest": self.digest}

    def here(self) -> Any:
        """Itself; StudyError if only its name is known."""
        if self.value is None:
            raise StudyError(
                f"the study needs {self.reference}, of which a file holds only the name: give the "
                "study itself (study=), or allow_import=True (--allow-import)"
            )
        return self.value


def code_of(value: object, version: str = "", reference: str = "") -> Code:
    """The code of a callable or an object; where it has a version, that is its digest's.

    `reference` is where it was imported from.
    """
    if isinstance(value, Code):
        return value
    if isinstance(value, dict) and set(value) == FORM:
        return Code(str(value["code"]), str(value["digest"]))
    name = reference or _name(value)
    facts = ["version", version] if version else _facts(value, 0)
    digest = hashlib.blake2b(json.dumps(facts).encode(), digest_size=8).hexdigest()
    return Code(name, digest, value)


def imported(reference: str, digest: str = "", version: str = "") -> Code:
    """The code that ``module:name`` means, of that digest; a class is called, without arguments."""
    module, _, path = reference.partition(":")
    try:
        value = attrgetter(path)(import_module(module))
    except (ImportError, AttributeError, ValueError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise ParameterError(
            f"code must be named as 'module:function', got {reference!r}: {reason}"
        ) from error
    code = code_of(value() if isinstance(value, type) else value, version, reference)
    if digest not in ("", code.digest):
        raise StudyError(OTHER.format(reference))
    return code


def replaced(value: Any, find: Callable[[str, str], object]) -> Any:
    """Settings as they are written down, with what `find` gives for the name and the digest."""
    if isinstance(value, list):
        return [replaced(item, find) for item in value]
    if not isinstance(value, dict):
        return value
    if set(value) == FORM:
        return find(value["code"], value["digest"])
    return {key: replaced(item, find) for key, item in value.items()}


def written_codes(settings: dict[str, Any]) -> list[dict[str, str]]:
    """What is written down of the user's code."""
    codes: list[dict[str, str]] = []
    replaced(settings, lambda name, digest: codes.append({"code": name, "digest": digest}))
    return codes


def codes_of(value: object) -> list[Code]:
    """The code of the user's in settings."""
    if isinstance(value, Code):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [code for x in value for code in codes_of(x)] if isinstance(value, (list, tuple)) else []


def _name(value: object) -> str:
    """The module and the qualified name of a function, or of an object's class."""
    while isinstance(value, partial):
        value = value.func
    if not hasattr(value, "__qualname__"):
        value = type(value)
    return f"{getattr(value, '__module__', None)}:{getattr(value, '__qualname__', '')}"


def _facts(value: Any, depth: int) -> Any:
    """What a value is, as JSON has it."""
    if depth > DEEP:
        return type(value).__qualname__
    facts: Callable[[Any], Any] = partial(_facts, depth=depth + 1)
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        return [type(value).__name__, repr(value)]
    if isinstance(value, np.ndarray) and value.dtype != object:
        content = hashlib.blake2b(np.ascontiguousarray(value).tobytes()).hexdigest()
        return [str(value.dtype), value.shape, content]
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *map(facts, value)]
    if isinstance(value, (set, frozenset)):
        return ["set", *sorted(json.dumps(facts(item)) for item in value)]
    if isinstance(value, dict):
        return ["dict", *sorted((json.dumps(facts(key)), facts(value[key])) for key in value)]
    return _of_code(value, facts)


def _of_code(value: Any, facts: Callable[[Any], Any]) -> Any:
    """What a function, a class or an object is."""
    if isinstance(value, partial):
        return ["partial", facts(value.func), facts(value.args), facts(value.keywords)]
    if isinstance(value, types.MethodType):
        return ["method", facts(value.__func__), facts(value.__self__)]
    if isinstance(value, types.FunctionType):
        return _of_function(value, facts)
    if isinstance(value, types.CodeType):
        return [value.co_code.hex(), facts(value.co_consts), value.co_names]
    if isinstance(value, type):
        return [_name(value), _source(value)]
    if hasattr(value, "__qualname__") or isinstance(value, types.ModuleType):  # built in
        return getattr(value, "__name__", "")
    attributes = getattr(value, "__dict__", {})
    public = {key: part for key, part in attributes.items() if not key.startswith("_")}
    return [facts(type(value)), facts(public)]


def _of_function(function: types.FunctionType, facts: Callable[[Any], Any]) -> Any:
    text = None if function.__name__ == "<lambda>" else _source(function)
    cells = [cell.cell_contents for cell in function.__closure__ or () if _is_filled(cell)]
    closed = [part for part in cells if part is not function]  # one that calls itself
    body = facts(function.__code__) if text is None else text
    return [body, facts(function.__defaults__), facts(function.__kwdefaults__), facts(closed)]


def _is_filled(cell: types.CellType) -> bool:
    try:
        _ = cell.cell_contents
    except ValueError:
        return False
    return True


def _source(value: Any) -> str | None:
    """The source of a function or a class, without its indentation; None if there is none."""
    try:
        return inspect.cleandoc(inspect.getsource(value))
    except (OSError, TypeError):
        return None
