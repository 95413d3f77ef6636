"""Arrow types and arrays as trees of Python objects: formats, lengths, lent buffers.

The C data interface tells no sizes of buffers. What it tells (lengths, offsets, counts) is checked
against what it allows; that a buffer is as long as these ask for must be believed.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._typing import AnyArray
from .c_interface import Array, Owner, Schema, malformed, opened, pointer

FAR = 1 << 48  # bytes: no machine addresses more, so a larger size is a damaged one
DEPTH = 3  # a frame, its columns, the items of a list, their dictionary: nothing more is read
EXTENSION = b"ARROW:extension:name"


class Field(NamedTuple):
    """A type as the producer states it; `name` is the column's."""

    format: str
    name: str
    extension: str
    children: tuple[Field, ...]
    dictionary: Field | None


class Part:
    """An array, or a child of one; it keeps the owner of its memory."""

    __slots__ = ("_struct", "buffers", "length", "nulls", "offset", "owner")

    def __init__(self, owner: Owner, address: int) -> None:
        self.owner = owner
        struct = self._struct = Array.from_address(address)
        self.length, self.offset, self.nulls = struct.length, struct.offset, struct.null_count
        self.buffers = struct.n_buffers
        if min(self.length, self.offset, self.buffers, struct.n_children) < 0:
            malformed(owner.argument, "a negative length or offset")
        if self.length + self.offset >= FAR or not -1 <= self.nulls <= self.length:
            malformed(owner.argument, "a length or a count of nulls out of range")

    def has(self, i: int) -> bool:
        """Whether there is a buffer of this number."""
        return i < self.buffers and bool(self._buffer(i))

    def buffer(self, i: int, dtype: npt.DTypeLike, first: int, count: int) -> AnyArray:
        """Items of a buffer, not copied and read-only; `first` counts from its beginning."""
        kind = np.dtype(dtype)
        if count == 0:  # the buffer may then be absent
            return np.empty(0, kind)
        start = self._buffer(i) if i < self.buffers else None
        if not start:
            malformed(self.owner.argument, "a buffer is missing")
        if (first + count) * kind.itemsize >= FAR:
            malformed(self.owner.argument, "an offset out of range")
        return _lent(self.owner, start + first * kind.itemsize, kind, count)

    def child(self, i: int) -> Part:
        """The child of this number."""
        children, count = self._struct.children, self._struct.n_children
        address = pointer(children, i) if children and i < count else None
        if not address:
            malformed(self.owner.argument, "an array without its child")
        return Part(self.owner, address)

    def dictionary(self) -> Part:
        """The values that codes stand for."""
        if not self._struct.dictionary:
            malformed(self.owner.argument, "an array without its dictionary")
        return Part(self.owner, self._struct.dictionary)

    def _buffer(self, i: int) -> int | None:
        if not self._struct.buffers:
            malformed(self.owner.argument, "an array without its buffers")
        return pointer(self._struct.buffers, i)


class _Loan:
    """Memory of an owner in the form that NumPy takes; arrays have it as their base."""

    __slots__ = ("__array_interface__", "owner")

    def __init__(self, owner: Owner, interface: dict[str, Any]) -> None:
        self.owner, self.__array_interface__ = owner, interface


def _lent(owner: Owner, address: int, kind: np.dtype[Any], count: int) -> AnyArray:
    read_only = True
    form = {"data": (address, read_only), "shape": (count,), "typestr": kind.str, "version": 3}
    items = np.asarray(_Loan(owner, form))
    return items if items.flags.aligned else items.copy()


def tree(data: Any, argument: str) -> tuple[Field, Iterator[Part]]:
    """The type of an object's Arrow data, and its arrays."""
    schema, arrays = opened(data, argument)
    if not schema.struct.release:
        malformed(argument, "a stream without a schema")
    field = _field(schema.struct, argument, DEPTH)
    return field, (Part(owner, owner.address) for owner in arrays)


def _field(struct: Schema, argument: str, depth: int) -> Field:
    if struct.format is None or struct.n_children < 0:
        malformed(argument, "a type without its format")
    count = struct.n_children if depth else 0
    places = [pointer(struct.children, i) for i in range(count)] if struct.children else [None]
    below = []
    for place in places[:count]:
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
    """The name of an extension type: such a type may be stored as integers, and mean none."""
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
