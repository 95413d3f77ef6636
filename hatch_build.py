"""Compiles the kernels when a wheel is built. Without a C compiler, the wheel depends on numba.

Child processes write an object file for each kernel and level of CPUs; C code calls them from
Python. The result is kept in build/ and serves until a kernel changes, for all Pythons.
"""

from __future__ import annotations

import functools
import gc
import hashlib
import importlib
import multiprocessing
import os
import platform
import re
import shlex
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent
PACKAGE, GLUE, NAME = ROOT / "fastexp", ROOT / "hatch_glue.c", "_fastexp.abi3.so"
NUMBA = "numba>=0.61"
LEVELS = {"x86_64": ["x86-64-v2", "x86-64-v3"]}.get(platform.machine(), ["generic"])  # LLVM's names
COMPILE = ["-O2", "-fPIC", "-fvisibility=hidden", "-fstack-protector-strong"]
LINK = ["-shared", "-s", "-Wl,-z,relro,-z,now,-z,noexecstack"]


def place() -> Path:
    """Where the compiled module of these sources is kept."""
    sources = [*sorted(PACKAGE.glob("kernels/*.py")), Path(__file__), GLUE]
    data = b"".join(hashlib.sha256(path.read_bytes()).digest() for path in sources)
    return ROOT / "build" / platform.machine() / hashlib.sha256(data).hexdigest()[:32] / NAME


def compile_c(*arguments: str) -> None:
    """Run the C compiler, as Python was built with."""
    compiler = os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc"
    flags = [
        *COMPILE,
        "-I" + sysconfig.get_path("include"),
        *shlex.split(os.environ.get("CFLAGS", "")),
    ]
    subprocess.run([*shlex.split(compiler), *flags, *LINK, *arguments], check=True)


@functools.cache
def has_kernels() -> bool:
    """Whether the module is kept, or there are a C compiler and Python's headers."""
    if place().exists():
        return True
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.c")
        path.write_text("#define Py_LIMITED_API 0x030B0000\n#include <Python.h>\n")
        try:
            compile_c(str(path), "-o", f"{folder}/a.so")
        except (OSError, subprocess.CalledProcessError):
            return False
    return True


def build() -> Path:
    """Compile the module, unless it is kept."""
    kept = place()
    if kept.exists():
        return kept
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
        # Numba types and translates once, and optimises nothing: that is done for each level.
        variables = {"FASTEXP_KERNELS": "jit", "NUMBA_OPT": "0", "NUMBA_CPU_NAME": LEVELS[0]}
        command = [sys.executable, __file__, folder]
        subprocess.run(command, env=os.environ | variables, check=True)
        import numpy as np

        objects = sorted(map(str, Path(folder).glob("*.o")))
        headers = "-I" + np.get_include(), "-I" + folder
        compile_c(*headers, str(GLUE), *objects, "-lm", "-o", f"{folder}/{NAME}")
        if place() != kept:
            raise RuntimeError("the kernels were edited while they were compiled")
        Path(folder, NAME).replace(kept)
    return kept


def write_all(folder: Path) -> None:
    """Object files of all kernels, and the C code that calls them."""
    gc.disable()  # a sixth of the time
    sys.path.insert(0, str(ROOT))
    for path in PACKAGE.glob("kernels/*.py"):
        importlib.import_module(f"fastexp.kernels.{path.stem}")
    jit: Any = sys.modules["fastexp.kernels.jit"]
    kernels = jit.KERNELS
    names = sorted(kernels, key=lambda name: -len(kernels[name].arguments))  # long ones first
    with multiprocessing.get_context("fork").Pool() as pool:
        pool.map(functools.partial(write_objects, folder), names, chunksize=1)
    rows = [f'{{"{name}", (PyCFunction)(void *){name}, METH_FASTCALL}},' for name in kernels]
    lines = [
        *(wrapper(name, kernel) for name, kernel in kernels.items()),
        f'#define DIGEST "{jit.digest()}"',
        f"static PyMethodDef methods[] = {{{''.join(rows)} {{0}}}};\n",
    ]
    (folder / "kernels.h").write_text("\n".join(lines))


