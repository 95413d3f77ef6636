"""The Arrow C data interface by ctypes: structs, capsules, and who releases what when.

A producer hands out a struct with a callback that frees its memory. The struct is moved into an
`Owner`, every array that looks into the memory holds that owner, and the callback runs once, when
the last of them is gone. Callbacks run without the interpreter's lock: engines work in threads.

The interface does not give the sizes of buffers. The lengths, offsets and counts that it gives are
checked against its rules; that a buffer is as long as these imply has to be trusted.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from .._parameters.foreign import attribute, has, is_interrupt
from .._typing import AnyArray
from ..errors import InvalidRecords, ParameterTypeError

FAR = 1 << 48  # bytes: no machine addresses more, so a larger size is a damaged one
DEPTH = 3  # a frame, its columns, the items of a list, their dictionary: nothing more is read
EXTENSION = b"ARROW:extension:name"
_LONG, _ADDRESS = ctypes.c_int64, ctypes.c_void_p
_POINTER = ctypes.sizeof(_ADDRESS)


def _all(kind: Any, *names: str) -> list[tuple[str, Any]]:
    """Return fields of one type."""
    return [(name, kind) for name in names]


class Schema(ctypes.Structure):
    """A type: ArrowSchema."""

    _fields_ = [
        *_all(ctypes.c_char_p, "format", "name"),
        *_all(_ADDRESS, "metadata"),
        *_all(_LONG, "flags", "n_children"),
        *_all(_ADDRESS, "children", "dictionary", "release", "private_data"),
    ]


class Array(ctypes.Structure):
    """Rows: ArrowArray."""

    _fields_ = [
        *_all(_LONG, "length", "null_count", "offset", "n_buffers", "n_children"),
        *_all(_ADDRESS, "buffers", "children", "dictionary", "release", "private_data"),
    ]


class Stream(ctypes.Structure):
    """Arrays of one type, one after the other: ArrowArrayStream.

    `get_last_error` is never called: its text may hold data.
    """

    _fields_ = _all(_ADDRESS, "get_schema", "get_next", "get_last_error", "release", "private_data")


_RELEASE = ctypes.CFUNCTYPE(None, _ADDRESS)
_FILL = ctypes.CFUNCTYPE(ctypes.c_int, _ADDRESS, _ADDRESS)
# Separate prototypes: those of `ctypes.pythonapi` are shared by all code.
_inside = ctypes.PYFUNCTYPE(_ADDRESS, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_is_capsule = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_IsValid", ctypes.pythonapi)
)


class Owner:
    """A struct that we own, released once: by `close`, or when nothing holds it any more."""

    __slots__ = ("_release", "address", "argument", "struct")

    def __init__(self, struct: Any, argument: str) -> None:
        self.struct, self.argument = struct, argument
        self.address = ctypes.addressof(struct)
        self._release = _RELEASE(struct.release) if struct.release else None

    def close(self) -> None:
        """Release the memory, which nothing may read any more."""
        release, self._release = self._release, None
        if release is not None:
            release(self.address)

    def __del__(self) -> None:
        self.close()


def malformed(argument: str, what: str) -> NoReturn:
    """Refuse a struct that breaks the interface's rules."""
    raise InvalidRecords(f"{argument}: malformed Arrow data ({what})")


def _pointer(address: int, i: int) -> int | None:
    """Return pointer number i of those at an address; None for NULL."""
    return _ADDRESS.from_address(address + _POINTER * i).value


class Field(NamedTuple):
    """A type as the producer states it; `name` is the column's."""

    format: str
    name: str
    extension: str
    children: tuple[Field, ...]
    dictionary: Field | None


class ArrowPart:
    """An array, or a child of one; it keeps the owner of its memory."""

    __slots__ = ("_owner", "_struct", "buffers", "length", "nulls", "offset")

    def __init__(self, owner: Owner, address: int) -> None:
        self._owner = owner
        struct = self._struct = Array.from_address(address)
        self.length, self.offset, self.nulls = struct.length, struct.offset, struct.null_count
        self.buffers = struct.n_buffers
        if min(self.length, self.offset, self.buffers, struct.n_children) < 0:
            self.malformed("a negative length or offset")
        if self.length + self.offset >= FAR or not -1 <= self.nulls <= self.length:
            self.malformed("a length or a count of nulls out of range")

    def malformed(self, what: str) -> NoReturn:
        """Refuse an array that breaks the interface's rules."""
        malformed(self._owner.argument, what)

    def has(self, i: int) -> bool:
        """Whether there is a buffer number i."""
        return bool(self._buffer(i))

    def buffer(self, i: int, dtype: npt.DTypeLike, first: int, count: int) -> AnyArray:
        """Return items of a buffer, read-only and not copied; a copy if they are misaligned.

        first: counts from the beginning of the buffer.
        """
        kind = np.dtype(dtype)
        if count == 0:  # the buffer may then be absent
            return np.empty(0, kind)
        start = self._buffer(i)
        if not start:
            self.malformed("a buffer is missing")
        if (first + count) * kind.itemsize >= FAR:
            self.malformed("an offset out of range")
        place, read_only = start + first * kind.itemsize, True
        loan = _Loan()
        loan.owner, loan.__array_interface__ = self._owner, {
            "data": (place, read_only), "shape": (count,), "typestr": kind.str, "version": 3,
        }  # fmt: skip
        items = np.asarray(loan)
        return items if items.flags.aligned else items.copy()

    def child(self, i: int) -> ArrowPart:
        """Return child number i."""
        children, count = self._struct.children, self._struct.n_children
        address = _pointer(children, i) if children and i < count else None
        if not address:
            self.malformed("an array without its child")
        return ArrowPart(self._owner, address)

    def dictionary(self) -> ArrowPart:
        """Return the values that codes stand for."""
        if not self._struct.dictionary:
            self.malformed("an array without its dictionary")
        return ArrowPart(self._owner, self._struct.dictionary)

    def _buffer(self, i: int) -> int | None:
        if i >= self.buffers:
            return None
        if not self._struct.buffers:
            self.malformed("an array without its buffers")
        return _pointer(self._struct.buffers, i)


