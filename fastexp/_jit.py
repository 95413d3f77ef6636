"""How kernels are compiled, cached and warmed up: the one file that imports numba.

Every kernel has one explicit signature and is built at its first call, so that importing
the package costs nothing and no input flavour (strided, float32, writable or not) can
add a second specialisation. The flags, and why:

* ``nogil``: the threads are ours, one Python thread a range of blocks.
* ``error_model="numpy"``: the default checks each division and thereby stops LLVM from
  vectorising the loop (a polynomial logarithm took 5.5 times as long).
* no ``fastmath``: contraction and reassociation change bits between CPUs and break the
  error bounds that the samplers are proved with.
* no ``_nrt``, the reference counts: callers hold the arrays, and an atomic operation for each
  slice took half the time of a row of 100 candidates. A kernel can allocate nothing.
* no ``parallel``: its pools abort after a fork and under foreign threads.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import struct
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import llvmlite
import numba
import numpy as np
from llvmlite import binding as llvm
from llvmlite import ir
from numba.core import cgutils, compiler, registry, serialize, types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.extending import intrinsic

from . import _kernel_cache, _kernel_sources, _kernel_target
from ._kernel_target import Target

F = TypeVar("F", bound=Callable[..., Any])

FLAGS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "fastmath": False,
    "_nrt": False,
}

INTERPRETED = bool(vars(numba.config)["DISABLE_JIT"])  # NUMBA_DISABLE_JIT=1: coverage of kernels

NOTHING, I64, U64, F64 = types.void, types.int64, types.uint64, types.float64
PAIR: Any = vars(types)["Tuple"]((I64, I64))
PAIR_U64: Any = vars(types)["Tuple"]((U64, U64))
PAIR_F64: Any = vars(types)["Tuple"]((F64, F64))
# Inputs are read-only: Arrow buffers, memory maps and frozen tables are, and a signature
# of a read-only array takes writable ones too.
IN_U64 = types.Array(U64, 1, "C", readonly=True)
IN_I64 = types.Array(I64, 1, "C", readonly=True)
IN_F64 = types.Array(F64, 1, "C", readonly=True)
OUT_U64, OUT_I64, OUT_F64 = U64[::1], I64[::1], F64[::1]

KERNELS: dict[str, Kernel] = {}

if hasattr(os, "register_at_fork"):  # a child would wait for ever for a thread that compiles
    os.register_at_fork(
        before=global_compiler_lock.acquire,
        after_in_parent=global_compiler_lock.release,
        after_in_child=global_compiler_lock.release,
    )


class Kernel:
    """A loop over canonical arrays, compiled for its one signature at the first call."""

    __slots__ = ("_entry", "function", "name", "signature")

    def __init__(self, function: Callable[..., Any], signature: Any) -> None:
        self.function = function
        self.signature = signature
        module = function.__module__.rpartition(".kernels.")[2]  # folders are part of the name
        self.name = f"{module}.{function.__name__}"
        self._entry: Callable[..., Any] | None = None

    def __call__(self, *args: Any) -> Any:
        entry = self._entry
        if entry is None:
            entry = self.build()
        return entry(*args)

    def build(self, *, image: bool = False) -> Callable[..., Any]:
        """Load the kernel from the cache, or compile it; from and for an image alone if so."""
        if INTERPRETED:
            self._entry = _interpreted(self.function)
        else:
            dispatcher = numba.njit(**FLAGS)(self.function)
            dispatcher._cache = _Cache(self.name, self.function.__module__, image=image)
            dispatcher.compile(self.signature)
            dispatcher.disable_compile()
            self._entry = dispatcher
        return self._entry

    @property
    def folder(self) -> str | None:
        """The folder of the cache that it was loaded from or saved in; None if there is none."""
        cache = getattr(self._entry, "_cache", None)
        return None if cache is None else cache.cache_path

    @property
    def dispatcher(self) -> Any:
        """The compiled dispatcher, for tests that read signatures and assembly."""
        return self._entry or self.build()


def kernel(signature: Any) -> Callable[[Callable[..., Any]], Kernel]:
    """Register a kernel under its one explicit signature; nothing is compiled yet.

    Its code may depend on its module and what that imports alone, since these name it in the
    cache: a function that closes over values or has defaults, which may be of other modules, is
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
    """A function that kernels call; always inlined, as a call stops vectorisation."""
    compiled: F = numba.njit(**FLAGS, forceinline=True)(function)
    return compiled


def warmup(*, image: bool = False) -> int:
    """Load or compile every registered kernel; return how many."""
    for built in KERNELS.values():
        if image or built._entry is None:
            built.build(image=image)
    return len(KERNELS)


def _interpreted(function: Callable[..., Any]) -> Callable[..., Any]:
    # Without the compiler (NUMBA_DISABLE_JIT=1, for coverage) NumPy scalars warn when
    # they wrap around, which in a kernel they do on purpose.
    def call(*args: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*args)

    return call


