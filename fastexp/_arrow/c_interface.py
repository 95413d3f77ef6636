"""The Arrow C data interface by ctypes: structs, capsules, and who releases what when.

A producer hands out a struct with a callback that frees its memory. The struct is moved into an
`Owner`, every array that looks into the memory holds that owner, and the callback runs once, when
the last of them is gone. Callbacks run without the interpreter's lock: engines work in threads.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any, NoReturn

from .._parameters.foreign import has, is_interrupt
from ..errors import InvalidRecords, ParameterTypeError

_LONG, _ADDRESS = ctypes.c_int64, ctypes.c_void_p
_POINTER = ctypes.sizeof(_ADDRESS)


class Schema(ctypes.Structure):
    """A type: ArrowSchema."""

    _fields_ = [
        ("format", ctypes.c_char_p),
        ("name", ctypes.c_char_p),
        ("metadata", _ADDRESS),
        ("flags", _LONG),
        ("n_children", _LONG),
        ("children", _ADDRESS),
        ("dictionary", _ADDRESS),
        ("release", _ADDRESS),
        ("private_data", _ADDRESS),
    ]


class Array(ctypes.Structure):
    """Rows: ArrowArray."""

    _fields_ = [
        ("length", _LONG),
        ("null_count", _LONG),
        ("offset", _LONG),
        ("n_buffers", _LONG),
        ("n_children", _LONG),
        ("buffers", _ADDRESS),
        ("children", _ADDRESS),
        ("dictionary", _ADDRESS),
        ("release", _ADDRESS),
        ("private_data", _ADDRESS),
    ]


class Stream(ctypes.Structure):
    """Arrays of one type, one after the other: ArrowArrayStream."""

    _fields_ = [
        ("get_schema", _ADDRESS),
        ("get_next", _ADDRESS),
        ("get_last_error", _ADDRESS),  # never called: its text may hold data
        ("release", _ADDRESS),
        ("private_data", _ADDRESS),
    ]


_RELEASE = ctypes.CFUNCTYPE(None, _ADDRESS)
_FILL = ctypes.CFUNCTYPE(ctypes.c_int, _ADDRESS, _ADDRESS)
# Prototypes of our own: those of `ctypes.pythonapi` belong to everyone.
_inside = ctypes.PYFUNCTYPE(_ADDRESS, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_is_capsule = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_IsValid", ctypes.pythonapi)
)


class Owner:
    """A struct of ours, released once: at `close`, or when nothing holds it any more."""

    __slots__ = ("_release", "address", "argument", "struct")

    def __init__(self, struct: Any, argument: str) -> None:
        self.struct, self.argument = struct, argument
        self.address = ctypes.addressof(struct)
        self._release = _RELEASE(struct.release) if struct.release else None

    def close(self) -> None:
        """Give the memory back; nothing may look into it any more."""
        release, self._release = self._release, None
        if release is not None:
            release(self.address)

    def __del__(self) -> None:
        self.close()


def malformed(argument: str, what: str) -> NoReturn:
    """Refuse a struct that breaks the interface's rules."""
    raise InvalidRecords(f"{argument}: malformed Arrow data ({what})")


def pointer(address: int, i: int) -> int | None:
    """Number i of the pointers that lie at an address; None for NULL."""
    return _ADDRESS.from_address(address + _POINTER * i).value


def opened(data: Any, argument: str) -> tuple[Owner, Iterator[Owner]]:
    """The schema of an object with one of the two methods, and its arrays."""
    if has(type(data), "__arrow_c_array__"):
        capsules = _returned(data, "__arrow_c_array__", argument)
        if type(capsules) is not tuple or len(capsules) != 2:
            malformed(argument, "__arrow_c_array__ returned no pair of capsules")
        schema = _moved(Schema, b"arrow_schema", capsules[0], argument)
        return schema, iter([_moved(Array, b"arrow_array", capsules[1], argument)])
    capsule = _returned(data, "__arrow_c_stream__", argument)
    stream = _moved(Stream, b"arrow_array_stream", capsule, argument)
    return _filled(Schema, stream, stream.struct.get_schema), _arrays(stream)


def _arrays(stream: Owner) -> Iterator[Owner]:
    try:
        while (owner := _filled(Array, stream, stream.struct.get_next)).struct.release:
            yield owner
    finally:
        stream.close()


def _failed(argument: str) -> NoReturn:
    raise InvalidRecords(f"{argument}: the Arrow producer failed; its message is withheld")


def _returned(data: object, method: str, argument: str) -> Any:
    """What a producer returns; the text of its own errors may hold data, and is withheld."""
    missing = interrupted = False
    try:
        return getattr(data, method)()
    except ImportError:
        missing = True
    except Exception as failure:  # raised below, where that error is no context of ours
        interrupted = is_interrupt(failure)
    if interrupted:
        raise KeyboardInterrupt
    if missing:
        raise ParameterTypeError(
            f"{argument} can be read as Arrow only with another package: pandas needs pyarrow"
        )
    _failed(argument)


def _moved(kind: type[Any], name: bytes, capsule: object, argument: str) -> Owner:
    """A struct taken out of its capsule, which then has nothing to release."""
    if not _is_capsule(capsule, name):
        malformed(argument, f"no capsule of the name {name.decode()}")
    source = kind.from_address(_inside(capsule, name))
    if not source.release:
        malformed(argument, "a capsule that was read before")
    struct = kind.from_buffer_copy(source)
    source.release = None
    return Owner(struct, argument)


def _filled(kind: type[Any], stream: Owner, callback: int | None) -> Owner:
    """A struct that the stream fills."""
    struct = kind()
    if not callback:
        malformed(stream.argument, "a stream without its callbacks")
    if _FILL(callback)(stream.address, ctypes.addressof(struct)):
        _failed(stream.argument)
    return Owner(struct, stream.argument)
