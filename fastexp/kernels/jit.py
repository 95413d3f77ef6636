"""Kernels: how they are written, and which code runs.

When a wheel is built, `hatch_build.py` compiles them into the module `_fastexp`. Without it, or
after an edit, numba compiles each at its first call. Only this file imports numba, and only then.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

BLOCK = 1024  # words of a `stack`
# `nogil` for Python threads; numpy's error model, as checks of divisions stop vectorisation; no
# reference counts of arrays, so a kernel allocates nothing. No `fastmath` and no contraction, which
# would void the error bounds.
FLAGS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "_nrt": False,
    "no_cfunc_wrapper": True,
}
TYPES = {"i64": "int64", "u64": "uint64", "f64": "float64", "none": "void"}
KERNELS: dict[str, Kernel] = {}
EDITED = "the kernels were edited after they were compiled: install the package again"


class Kernel:
    """A loop over arrays: it checks nothing and returns a number, or nothing.

    Its signature, as "i64(f64, in_u64, out_i64)": numbers, arrays, and arrays that it fills.
    """

    def __init__(self, signature: str, function: Any) -> None:
        self.function = function
        self.result, _, arguments = signature.rstrip(")").partition("(")
        self.arguments = arguments.split(", ")

    def __call__(self, *args: Any) -> Any:
        return self.code(*args)

    @cached_property
    def code(self) -> Any:
        return compiled(self.function, self.types) if MODE == "jit" else self.interpret

    @property
    def types(self) -> str:
        """The signature as numba reads it."""
        return f"{TYPES[self.result]}({', '.join(map(_type, self.arguments))})"

    def interpret(self, *args: Any) -> Any:
        """Run it on NumPy's numbers, which have the width of the machine's; Python's come out."""
        pairs = zip(self.arguments, args, strict=True)
        values = [np.asarray(value, TYPES.get(name))[()] for name, value in pairs]
        with np.errstate(all="ignore"):  # integers wrap around on purpose
            return np.asarray(self.function(*values)).item()


def kernel(signature: str) -> Callable[[Any], Any]:
    def register(function: Any) -> Any:
        name = function.__name__
        if MODULE:
            return getattr(MODULE, name)
        KERNELS[name] = Kernel(signature, function)
        return KERNELS[name]

    return register


def digest() -> str:
    """A hash of the sources of all kernels."""
    from hashlib import sha256
    from pathlib import Path

    files = sorted(Path(__file__).parent.glob("*.py"))
    return sha256(b"".join(map(Path.read_bytes, files))).hexdigest()[:32]


def _type(name: str) -> str:
    form, _, element = name.rpartition("_")
    return f"Array({TYPES[element]}, 1, 'C', {form == 'in'})" if form else TYPES[element]


def _chosen() -> tuple[str, Any]:
    """Which code runs, and the compiled module."""
    mode = os.environ.get("FASTEXP_KERNELS", "")
    if mode in ("jit", "python"):
        return mode, None
    try:
        import _fastexp as module
    except ImportError:
        if mode:
            raise
        return "jit", None
    is_beside = module.__file__.rsplit(os.sep, 1)[0] == __file__.rsplit(os.sep, 3)[0]
    if is_beside or digest() == module.DIGEST:  # only sources elsewhere are edited
        return "compiled", module
    if mode:
        raise ImportError(EDITED)
    warnings.warn(f"{EDITED}; meanwhile numba compiles them", RuntimeWarning, stacklevel=2)
    return "jit", None


MODE, MODULE = _chosen()

if TYPE_CHECKING or MODE != "jit":  # compiled code contains these; the interpreter runs them

    def helper(function: Any) -> Any:
        return function

    def wide_product(x: Any, y: Any) -> Any:
        """The upper and the lower word of the product of two words."""
        return tuple(map(np.uint64, divmod(int(x) * int(y), 1 << 64)))

    def wide_vectors() -> None:
        """Let LLVM use vectors of 512 bits in the calling function."""

    def stack() -> Any:
        """BLOCK undefined words, until the kernel returns: a caller's array costs 0.2 us."""
        return np.empty(BLOCK, np.int64)

    compiled: Any = None

else:
    try:
        import numba
    except ImportError as error:
        raise ImportError("the kernels are not compiled, so numba must be installed") from error
    from llvmlite import binding, ir
    from numba.np.arrayobj import populate_array

    WORD = ir.IntType(64)
    # Without optimisation, when a wheel is built, `hatch_build.py` decides what is inlined.
    helper = numba.njit(forceinline=bool(numba.config.OPT), no_cpython_wrapper=True, **FLAGS)

    @numba.extending.intrinsic
    def wide_product(_typing, _x, _y):
        def codegen(context, builder, signature, args):
            wide = ir.IntType(128)
            product = builder.mul(*(builder.zext(arg, wide) for arg in args))
            halves = builder.lshr(product, ir.Constant(wide, 64)), product
            words = [builder.trunc(half, WORD) for half in halves]
            return context.make_tuple(builder, signature.return_type, words)

        word = numba.types.uint64
        return numba.types.UniTuple(word, 2)(word, word), codegen

    @numba.extending.intrinsic
    def wide_vectors(_typing):
        def codegen(context, builder, _signature, _args):
            set.add(builder.function.attributes, '"prefer-vector-width"="512"')
            return context.get_dummy_value()

        return numba.types.void(), codegen

    @numba.extending.intrinsic
    def stack(_typing):
        def codegen(context, builder, signature, _args):
            array = context.make_array(signature.return_type)(context, builder)
            size, step = WORD(BLOCK), WORD(8)
            space = numba.core.cgutils.alloca_once(builder, WORD, size)
            populate_array(array, space, [size], [step], step, None)
            return array._getvalue()

        return numba.types.int64[::1](), codegen

    def compiled(function, types):
        """The kernel for this CPU, from numba's cache or compiled.

        The cache keeps it by its name, which tells what numba does not see: an edit of another
        file, and (numba#4807) other CPUs that fill the same folder.
        """
        function.__qualname__ += f"-{digest()}-{binding.get_host_cpu_name()}"
        try:
            return numba.njit(types, cache=True, **FLAGS)(function)
        except RuntimeError:  # there is no folder for the cache
            return numba.njit(types, **FLAGS)(function)
