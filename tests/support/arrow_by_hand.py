"""Producers of Arrow data that are built by hand: also of data that no library would hand out."""

from __future__ import annotations

import ctypes
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.doors.arrow import Array, Schema, Stream

LIVE: dict[int, list[Any]] = {}  # memory of structs that were not released, by their token
RELEASED: Counter[int] = Counter()  # how often each token was released
NAMES = {Schema: b"arrow_schema", Array: b"arrow_array", Stream: b"arrow_array_stream"}
FREE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
FILL = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
TELL = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
new_capsule = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p
)(("PyCapsule_New", ctypes.pythonapi))
inside = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


def _free(kind):
    def free(address):
        struct = kind.from_address(address)
        assert struct.release, "released twice"
        token = struct.private_data
        RELEASED[token] += 1
        struct.release = None
        for thing in LIVE.pop(token, ()):
            if isinstance(thing, np.ndarray) and thing.flags.writeable:
                thing.view(np.uint8)[...] = 0xEE  # who still looks sees it

    return FREE(free)


RELEASE = {kind: _free(kind) for kind in NAMES}


def _destroy(kind):
    def destroy(capsule):
        struct = kind.from_address(inside(capsule, NAMES[kind]))
        if struct.release:
            RELEASE[kind](ctypes.addressof(struct))

    return ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(destroy)


DESTROY = {kind: _destroy(kind) for kind in NAMES}


def address_of(thing: Any) -> int:
    return ctypes.cast(thing, ctypes.c_void_p).value


def capsule(struct: Any, name: bytes | None = None) -> Any:
    kind = type(struct)
    KEPT.append(struct)  # the place of a struct outlives what is in it
    destroy = address_of(DESTROY[kind]) if name is None else None
    return new_capsule(ctypes.addressof(struct), name or NAMES[kind], destroy)


KEPT: list[Any] = []


@dataclass
class Type:
    format: str | None
    name: str | None = ""
    children: list[Type | None] = field(default_factory=list)
    dictionary: Type | None = None
    metadata: bytes | None = None
    n_children: int | None = None


@dataclass
class Rows:
    """An array; a buffer is a NumPy array, bytes, or None for NULL."""

    length: int
    buffers: list[Any]
    children: list[Rows | None] = field(default_factory=list)
    nulls: int = 0
    offset: int = 0
    dictionary: Rows | None = None
    n_buffers: int | None = None


def filled(struct: Any, made: Type | Rows) -> int:
    """Write a struct; the token under which it is released."""
    token = len(LIVE) + sum(RELEASED.values()) + 1
    LIVE[token] = held = []
    _fill(struct, made, held, token)
    return token


def _pointers(addresses: list[int | None], held: list[Any]) -> int | None:
    found = (ctypes.c_void_p * len(addresses))(*addresses)
    held.append(found)
    return ctypes.addressof(found) if addresses else None


def _fill(struct: Any, made: Any, held: list[Any], token: int) -> None:
    kind = type(struct)
    below: list[int | None] = []
    for child in [*made.children, made.dictionary]:
        inner = None if child is None else kind()
        if inner is not None:
            _fill(inner, child, held, token)
            held.append(inner)
        below.append(None if inner is None else ctypes.addressof(inner))
    struct.dictionary = below.pop()
    struct.n_children = len(below)
    struct.children = _pointers(below, held)
    struct.private_data = token
    struct.release = address_of(RELEASE[kind])
    if kind is Schema:
        texts = [None if t is None else t.encode() for t in (made.format, made.name)]
        struct.format, struct.name = texts
        held.append(texts)  # ctypes keeps no bytes alive for a struct at an address
        struct.metadata = None if made.metadata is None else _memory(made.metadata, held)
        struct.n_children = len(below) if made.n_children is None else made.n_children
        return
    struct.length, struct.offset, struct.null_count = made.length, made.offset, made.nulls
    struct.n_buffers = len(made.buffers) if made.n_buffers is None else made.n_buffers
    struct.buffers = _pointers([_memory(b, held) for b in made.buffers], held)


def _memory(buffer: Any, held: list[Any]) -> int | None:
    if buffer is None:
        return None
    if isinstance(buffer, int):  # an address, as it is
        return buffer
    copied = np.frombuffer(bytes(buffer), np.uint8).copy()
    held.append(copied)
    return copied.ctypes.data


class OneArray:
    """An object with `__arrow_c_array__`."""

    def __init__(self, kind: Type, rows: Rows) -> None:
        self.kind, self.rows = kind, rows
        self.tokens: list[int] = []

    def __arrow_c_array__(self, requested_schema=None):
        schema, array = Schema(), Array()
        self.tokens += [filled(schema, self.kind), filled(array, self.rows)]
        return capsule(schema), capsule(array)


class Streamed:
    """An object with `__arrow_c_stream__`; after its arrays it ends, or fails."""

    def __init__(self, kind: Type | None, parts: list[Rows], error: int = 0) -> None:
        self.kind, self.parts, self.error = kind, parts, error
        self.tokens: list[int] = []

    def __arrow_c_stream__(self, requested_schema=None):
        stream, left = Stream(), list(self.parts)

        def get_schema(_, address):
            if self.kind is None:
                return 22
            self.tokens.append(filled(Schema.from_address(address), self.kind))
            return 0

        def get_next(_, address):
            if not left:
                return self.error
            self.tokens.append(filled(Array.from_address(address), left.pop(0)))
            return 0

        def get_last_error(_):
            raise AssertionError("its text may hold data")

        calls = FILL(get_schema), FILL(get_next), TELL(get_last_error)
        token = len(LIVE) + sum(RELEASED.values()) + 1
        LIVE[token] = [*calls]
        stream.get_schema, stream.get_next, stream.get_last_error = map(address_of, calls)
        stream.release, stream.private_data = address_of(RELEASE[Stream]), token
        self.tokens.append(token)
        return capsule(stream)
