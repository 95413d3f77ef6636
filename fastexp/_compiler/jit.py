"""What kernels are written with: `kernel`, `helper`, types, and intrinsics.

Every kernel has one explicit signature and is built at its first call, so that importing
the package costs nothing and no input flavour (strided, float32, writable or not) can
add a second specialisation. Nothing here imports numba: `build` does, when the first kernel
is built, or earlier, by `ready`.
"""

from __future__ import annotations

import os
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np

if TYPE_CHECKING:
    from types import ModuleType

    from .cache import CacheFolder

F = TypeVar("F", bound=Callable[..., Any])
Watcher = Callable[[], AbstractContextManager[None]]


class Signature(NamedTuple):
    """The types of a kernel's result and arguments."""

    result: Type
    arguments: tuple[Type, ...]


class Type(str):
    """A type as `build` reads it: the name of a numba type, perhaps after "in", "out" or "pair".

    "in" and "out" mean an array of the type, "pair" a tuple of two. Called with the types of
    arguments, it makes the signature that has it as the type of the result.
    """

    __slots__ = ()

    def __call__(self, *arguments: Type) -> Signature:
        return Signature(self, arguments)


NOTHING, I64, U64, F64 = map(Type, ("void", "int64", "uint64", "float64"))
PAIR, PAIR_F64 = Type("pair int64"), Type("pair float64")
IN_U64, IN_I64, IN_F64 = Type("in uint64"), Type("in int64"), Type("in float64")
IN_U32 = Type("in uint32")
IN_C128, OUT_C128 = Type("in complex128"), Type("out complex128")
OUT_U64, OUT_I64, OUT_F64 = Type("out uint64"), Type("out int64"), Type("out float64")

KERNELS: dict[str, Kernel] = {}

_BUILDING = threading.RLock()  # held while the compiler is imported or a kernel is built
_imported: ModuleType | None = None
_place: CacheFolder | None = None  # the only folder that kernels are kept in, if any
_watcher: Watcher | None = None


def ready() -> None:
    """Import the compiler, which takes a third of a second and swallows KeyboardInterrupt.

    So it must not happen between a charge and the draw that it pays for.
    """
    _compiler()


def interpreted() -> bool:
    """Whether kernels run as Python (NUMBA_DISABLE_JIT=1)."""
    return bool(_compiler().INTERPRETED)


class Kernel:
    """A loop over canonical arrays, compiled for its one signature at the first call."""

    __slots__ = ("_entry", "function", "name", "signature")

    def __init__(self, function: Callable[..., Any], signature: Signature) -> None:
        self.function: Callable[..., Any] = function
        self.signature: Signature = signature
        module = function.__module__.rpartition(".kernels.")[2]  # folders are part of the name
        self.name: str = f"{module}.{function.__name__}"
        self._entry: Callable[..., Any] | None = None

    def __call__(self, *args: Any) -> Any:
        entry = self._entry
        if entry is None:
            with _BUILDING:
                entry = self._entry or self.build()
        return entry(*args)

    def build(self) -> Callable[..., Any]:
        """Load the kernel from the cache, or compile it."""
        entry: Callable[..., Any]
        with _BUILDING:
            if interpreted():
                entry = _quiet(self.function)
            else:
                source, during = _source(self.function), _watcher or nullcontext
                entry = _compiler().compiled(
                    self.function, source, self.signature, self.name, _place, during
                )
            self._entry = entry
        return entry

    @property
    def is_built(self) -> bool:
        """Whether the kernel is ready in this process."""
        return self._entry is not None

    @property
    def folder(self) -> str | None:
        """The folder of the cache that the kernel was loaded from or saved in, if any."""
        cache = getattr(self._entry, "_cache", None)
        return None if cache is None else cache.cache_path

    @property
    def dispatcher(self) -> Any:
        """The compiled dispatcher, for tests that read signatures and assembly."""
        return self._entry or self.build()


class Helper:
    """A function that kernels call, compiled into them; called from Python, compiled alone."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self._alone: Any = None
        self._inlined: Any = None

    def __call__(self, *args: Any) -> Any:
        if self._alone is None:
            self._alone = _compiler().alone(self.function)
        return self._alone(*args)

    @property
    def _numba_type_(self) -> Any:  # where numba looks for the type of a foreign object
        if self._inlined is None:
            self._inlined = _compiler().inlined(self.function, _source(self.function))
        return self._inlined._numba_type_


class Intrinsic:
    """An operation that only a compiler can do; called from Python, the same by other means."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, *args: Any) -> Any:
        return self.function(*args)

    @property
    def _numba_type_(self) -> Any:
        return _compiler().intrinsic_type(self.function.__name__)


def kernel(signature: Signature) -> Callable[[Callable[..., Any]], Kernel]:
    """Register a kernel under its one explicit signature; nothing is compiled yet.

    Its code may depend only on its module and what that imports, since their hash names it in the
    cache: a function with a closure or defaults, whose values may come from other modules, is
    refused.
    """

    def register(function: Callable[..., Any]) -> Kernel:
        built = Kernel(function, signature)
        if built.name in KERNELS:
            raise RuntimeError(f"two kernels are called {built.name}")
        values = function.__closure__, function.__defaults__, function.__kwdefaults__
        if any(values) or function.__globals__["__name__"] != function.__module__:
            raise RuntimeError(f"{built.name} depends on values that its module does not name")
        KERNELS[built.name] = built
        return built

    return register