def write_objects(folder: Path, name: str) -> None:
    """For each level, an object file with a kernel and its helpers, which refers to no other."""
    import numba
    from llvmlite import binding

    jit: Any = sys.modules["fastexp.kernels.jit"]
    kernel, njit = jit.KERNELS[name], numba.njit
    dispatcher = njit(kernel.types, no_cpython_wrapper=True, **jit.FLAGS)(kernel.function)
    (result,) = dispatcher.overloads.values()
    # What exceptions would tell has paths; no kernel raises any.
    text = re.sub(
        r'(@\.const\.pickledata.* constant \[.* x i8\]) c".*"',
        r"\1 zeroinitializer",
        result.library.get_llvm_str(),
    )
    for level, cpu in enumerate(LEVELS):
        module = binding.parse_assembly(text)
        target = binding.Target.from_triple(module.triple)
        machine = target.create_target_machine(cpu=cpu, opt=3, reloc="pic", codemodel="default")
        options = binding.create_pipeline_tuning_options(speed_level=3)
        options.loop_vectorization = options.slp_vectorization = True
        passes = binding.create_pass_builder(machine, options)
        for value in *module.functions, *module.global_variables:
            if not value.is_declaration:
                value.linkage = "internal"
        for function in module.functions:  # loops are vectorised in functions of their own
            if not function.is_declaration:
                passes.getFunctionPassManager().run(function, passes)
                has_loops = any(b"prefer-vector-width" in word for word in function.attributes)
                function.add_function_attribute("noinline" if has_loops else "alwaysinline")
        function = module.get_function(result.fndesc.llvm_func_name)
        if len([*function.arguments]) != 2 + sum(7 if "_" in a else 1 for a in kernel.arguments):
            raise RuntimeError("numba calls functions in another way than hatch_glue.c")
        function.name, function.linkage = f"{name}_{level}", "external"
        function.visibility = "hidden"
        passes.getModulePassManager().run(module, passes)
        (folder / f"{name}_{level}.o").write_bytes(machine.emit_object(module))


def wrapper(name: str, kernel: Any) -> str:
    """The C function that reads a kernel's arguments and calls it."""
    arguments = list(enumerate(kernel.arguments))
    types = ", ".join("ARRAY" if "_" in a else a for _, a in arguments)
    variables = " ".join(f"{a} x{i};" for i, a in arguments)
    failures = " || ".join(f"!get_{a}(args[{i}], &x{i})" for i, a in arguments)
    values = ", ".join(f"SPREAD(x{i})" if "_" in a else f"x{i}" for i, a in arguments)
    versions = ", ".join(f"{name}_{level}" for level in range(len(LEVELS)))
    return f"""
typedef int {name}_type(void *, void *, {types});
extern {name}_type {versions};
static PyObject *{name}(PyObject *self, PyObject *const *args, Py_ssize_t n) {{
    static {name}_type *const versions[] = {{{versions}}};
    int status; void *error; {kernel.result} result; {variables}
    if (n != {len(arguments)}) return PyErr_Format(PyExc_TypeError, "{name}: %zd arguments", n);
    if ({failures}) return NULL;
    Py_BEGIN_ALLOW_THREADS
    status = versions[level](&result, &error, {values});
    Py_END_ALLOW_THREADS
    return status ? PyErr_Format(PyExc_SystemError, "{name} failed") : put_{kernel.result}(result);
}}
"""


if __name__ == "__main__":
    write_all(Path(sys.argv[1]))
else:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
    from hatchling.metadata.plugin.interface import MetadataHookInterface

    class Dependencies(MetadataHookInterface):  # type: ignore[misc]
        """The package needs numba only where it has no compiled kernels."""

        def update(self, metadata: dict[str, Any]) -> None:
            metadata["dependencies"] = ["numpy>=2.1", *([] if has_kernels() else [NUMBA])]

    class Kernels(BuildHookInterface):  # type: ignore[misc]
        """Adds the compiled module to a wheel."""

        def dependencies(self) -> list[str]:
            return [NUMBA] if has_kernels() and not place().exists() else []

        def initialize(self, version: str, build_data: dict[str, Any]) -> None:
            if not has_kernels():
                self.app.display_warning(
                    "no C compiler: numba will compile kernels at their first call"
                )
                return
            system = sysconfig.get_platform().replace("-", "_").replace(".", "_")
            build_data.update(pure_python=False, tag=f"cp311-abi3-{system}")
            files = "force_include_editable" if version == "editable" else "force_include"
            build_data[files][str(build())] = NAME
