"""Is the machine code what the speed and the bits rely on: packed, no calls, no contraction?"""

from __future__ import annotations

import functools
import math
import platform
import re

import numba
import pytest

from tests.doors.compiler import jit, warmup
from tests.support.each import each

# These loop over whole arrays. The block-wise ones also slice, and count references for it,
# outside of the loops.
FLAT = (
    "bits.logexp.exp_fill",
    "bits.logexp.log_fill",
    "bits.words.substream_words",
    "numbers.laplace.laplace_fill",
)
BLOCKWISE = (
    "select.envelope.envelope_scan",
    "select.envelope.envelope_one",
    "select.envelope.envelope_block",
    "select.single.single_draw",
    "select.alias.alias_rows",
    "bits.logspace.log_sum_exp",
    "select.flips.flips_fill",
)
PACKED = re.compile(r"\bv?(mulpd|pmuludq|pmullq|addpd)\b")
FUSED = re.compile(r"\bv?fn?m(add|sub)\w*\b")
CALL = re.compile(r"\bcall\w*\s+\*?\(?%?(\S+)")
LIBM = re.compile(r"[$\s](exp|log|pow|exp2|log2|floor|fma)f?(@\w+)?\b(?!:)")

pytestmark = [
    pytest.mark.proof,
    pytest.mark.skipif(
        platform.machine() not in ("x86_64", "AMD64"), reason="reads x86-64 assembly"
    ),
]


warmup.import_kernels()  # every kernel is in the registry, whose names are parameters below


@functools.cache
def assembly(name: str) -> str:
    """The machine code of a kernel: of the optimised module that it keeps, cached or not."""
    (compiled,) = jit.KERNELS[name].dispatcher.overloads.values()
    module = compiled.library._get_module_for_linking()
    text: str = compiled.library.codegen._tm.emit_assembly(module)
    return text


def own_code(text: str, name: str) -> str:
    """The kernel itself, without the wrapper that unpacks Python's arguments."""
    functions = re.split(r"(?m)^(?=\S+:$)", text)
    label = re.compile(rf"_ZN\w*{name.rpartition('.')[2]}\w*:$", re.MULTILINE)
    own = [f for f in functions if label.match(f) and "cpython" not in f.split(":")[0]]
    start = functions.index(own[0])
    stop = next(i for i, f in enumerate(functions) if "cpython" in f.split(":")[0])
    return "".join(functions[start : max(stop, start + 1)])


@each("name", FLAT + BLOCKWISE)
def test_hot_kernels_are_packed(name):
    assert PACKED.search(own_code(assembly(name), name))


@each("name", FLAT)
def test_flat_kernels_call_nothing(name):
    assert CALL.findall(own_code(assembly(name), name)) == []


@each("name", list(jit.KERNELS))
def test_no_kernel_contracts_or_calls_libm(name):
    text = assembly(name)
    assert not FUSED.search(text)
    assert not LIBM.search(text)


@each("name", list(jit.KERNELS))
def test_every_kernel_has_one_signature(name):
    assert len(jit.KERNELS[name].dispatcher.signatures) == 1


def test_the_patterns_find_what_they_look_for():
    calling = numba.njit("f8(f8)")(lambda a: math.exp(a))
    assert LIBM.search("\n".join(calling.inspect_asm().values()))
    assert FUSED.search("\tvfmadd213pd\t%zmm2, %zmm1, %zmm0")
    assert PACKED.search("\tvmulpd\t%zmm1, %zmm2, %zmm3")
    assert not PACKED.search("\tvmulsd\t%xmm1, %xmm2, %xmm3")
    assert CALL.findall("\tcallq\t*%rax") == ["rax"]