def helper(function: F) -> F:
    """Make a function a helper that kernels call: always inlined, as a call stops vectorisation."""
    return cast("F", Helper(function))


def warmup() -> int:
    """Load or compile every registered kernel; return how many."""
    for built in KERNELS.values():
        if _place is not None or built._entry is None:
            built.build()
    return len(KERNELS)


@contextmanager
def kept_in(place: CacheFolder) -> Iterator[None]:
    """Load kernels only from this place during the block, and save them there, or raise OSError."""
    global _place
    _place = place
    try:
        yield
    finally:
        _place = None


def watch(watcher: Watcher | None) -> None:
    """From now on, enter the context `watcher()` while a kernel is compiled."""
    global _watcher
    _watcher = watcher


@Intrinsic
def float_bits(x: Any) -> Any:
    """Return the IEEE 754 bits of a float64 as uint64."""
    return np.uint64(struct.unpack("<Q", struct.pack("<d", x))[0])


@Intrinsic
def bits_float(n: Any) -> Any:
    """Return the float64 that has these bits."""
    return np.float64(struct.unpack("<d", struct.pack("<Q", int(n)))[0])


@Intrinsic
def wide_vectors() -> None:
    """Let LLVM use 512-bit vectors in the calling kernel, where the CPU has them.

    On Intel CPUs LLVM prefers 256 bits, for the sake of code that is seldom vectorised.
    """


@Intrinsic
def wide_product(x: Any, y: Any) -> Any:
    """Return the upper and the lower half of the 128-bit product of two words: one instruction."""
    product = int(x) * int(y)
    return np.uint64(product >> 64), np.uint64(product & ((1 << 64) - 1))


@Intrinsic
def stack(count: Any) -> Any:
    """Return a constant number of undefined int64 words, valid until the kernel returns.

    An array from the caller would add 0.3 us to a call.
    """
    return np.empty(count, np.int64)


@Intrinsic
def as_words(array: Any) -> Any:
    """Return the memory of an array of 64-bit elements as uint64.

    Numba's own `array.view` takes a fifth of a second to compile.
    """
    return array.view(np.uint64)


@Intrinsic
def as_floats(array: Any) -> Any:
    """Return the same memory as float64."""
    return array.view(np.float64)


@Intrinsic
def as_bytes(array: Any) -> Any:
    """Return the same memory as bytes."""
    return array.view(np.uint8)


@Intrinsic
def span(array: Any, start: Any, stop: Any) -> Any:
    """Return the elements from start to stop; compiled kernels use it instead of slices."""
    return array[start:stop]


@Intrinsic
def choice(test: Any, x: Any, y: Any) -> Any:
    """Return x or y, both evaluated; compiled kernels use it instead of `x if test else y`."""
    return x if test else y


@Intrinsic
def prefetch(_array: Any, _index: Any) -> None:
    """Start to load the memory of an element into the caches; the index is not checked.

    It may lie outside the array: a prefetch never faults.
    """


@Intrinsic
def least(x: Any, y: Any) -> Any:
    """Return the lesser of two numbers; compiled kernels use it instead of `min`.

    Numba compiles a function for each type that `min` is called with.
    """
    return min(x, y)


@Intrinsic
def greatest(x: Any, y: Any) -> Any:
    """Return the greater of two numbers; compiled kernels use it instead of `max`."""
    return max(x, y)


def _source(function: Any) -> Callable[[], Callable[..., Any]]:
    # A function that returns what is compiled: `function` with the bodies of helpers in it.
    def source() -> Callable[..., Any]:
        from . import inlining

        replacements: dict[Any, Any] = {min: least, max: greatest}
        replacements |= {inlining.SLICE: span, inlining.CHOICE: choice}
        return inlining.flattened(function, _body, replacements)

    return source


def _body(value: object) -> Any:
    # The function of a helper that may be spliced in. A helper with wide vectors is vectorised
    # separately: among other loops LLVM sees too little of its arrays (rows of ten took 1.7 times
    # as long).
    function = value.function if isinstance(value, Helper) else None
    is_wide = function is not None and "wide_vectors" in function.__code__.co_names
    return None if is_wide else function


def _compiler() -> ModuleType:
    global _imported
    if _imported is None:  # else without the lock, for which the holder of `LOCK` must not wait
        with _BUILDING:
            from . import build as module

            _imported = module
    return _imported


def _before_fork() -> None:
    # A child would wait forever for the locks (those of imports and LLVM, too) of a thread that
    # builds a kernel here or compiles other code.
    _BUILDING.acquire()
    if _imported is not None:
        _imported.LOCK.acquire()


def _after_fork() -> None:
    if _imported is not None:
        _imported.LOCK.release()
    _BUILDING.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork
    )


def _quiet(function: Callable[..., Any]) -> Callable[..., Any]:
    # In Python, NumPy scalars warn of overflow, which kernels use on purpose.
    def call(*args: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*args)

    return call
