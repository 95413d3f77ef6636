"""Signatures and docstrings of public names, of their public methods and properties."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any, ForwardRef

import fastexp as fx
from tests.book.entries import Entry


def entries() -> Iterator[Entry]:
    """All of them."""
    yield Entry("fastexp", inspect.cleandoc(fx.__doc__ or ""))
    yield Entry("fastexp.privacy", inspect.cleandoc(fx.privacy.__doc__ or ""))
    yield Entry("names", "\n".join(sorted(n for n in dir(fx) if not n.startswith("_"))))
    for name in fx.__all__:
        yield from _described(name, getattr(fx, name))
    for name in fx.privacy.__all__:
        yield from _described(f"privacy.{name}", getattr(fx.privacy, name))


def _described(name: str, thing: Any) -> Iterator[Entry]:
    """A name, and of a class its public members."""
    docstring = _docstring(thing) if callable(thing) else ""  # a value has that of its type
    yield Entry(name, f"{_signature(thing)}\n{docstring}")
    if isinstance(thing, type):
        for member in sorted(n for n in dir(thing) if not n.startswith("_")):
            value = inspect.getattr_static(thing, member)
            if not _is_ours(thing, member):
                continue
            if hasattr(value, "__get__") and not callable(value):  # a property, or one of its kind
                text = f"attribute\n{_docstring(value)}"
            else:
                value = getattr(thing, member)
                text = (
                    f"{_signature(value)}\n{_docstring(value)}" if callable(value) else repr(value)
                )
            yield Entry(f"{name}.{member}", text)


def _is_ours(owner: type, member: str) -> bool:
    """Whether a class of fastexp defines a member, not one of Python's."""
    (definer, *_) = [c for c in owner.__mro__ if member in vars(c)]
    return definer.__module__.partition(".")[0] == "fastexp"


def _signature(thing: Any) -> str:
    """How it is called, with annotations as they are written."""
    if isinstance(thing, type) and issubclass(thing, BaseException):
        return f"class({', '.join(base.__name__ for base in thing.__bases__)})"
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):
        return type(thing).__name__
    parameters = [
        p.replace(annotation=_written(p.annotation)) for p in signature.parameters.values()
    ]
    returned = _written(signature.return_annotation)
    return str(signature.replace(parameters=parameters, return_annotation=returned))


def _written(annotation: Any) -> Any:
    return annotation.__forward_arg__ if isinstance(annotation, ForwardRef) else annotation


def _docstring(thing: Any) -> str:
    """Without the indentation of the source, which Python 3.13 leaves out itself."""
    return inspect.cleandoc(getattr(thing, "__doc__", None) or "")