class _Cache:
    """Numba's cache interface over one file a kernel, without an index.

    Numba's own cache keeps an index of signatures beside the data; two processes that
    fill it at once can pair a signature with another one's machine code (numba#4807).
    Here a kernel has one signature, so a file needs no index. The folder's name is a hash of
    the compiler, its options and the CPU, the file's name holds a hash of the sources that the
    kernel is compiled from (`_kernel_sources`).
    """

    def __init__(self, name: str, module: str, *, image: bool = False) -> None:
        sources = _kernel_sources.source_hash(module)
        self._file = f"{name}-{sources}" if sources else None
        self._image = image
        self._places = [_kernel_cache.image()] if image else _kernel_cache.places()
        self.cache_path: str | None = None  # where it was found or saved

    def load_overload(self, _signature: Any, target_context: Any) -> Any:
        target_context.refresh()
        if self._file is None:
            return None
        texts = [target.text for target in targets()]
        texts = texts[:1] if self._image else texts
        for folder, body in _kernel_cache.load(self._places, texts, self._file, host_features()):
            with contextlib.suppress(Exception):  # whatever is wrong with it: compile
                result = _REBUILD(target_context, *pickle.loads(body))
                self.cache_path = str(folder)
                return result
        return None

    def save_overload(self, _signature: Any, result: Any) -> None:
        text, features = targets()[0]
        if self._image:
            self.cache_path = self._save_in_image(text, features, result)
        elif self._file and features <= host_features():  # another CPU's would not be loaded
            body = _DUMPS(result._reduce())
            folder = _kernel_cache.save(self._places, text, self._file, body, features)
            self.cache_path = None if folder is None else str(folder)

    def _save_in_image(self, target: str, features: frozenset[str], result: Any) -> str:
        place = self._places[0]
        try:
            if self._file is None:
                raise OSError("the sources are not there, or not those that run here")
            body = _DUMPS(result._reduce())
            return str(_kernel_cache.save_in(place, target, self._file, body, features))
        except OSError as error:
            reason = _kernel_cache.reason(error)
            raise OSError(f"kernels cannot be kept in {place.path}: {reason}") from None


_REBUILD: Any = compiler.CompileResult._rebuild
_DUMPS: Any = serialize.dumps


def targets() -> list[Target]:
    """What this process compiles for; then the baseline, if this CPU is more than that."""
    _, cpu, features = registry.cpu_target.target_context.codegen().magic_tuple()
    listed = [_target(cpu, features)]
    baseline = _target(_kernel_target.BASELINE, "")
    if cpu == llvm.get_host_cpu_name() and listed[0].features >= baseline.features:
        listed.append(baseline)
    return listed


def host_features() -> frozenset[str]:
    """What the CPU here has: its features, and its name, which can stand for more."""
    try:
        features = llvm.get_host_cpu_features().flatten()
    except RuntimeError:  # LLVM cannot tell them of some CPUs
        features = ""
    return _kernel_target.enabled(features) | {f"cpu={llvm.get_host_cpu_name()}"}


def _target(cpu: str, features: str) -> Target:
    python = (sys.implementation.cache_tag, sys.version, getattr(sys, "abiflags", ""))
    versions = (numba.__version__, llvmlite.__version__, llvm.llvm_version_info, np.__version__)
    options = _kernel_target.code_options(vars(numba.config), os.environ)
    compiler_and_flags = (python, versions, FLAGS, llvm.get_process_triple())
    return _kernel_target.target(compiler_and_flags, options, cpu, features)


if INTERPRETED:

    def float_bits(x: Any) -> Any:
        """The IEEE 754 bits of a float64 as uint64."""
        return np.uint64(struct.unpack("<Q", struct.pack("<d", x))[0])

    def bits_float(n: Any) -> Any:
        """The float64 that has these bits."""
        return np.float64(struct.unpack("<d", struct.pack("<Q", int(n)))[0])

    def wide_vectors() -> None:
        """Nothing: only a compiler has a preference to change."""

    def prefetch(_array: Any, _index: Any) -> None:
        """Nothing: only a processor has caches to fill."""

    def wide_product(x: Any, y: Any) -> Any:
        """The 128-bit product of two 64-bit words: its upper and its lower half."""
        product = int(x) * int(y)
        return np.uint64(product >> 64), np.uint64(product & ((1 << 64) - 1))

else:

    def _bitcast(source: Any, target: Any) -> Any:
        def typer(_typingctx: Any, _x: Any) -> Any:
            def codegen(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
                return builder.bitcast(args[0], context.get_value_type(target))

            return target(source), codegen

        return typer

    _function: Any = cgutils.get_or_insert_function
    float_bits = intrinsic(_bitcast(F64, U64))
    bits_float = intrinsic(_bitcast(U64, F64))

    @intrinsic
    def wide_vectors(_typingctx: Any) -> Any:
        """Let LLVM use 512-bit vectors in the calling kernel, where the CPU has them.

        On Intel CPUs it prefers 256 bits, for the sake of code that is seldom vector code.
        """

        def codegen(context: Any, builder: Any, _signature: Any, _args: Any) -> Any:
            # llvmlite's own `add` knows enum attributes only; this one is a string.
            set.add(builder.function.attributes, '"prefer-vector-width"="512"')
            return context.get_dummy_value()

        return types.void(), codegen

    @intrinsic
    def wide_product(_typingctx: Any, x: Any, y: Any) -> Any:
        """The 128-bit product of two 64-bit words: one instruction instead of four products."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            wide = ir.IntType(128)
            product = builder.mul(*(builder.zext(arg, wide) for arg in args))
            halves = builder.lshr(product, ir.Constant(wide, 64)), product
            words = [builder.trunc(half, ir.IntType(64)) for half in halves]
            return context.make_tuple(builder, signature.return_type, words)

        return PAIR_U64(x, y), codegen

    @intrinsic
    def prefetch(_typingctx: Any, array: Any, index: Any) -> Any:
        """Have the memory of an element on its way to the caches; the index is not checked.

        It may lie outside the array: a prefetch never faults.
        """

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            data = context.make_array(signature.args[0])(context, builder, args[0]).data
            byte = builder.bitcast(builder.gep(data, [args[1]]), ir.IntType(8).as_pointer())
            word = ir.IntType(32)
            kind = ir.FunctionType(ir.VoidType(), [byte.type, word, word, word])
            call = _function(builder.module, kind, "llvm.prefetch.p0")
            builder.call(call, [byte, word(1), word(3), word(1)])  # for writing, keep, data
            return context.get_dummy_value()

        return types.void(array, index), codegen
