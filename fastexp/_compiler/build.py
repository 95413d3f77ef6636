"""How kernels are compiled, and loaded from the cache: the one file that imports numba.

Importing numba takes a third of a second, so it is imported where the first kernel is built
(`jit`).
The flags, and why:

* ``nogil``: we start the threads, a Python thread for each range of blocks.
* ``error_model="numpy"``: the default checks each division and thereby stops LLVM from
  vectorising the loop (a polynomial logarithm took 5.5 times as long).
* no ``fastmath``: contraction and reassociation change bits between CPUs and break the
  error bounds that the samplers are proved with.
* no ``_nrt``, the reference counts: callers hold the arrays, and an atomic operation for each
  slice took half the time of a row of 100 candidates. So a kernel cannot allocate memory.
* no ``parallel``: its thread pools abort after a fork and in foreign threads.
"""

from __future__ import annotations

import contextlib
import functools
import operator
import os
import pickle
import sys
from collections.abc import Callable
from typing import Any

import llvmlite
import numba
import numpy as np
from llvmlite import binding as llvm
from llvmlite import ir
from numba.core import cgutils, compiler, config, registry, serialize, types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.extending import intrinsic

from . import cache, kernel_sources
from . import target as kernel_target
from .target import Target

FLAGS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "fastmath": False,
    "_nrt": False,
    "no_rewrites": True,
}
NO_CFUNC: dict[str, Any] = {"no_cfunc_wrapper": True}  # no kernel is called from C
NO_PYTHON: dict[str, Any] = {"no_cpython_wrapper": True}
FunctionLoader = Callable[[], Callable[..., Any]]
During = Callable[[], contextlib.AbstractContextManager[None]]
_TARGET: Any = registry.cpu_target
LOCK: Any = global_compiler_lock  # held while anything is compiled
INTERPRETED = bool(vars(config)["DISABLE_JIT"])  # NUMBA_DISABLE_JIT=1: coverage of kernels


def compiled(
    function: Callable[..., Any],
    source: FunctionLoader,
    signature: Any,
    name: str,
    place: cache.CacheFolder | None,
    during: During,
) -> Any:
    """Return the dispatcher of a kernel, from the cache or compiled.

    source: returns the function to compile in its place. signature: the types of the result and of
    the arguments, as `jit.Type` writes them. name: of the kernel in the cache. place: the only
    folder that is read and written, if there is one. during: a context around the compilation.
    """
    result, arguments = signature
    dispatcher: Any = numba.njit(**FLAGS, **(NO_CFUNC if IS_KNOWN else {}))(function)
    dispatcher._cache = _Cache(name, function.__module__, place)
    if IS_KNOWN:
        dispatcher._compiler = _Compiler(dispatcher._compiler, source, during)
    with contextlib.nullcontext() if IS_KNOWN else during():
        dispatcher.compile(_type(result)(*map(_type, arguments)))
    dispatcher.disable_compile()
    return dispatcher


def inlined(function: Callable[..., Any], source: FunctionLoader) -> Any:
    """Return the dispatcher of a helper: always inlined, as a call stops vectorisation.

    It has no wrappers for calls from Python, which took two thirds of its compile time, and is not
    compiled again for each argument that is a constant, as numba would.
    """
    if not IS_KNOWN:
        return numba.njit(**FLAGS, forceinline=True)(function)
    dispatcher: Any = numba.njit(**FLAGS, **NO_CFUNC, **NO_PYTHON, forceinline=True)(function)
    dispatcher._compiler = _Compiler(dispatcher._compiler, source, contextlib.nullcontext)
    template = dispatcher.get_call_template
    dispatcher.get_call_template = lambda args, kws: template(map(_UNLITERAL, args), kws)
    return dispatcher


def alone(function: Callable[..., Any]) -> Any:
    """Return the dispatcher of a helper that is called from Python."""
    return numba.njit(**FLAGS)(function)