class _Loan:
    """Memory of an owner in the form that NumPy takes; arrays have it as their base."""

    owner: Owner
    __array_interface__: dict[str, Any]


def is_arrow(data: object) -> bool:
    """Whether an object hands out Arrow data; a series of pandas 2 does by its array."""
    methods = "__arrow_c_array__", "__arrow_c_stream__"
    return any(has(type(data), method) for method in methods) or _is_pandas_2(data)


def _is_pandas_2(data: object) -> bool:
    """Whether it is a series of pandas 2 over a pyarrow array: pandas 3 has a method of its own."""
    lacks_method = not has(type(data), "__arrow_c_stream__")
    return lacks_method and has(attribute(data, "dtype"), "pyarrow_dtype")


def opened(data: Any, argument: str) -> tuple[Field, Iterator[ArrowPart]]:
    """Return the type of an object that `is_arrow`, and an iterator over its arrays."""
    if _is_pandas_2(data):
        data = _returned(attribute(data, "array", data), "__arrow_array__", argument)
    if has(type(data), "__arrow_c_array__"):
        capsules = _returned(data, "__arrow_c_array__", argument)
        if type(capsules) is not tuple or len(capsules) != 2:
            malformed(argument, "__arrow_c_array__ returned no pair of capsules")
        schema = _moved(Schema, b"arrow_schema", capsules[0], argument)
        arrays = iter([_moved(Array, b"arrow_array", capsules[1], argument)])
    else:
        capsule = _returned(data, "__arrow_c_stream__", argument)
        stream = _moved(Stream, b"arrow_array_stream", capsule, argument)
        schema, arrays = _filled(Schema, stream, stream.struct.get_schema), _arrays(stream)
    if not schema.struct.release:
        malformed(argument, "a stream without a schema")
    field = _field(schema.struct, argument, DEPTH)
    return field, (ArrowPart(owner, owner.address) for owner in arrays)


def _arrays(stream: Owner) -> Iterator[Owner]:
    try:
        while (owner := _filled(Array, stream, stream.struct.get_next)).struct.release:
            yield owner
    finally:
        stream.close()


def _failed(argument: str) -> NoReturn:
    raise InvalidRecords(f"{argument}: the Arrow producer failed; its message is withheld")


def _returned(data: object, method: str, argument: str) -> Any:
    """Return what a producer returns; the text of its errors may hold data, and is withheld."""
    missing = interrupted = False
    try:
        return getattr(data, method)()
    except ImportError:
        missing = True
    except Exception as failure:  # raised below, so that this error is not its context
        interrupted = is_interrupt(failure)
    if interrupted:
        raise KeyboardInterrupt
    if missing:
        raise ParameterTypeError(
            f"{argument} cannot be read as Arrow data: pandas needs pyarrow for that"
        )
    _failed(argument)


def _moved(kind: type[Any], name: bytes, capsule: object, argument: str) -> Owner:
    """Take a struct out of its capsule, which then has nothing to release."""
    if not _is_capsule(capsule, name):
        malformed(argument, f"no capsule of the name {name.decode()}")
    source = kind.from_address(_inside(capsule, name))
    if not source.release:
        malformed(argument, "a capsule that was read before")
    struct = kind.from_buffer_copy(source)
    source.release = None
    return Owner(struct, argument)


def _filled(kind: type[Any], stream: Owner, callback: int | None) -> Owner:
    """Return a struct that a callback of the stream fills."""
    struct = kind()
    if not callback:
        malformed(stream.argument, "a stream without its callbacks")
    if _FILL(callback)(stream.address, ctypes.addressof(struct)):
        _failed(stream.argument)
    return Owner(struct, stream.argument)


def _field(struct: Schema, argument: str, depth: int) -> Field:
    if struct.format is None or struct.n_children < 0:
        malformed(argument, "a type without its format")
    count = struct.n_children if depth else 0
    below = []
    for i in range(count):
        place = _pointer(struct.children, i) if struct.children else None
        if not place:
            malformed(argument, "a type without its children")
        below.append(_field(Schema.from_address(place), argument, depth - 1))
    extension, words = _extension(struct.metadata, argument), None
    if struct.dictionary and depth:
        words = _field(Schema.from_address(struct.dictionary), argument, depth - 1)
    elif struct.dictionary:  # too deep: it must not pass for plain integers
        extension = "dictionary"
    form, name = (text.decode("utf-8", "replace") for text in (struct.format, struct.name or b""))
    return Field(form, name, extension, tuple(below), words)


def _extension(address: int | None, argument: str) -> str:
    """Return the name of an extension type, or "": it may store integers that mean no numbers."""
    if not address:
        return ""
    place, number = address + 4, ctypes.c_int32.from_address
    for _ in range(number(address).value):
        pair = []
        for _ in range(2):
            length = number(place).value
            if length < 0:
                malformed(argument, "metadata of a negative length")
            pair.append(ctypes.string_at(place + 4, length))
            place += 4 + length
        if pair[0] == EXTENSION:
            return pair[1].decode("utf-8", "replace")
    return ""
