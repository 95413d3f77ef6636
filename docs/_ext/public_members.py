"""The public methods and attributes of each public class, inherited ones too.

Bases of other libraries and what has no docstring of its own (fields: they are parameters) are
left out.
"""

from __future__ import annotations

import inspect
from functools import cached_property
from types import ModuleType

METHODS = (classmethod, staticmethod)
ATTRIBUTES = (property, cached_property)


def members(kind: type) -> dict[str, list[str]]:
    """Names of the methods and of the attributes of a class: its own, then its bases'."""
    methods, attributes = [], []
    for base in kind.__mro__:
        if base.__module__.partition(".")[0] != "fastexp":
            continue
        for name, value in vars(base).items():
            if name.startswith("_") or name in methods or name in attributes:
                continue
            if inspect.isfunction(value) or isinstance(value, METHODS):
                methods.append(name)
            elif isinstance(value, ATTRIBUTES):
                attributes.append(name)
    return {"methods": methods, "attributes": attributes}


def public_members(*modules: ModuleType) -> dict[str, dict[str, list[str]]]:
    """`members` of every class that these modules export, by its full name."""
    return {
        f"{module.__name__}.{name}": members(kind)
        for module in modules
        for name in module.__all__
        if inspect.isclass(kind := getattr(module, name))
    }