def _is_known() -> bool:
    # Whether this numba has the private parts that are replaced here, as 0.61 to 0.68 have. If one
    # is missing, functions are compiled as they are written, which takes longer.
    dispatcher: Any = numba.njit(_is_known)
    return (
        all(hasattr(dispatcher, part) for part in ("_compiler", "get_call_template"))
        and all(
            hasattr(context, part)
            for context in (_TARGET.typing_context, _TARGET.target_context)
            for part in ("load_additional_registries", "install_registry", "_registries")
        )
        and all(hasattr(dispatcher._compiler, part) for part in ("_get_implementation", "compile"))
        and all(hasattr(_TARGET.options, option) for option in (*NO_CFUNC, *NO_PYTHON))
    )


class _Compiler:
    """Numba's compiler of one function, made to compile the function that `source` returns.

    While it compiles a kernel, numba loads all its registries some thousand times, which takes a
    tenth of the time. Here it does so once.
    """

    def __init__(self, compiler: Any, source: FunctionLoader, during: During) -> None:
        self._compiler, self._during = compiler, during
        compiler._get_implementation = lambda _args, _kws: source()

    def compile(self, args: Any, return_type: Any) -> Any:
        with self._during():
            return self._compile(args, return_type)

    def _compile(self, args: Any, return_type: Any) -> Any:
        contexts = [_TARGET.typing_context, _TARGET.target_context]
        if any("load_additional_registries" in vars(context) for context in contexts):
            return self._compiler.compile(args, return_type)  # a helper, for a kernel
        _TARGET.target_context.refresh()
        try:
            for context in contexts:
                context.load_additional_registries = functools.partial(_install, context)
            return self._compiler.compile(args, return_type)
        finally:
            for context in contexts:
                vars(context).pop("load_additional_registries", None)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._compiler, name)


def _install(context: Any) -> None:
    for known in list(context._registries):  # installs what was added meanwhile
        context.install_registry(known)


def intrinsic_type(name: str) -> Any:
    """Return numba's type of an intrinsic of this file."""
    return _TARGET.typing_context.resolve_value_type(INTRINSICS[name])


def _type(text: str) -> Any:
    # Inputs are declared read-only, as Arrow buffers, memory maps and frozen tables are; such a
    # signature takes writable arrays, too.
    form, _, element = text.rpartition(" ")
    kind = getattr(types, element)
    if form == "pair":
        return vars(types)["Tuple"]((kind, kind))
    return types.Array(kind, 1, "C", readonly=form == "in") if form else kind


class _Cache:
    """Numba's cache interface over one file a kernel, without an index.

    Numba's own cache keeps an index of signatures beside the data; two processes that
    fill it at once can pair a signature with another one's machine code (numba#4807).
    Here a kernel has one signature, so a file needs no index. The folder's name is a hash of
    the compiler, its options and the CPU; the file's name contains a hash of the sources that the
    kernel is compiled from (`kernel_sources`).
    """

    def __init__(self, name: str, module: str, place: cache.CacheFolder | None = None) -> None:
        sources = kernel_sources.source_hash(module)
        self._file = f"{name}-{sources}" if sources else None
        self._is_for_others = place is not None
        self._places = cache.places() if place is None else [place]
        self.cache_path: str | None = None  # the folder where it was found or saved

    def load_overload(self, _signature: Any, target_context: Any) -> Any:
        # Without `target_context.refresh()`, which numba's own cache calls first: it imports all
        # that a compilation could need (half a second), and machine code needs none of it.
        if self._file is None:
            return None
        texts = [target.text for target in targets()]
        texts = texts[:1] if self._is_for_others else texts
        for folder, body in cache.load(self._places, texts, self._file, host_features()):
            with contextlib.suppress(Exception):  # if anything is wrong with it, compile
                result = _REBUILD(target_context, *pickle.loads(body))
                self.cache_path = str(folder)
                return result
        return None

    def save_overload(self, _signature: Any, result: Any) -> None:
        text, features = targets()[0]
        if self._is_for_others:
            self.cache_path = self._save_for_others(text, features, result)
        elif self._file and features <= host_features():  # code for another CPU would not be loaded
            body = _body(result)
            if body is not None:
                folder = cache.save(self._places, text, self._file, body, features)
                self.cache_path = None if folder is None else str(folder)

    def _save_for_others(self, target: str, features: frozenset[str], result: Any) -> str:
        place = self._places[0]
        try:
            if self._file is None:
                raise OSError("its source files are missing, or differ from the code that runs")
            body = _body(result)
            if body is None:
                raise OSError("the compiler was interrupted")
            return str(cache.save_in(place, target, self._file, body, features))
        except OSError as error:
            reason = cache.reason(error)
            raise OSError(f"kernels cannot be kept in {place.path}: {reason}") from None


