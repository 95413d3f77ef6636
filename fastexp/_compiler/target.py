"""What machine code depends on besides a kernel's sources: the compiler, its options, the CPU.

A CPU's name implies features that need not be listed with it. For the baseline x86-64-v3 and for
"generic" they are known here; any other name is itself a feature that the CPU must have.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

BASELINE = "x86-64-v3"
V3 = """
avx avx2 bmi bmi2 cmov crc32 cx16 cx8 f16c fma fxsr lzcnt mmx movbe popcnt sahf
sse sse2 sse3 sse4.1 sse4.2 ssse3 xsave
"""
IMPLIED = {"generic": frozenset[str](), BASELINE: frozenset(V3.split())}

# Options of numba that do not change machine code; then those of the CPU, which a target has in
# another form. With any other option, also of a later version, another folder is used.
HARMLESS_NAMES = """
CACHE_DIR CACHE_LOCATOR_CLASSES CHROME_TRACE COLOR_SCHEME DEBUG_CACHE DEFAULT_NUM_THREADS
DEVELOPER_MODE DISABLE_CUDA DISABLE_ERROR_MESSAGE_HIGHLIGHTING DISABLE_PERFORMANCE_WARNINGS
FORCE_CUDA_CC FULL_TRACEBACKS FUNCTION_CACHE_SIZE GDB_BINARY HIGHLIGHT_DUMPS NUM_THREADS SHOW_HELP
THREADING_LAYER THREADING_LAYER_PRIORITY WARNINGS
CPU_FEATURES CPU_NAME ENABLE_AVX
"""
HARMLESS = frozenset(HARMLESS_NAMES.split())
OF_OTHER_MACHINES = ("CUDA_", "_")  # "_HAVE_YAML" is no option


class Target(NamedTuple):
    """A text of all that machine code depends on, and the CPU features that the code needs."""

    text: str
    features: frozenset[str]


def target(
    compiler: tuple[Any, ...], options: Mapping[str, str], cpu: str, features: str
) -> Target:
    """Return the target for a CPU by its name and LLVM's list of features ("+avx2,-avx512f")."""
    text = repr((compiler, sorted(options.items()), cpu, features))
    return Target(text, enabled(features) | IMPLIED.get(cpu, {f"cpu={cpu}"}))


def enabled(features: str) -> frozenset[str]:
    """Return the features with a plus in LLVM's list."""
    return frozenset(name[1:] for name in features.split(",") if name.startswith("+"))


def code_options(settings: Mapping[str, Any], environment: Mapping[str, str]) -> dict[str, str]:
    """Return the options that may change machine code, from numba's settings and variables.

    Settings count with their current values, wherever these come from (a variable, a file in the
    working directory, a program). Environment variables count if they are not among the settings.
    """
    known = {name.removeprefix("NUMBA_"): repr(v) for name, v in settings.items() if name.isupper()}
    variables = {k[6:]: v for k, v in environment.items() if k.startswith("NUMBA_")}
    return {
        name: value
        for name, value in (variables | known).items()
        if name not in HARMLESS and not name.startswith(OF_OTHER_MACHINES)
    }
