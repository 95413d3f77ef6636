"""The user's code in a study: functions and objects, saved by their names and digests.

The digest of a function covers its source (the byte code of a lambda, and of a function without
source), its defaults and the values that it closes over. The digest of an object covers the source
of its class, and its attributes without an underscore. Neither covers other names of the module.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from operator import attrgetter
from typing import Any

import numpy as np

from ...errors import ParameterError, StudyError

CODE_DIFFERS = (
    "the code of {} differs from the code that the study was created with: continue with that "
    "code, or run the study again (a study with version= continues as long as its version stays "
    "the same)"
)
MAX_DEPTH = 12  # levels of nested values that a digest covers
EMPTY_CELL = types.CellType()  # the closure cell of a name that is not bound yet
CODE_KEYS = {"code", "digest"}  # the keys of saved code


@dataclass(frozen=True)
class Code:
    """The user's callable or object: its name, its digest, and its value if that is known."""

    reference: str  # module:qualified name
    digest: str
    value: Any = field(default=None, compare=False, repr=False)

    @property
    def name(self) -> str:
        """The last part of the reference."""
        return self.reference.rpartition(":")[2].rpartition(".")[2]

    def here(self) -> Any:
        """Return the value; raise StudyError if only the name is known."""
        if self.value is None:
            raise StudyError(
                f"the study needs {self.reference}, and its file holds only that name: pass the "
                "study itself (study=), or allow_import=True (--allow-import)"
            )
        return self.value


def code_of(value: object, version: str = "", reference: str = "") -> Code:
    """Return the code of a callable or an object; a version is digested instead of its source.

    `reference` is the name under which it was imported.
    """
    if isinstance(value, Code):
        return value
    if isinstance(value, dict) and set(value) == CODE_KEYS:
        return Code(str(value["code"]), str(value["digest"]))
    name = reference or _name(value)
    facts = ["version", version] if version else _facts(value)
    digest = hashlib.blake2b(json.dumps(facts).encode(), digest_size=8).hexdigest()
    return Code(name, digest, value)


def imported(reference: str, digest: str, version: str) -> Code:
    """Import the code ``module:name`` and check its digest; a class is called without arguments."""
    module, _, path = reference.partition(":")
    try:
        value = attrgetter(path)(import_module(module))
    except (ImportError, AttributeError, ValueError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise ParameterError(
            f"code must be named 'module:function', got {reference!r}: {reason}"
        ) from error
    if isinstance(value, type):
        try:
            value = value()
        except TypeError as error:
            raise ParameterError(
                f"{reference} is a class that cannot be called without arguments: name an object "
                "of it that its module has, or pass the study itself (study=)"
            ) from error
    code = code_of(value, version, reference)
    if digest not in ("", code.digest):
        raise StudyError(CODE_DIFFERS.format(reference))
    return code


def mapped(value: Any, leaf: Callable[[Any], Any]) -> Any:
    """Return settings as lists and tables, with `leaf` applied to all other values."""
    if isinstance(value, (list, tuple)):
        return [mapped(item, leaf) for item in value]
    if isinstance(value, dict) and set(value) != CODE_KEYS:
        return {str(key): mapped(item, leaf) for key, item in value.items()}
    return leaf(value)


def replaced(settings: Any, find: Callable[[str, str], object]) -> Any:
    """Return saved settings, with ``find(name, digest)`` in place of saved code."""
    return mapped(settings, lambda x: find(x["code"], x["digest"]) if isinstance(x, dict) else x)


def leaves(settings: object) -> list[Any]:
    """Return all values in settings that are not lists or tables: numbers, words, code."""
    parts: list[Any] = []
    mapped(settings, parts.append)
    return parts


def written_codes(settings: dict[str, Any]) -> list[dict[str, str]]:
    """Return the names and digests of the user's code in saved settings."""
    return [leaf for leaf in leaves(settings) if isinstance(leaf, dict)]


def _name(value: object) -> str:
    """Return the module and the qualified name of a function, or of the class of an object."""
    while isinstance(value, partial):
        value = value.func
    if not hasattr(value, "__qualname__"):
        value = type(value)
    return f"{getattr(value, '__module__', None)}:{getattr(value, '__qualname__', '')}"


def _facts(value: Any, depth: int = 0) -> Any:
    """Return the type and the content of a value, as JSON values."""
    parts = _parts(value) if depth < MAX_DEPTH else ""
    facts = parts if isinstance(parts, str) else [_facts(part, depth + 1) for part in parts]
    return [type(value).__qualname__, facts]


def _parts(value: Any) -> str | Iterable[Any]:
    """Return the parts of a value, or a text that determines it."""
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes, np.generic)):
        return repr(value)
    if isinstance(value, np.ndarray):
        content = value.tolist() if value.dtype == object else value.tobytes().hex()
        return str(value.dtype), value.shape, content
    if isinstance(value, (list, tuple)):
        return value
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=repr)
    if isinstance(value, dict):
        return value.items()
    if isinstance(value, partial):
        return value.func, value.args, value.keywords
    if isinstance(value, types.MethodType):
        return value.__func__, value.__self__
    if isinstance(value, types.FunctionType):
        source = None if value.__name__ == "<lambda>" else _source(value)
        closed = [cell.cell_contents for cell in value.__closure__ or () if cell != EMPTY_CELL]
        return source or value.__code__, value.__defaults__, value.__kwdefaults__, closed
    if isinstance(value, types.CodeType):
        return value.co_code, value.co_consts, value.co_names
    if isinstance(value, type):
        return _name(value), _source(value)
    if hasattr(value, "__qualname__") or isinstance(value, types.ModuleType):  # built in
        return str(value.__name__)
    attributes = getattr(value, "__dict__", {})
    return type(value), {key: x for key, x in attributes.items() if not key.startswith("_")}


def _source(value: Any) -> str | None:
    """Return the source of a function or a class without indentation; None if there is none."""
    try:
        return inspect.cleandoc(inspect.getsource(value))
    except (OSError, TypeError):
        return None