def _body(result: Any) -> bytes | None:
    # None if there is no machine code to save. Numba copies it in a callback that LLVM calls. If a
    # signal (an alarm, Ctrl-C) came while LLVM was busy, Python raises its exception there, and
    # ctypes drops both the exception and the copy. The kernel is ready all the same.
    try:
        body: bytes = _DUMPS(result._reduce())
    except RuntimeError:  # no compiled object yet
        return None
    return body


IS_KNOWN = INTERPRETED or _is_known()
_UNLITERAL: Any = types.unliteral
_REBUILD: Any = compiler.CompileResult._rebuild
_DUMPS: Any = serialize.dumps


def targets() -> list[Target]:
    """Return what this process compiles for, then the baseline if this CPU has all of that."""
    _, cpu, features = _TARGET.target_context.codegen().magic_tuple()
    choices = [_target(cpu, features)]
    baseline = _target(kernel_target.BASELINE, "")
    if cpu == llvm.get_host_cpu_name() and choices[0].features >= baseline.features:
        choices.append(baseline)
    return choices


def host_features() -> frozenset[str]:
    """Return the features of this CPU, and its name, which can imply further features."""
    try:
        features = llvm.get_host_cpu_features().flatten()
    except RuntimeError:  # LLVM does not know them for some CPUs
        features = ""
    return kernel_target.enabled(features) | {f"cpu={llvm.get_host_cpu_name()}"}


def _target(cpu: str, features: str) -> Target:
    python = (sys.implementation.cache_tag, sys.version, getattr(sys, "abiflags", ""))
    versions = (numba.__version__, llvmlite.__version__, llvm.llvm_version_info, np.__version__)
    options = kernel_target.code_options(vars(config), os.environ)
    compiler_and_flags = (python, versions, FLAGS, llvm.get_process_triple())
    return kernel_target.target(compiler_and_flags, options, cpu, features)


# `jit` says what the intrinsics do; kernels import them from there.


