"""The cache of kernels, its trusted folder, and the interpreter instead of the compiler."""

from __future__ import annotations

from fastexp._compiler import (
    build,
    cache,
    inlining,
    jit,
    kernel_sources,
    stamps,
    target,
    trusted_folder,
    warmup,
)
from fastexp._compiler.jit import interpreted
from fastexp._compiler.rounding import check_rounding
from fastexp._compiler.trusted_folder import PRIVATE, PUBLIC, Untrusted, opened