def _bitcast(source: Any, target: Any) -> Any:
    def typer(_typingctx: Any, _x: Any) -> Any:
        def codegen(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
            return builder.bitcast(args[0], context.get_value_type(target))

        return target(source), codegen

    return intrinsic(typer)


@intrinsic
def _wide_vectors(_typingctx: Any) -> Any:
    def codegen(context: Any, builder: Any, _signature: Any, _args: Any) -> Any:
        # llvmlite's own `add` knows enum attributes only; this one is a string.
        set.add(builder.function.attributes, '"prefer-vector-width"="512"')
        return context.get_dummy_value()

    return types.void(), codegen


@intrinsic
def _wide_product(_typingctx: Any, x: Any, y: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        wide = ir.IntType(128)
        product = builder.mul(*(builder.zext(arg, wide) for arg in args))
        halves = builder.lshr(product, ir.Constant(wide, 64)), product
        words = [builder.trunc(half, ir.IntType(64)) for half in halves]
        return context.make_tuple(builder, signature.return_type, words)

    return _type("pair uint64")(x, y), codegen


@intrinsic
def _prefetch(_typingctx: Any, array: Any, index: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        byte = builder.bitcast(builder.gep(data, [args[1]]), ir.IntType(8).as_pointer())
        word = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte.type, word, word, word])
        call = _FUNCTION(builder.module, kind, "llvm.prefetch.p0")
        builder.call(call, [byte, word(1), word(3), word(1)])  # to write, keep in all caches, data
        return context.get_dummy_value()

    return types.void(array, index), codegen


def _stack(_typingctx: Any, count: Any) -> Any:
    if not isinstance(count, types.IntegerLiteral):
        return None
    kind, size = types.Array(types.int64, 1, "C"), count.literal_value

    def codegen(context: Any, builder: Any, _signature: Any, _args: Any) -> Any:
        array = context.make_array(kind)(context, builder)
        with builder.goto_entry_block():
            words = builder.alloca(ir.ArrayType(ir.IntType(64), size))
        words.align = 64
        data = builder.bitcast(words, ir.IntType(64).as_pointer())
        _populate(context, array, data, context.get_constant(types.intp, size), 8)
        return array._getvalue()

    return kind(count), codegen


def _as(element: Any) -> Any:
    # The memory of an array of 64-bit words as an array of other elements.
    width = element.bitwidth // 8

    @intrinsic
    def cast(_typingctx: Any, array: Any) -> Any:
        kind = array.copy(dtype=element)

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            source = context.make_array(signature.args[0])(context, builder, args[0])
            result = context.make_array(kind)(context, builder)
            data = builder.bitcast(source.data, result.data.type)
            number = builder.mul(source.nitems, context.get_constant(types.intp, 8 // width))
            _populate(context, result, data, number, width)
            return result._getvalue()

        return kind(array), codegen

    return cast


def _populate(context: Any, array: Any, data: Any, number: Any, width: int) -> None:
    # Make `array` an array of `number` elements of `width` bytes each at `data`.
    from numba.np import arrayobj  # slow to import, but loaded once numba compiles

    populate: Any = arrayobj.populate_array
    step = [context.get_constant(types.intp, width)]
    populate(array, data=data, shape=[number], strides=step, itemsize=width, meminfo=None)


def _one_of_two(is_other: Any) -> Any:
    # The second of two if is_other(second, first), else the first, both cast to their common type.
    @intrinsic
    def choice(typingctx: Any, x: Any, y: Any) -> Any:
        kind = typingctx.unify_types(*map(_UNLITERAL, (x, y)))

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            first, second = map(context.cast, [builder] * 2, args, signature.args, [kind] * 2)
            test = context.get_function(is_other, types.boolean(kind, kind))
            return builder.select(test(builder, (second, first)), second, first)

        return kind(x, y), codegen

    return choice


@intrinsic
def _span(_typingctx: Any, array: Any, _start: Any, _stop: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        source = context.make_array(signature.args[0])(context, builder, args[0])
        result = context.make_array(signature.args[0])(context, builder)
        zero, size = context.get_constant(types.intp, 0), source.nitems

        def between(x: Any, low: Any, high: Any) -> Any:
            x = builder.select(builder.icmp_signed("<", x, low), low, x)
            return builder.select(builder.icmp_signed(">", x, high), high, x)

        def place(i: Any) -> Any:
            from_end = builder.icmp_signed("<", i, zero)
            return between(builder.select(from_end, builder.add(i, size), i), zero, size)

        start, stop = map(place, args[1:])
        number = between(builder.sub(stop, start), zero, size)
        data, width = builder.gep(source.data, [start]), array.dtype.bitwidth // 8
        _populate(context, result, data, number, width)
        return result._getvalue()

    return array(array, types.intp, types.intp), codegen


@intrinsic
def _choice(typingctx: Any, _test: Any, x: Any, y: Any) -> Any:
    kind = typingctx.unify_types(*map(_UNLITERAL, (x, y)))

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        _, *kinds = signature.args
        first, second = map(context.cast, [builder] * 2, args[1:], kinds, [kind] * 2)
        result = _SLOT(builder, second)
        with builder.if_then(args[0]):
            builder.store(first, result)
        return builder.load(result)

    return kind(types.boolean, x, y), codegen


_FUNCTION: Any = cgutils.get_or_insert_function
_SLOT: Any = cgutils.alloca_once_value
INTRINSICS = {
    "stack": intrinsic(prefer_literal=True)(_stack),
    "float_bits": _bitcast(types.float64, types.uint64),
    "bits_float": _bitcast(types.uint64, types.float64),
    "wide_vectors": _wide_vectors,
    "wide_product": _wide_product,
    "prefetch": _prefetch,
    "as_words": _as(types.uint64),
    "as_floats": _as(types.float64),
    "as_bytes": _as(types.uint8),
    "span": _span,
    "choice": _choice,
    "least": _one_of_two(operator.lt),
    "greatest": _one_of_two(operator.gt),
}
