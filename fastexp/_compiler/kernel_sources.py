"""The sources that a kernel's machine code comes from, and their hash.

Numba compiles the helpers that a kernel calls, and the constants that it names, into the kernel.
So its sources are its own file and every file of this package that this file imports, directly or
not, and anywhere in a file (`build` with its flags and intrinsics is always among them, as `jit`
imports it). The imports are read from the text: nothing is run, and a file that a kernel does not
import has no effect on its hash. `build` imports the cache's own files, so that entries are not
found again that were saved under a rule which has since been mended.

A text is hashed only if it is the one that this process imported (`stamps`). Only import statements
are followed, not `importlib`, `sys.modules` or a global variable that another module changes.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from .stamps import STAMPS, stamp

PACKAGE = __name__.partition(".")[0]
FOLDER = Path(__file__).parents[__name__.count(".") - 1]


@functools.cache
def source_hash(module: str) -> str | None:
    """Return the hash of all sources that the kernels of `module` (a dotted name) come from.

    None if they are not known: a module of another package, or a file that cannot be read or has
    changed since this process began.
    """
    digest = hashlib.blake2b(digest_size=16)
    try:
        for name, text in sorted(sources(module).items()):
            digest.update(f"{name}:{len(text)}:".encode() + text)
    except (OSError, SyntaxError, ValueError):  # ValueError: a zero byte, in Python 3.11
        return None
    return digest.hexdigest()


def text(module: str) -> bytes:
    """Return the text of a module of this package; OSError if it is not the one that runs here."""
    return _source(module)[0]


def sources(module: str) -> dict[str, bytes]:
    """Return the texts of `module` and of all that it imports from this package, by dotted name."""
    texts: dict[str, bytes] = {}
    waiting = {module}
    while waiting:
        name = waiting.pop()
        texts[name], imports = _source(name)
        waiting |= imports - texts.keys()
    return texts


@functools.cache
def _source(module: str) -> tuple[bytes, frozenset[str]]:
    # The text of a module, and the modules of this package that it imports.
    path = _file(module)
    if path is None:
        raise FileNotFoundError(module)
    with path.open("rb") as file:
        text = file.read()
        # Checked after reading: if this process runs another text, the hash would be wrong.
        if stamp(os.fstat(file.fileno())) != STAMPS.get(path.relative_to(FOLDER).as_posix()):
            raise FileNotFoundError(module)
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    names = {name for node in _statements(ast.parse(text)) for name in _imports(node, package)}
    names |= {parent for name in names | {module} for parent in _parents(name)}
    return text, frozenset(names - {module})


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    # Every statement at any depth; expressions, most of a file, are skipped.
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield child
            yield from _statements(child)


def _imports(node: ast.AST, package: str) -> Iterator[str]:
    # The modules of this package that a statement inside `package` imports. `from . import x`
    # means a module x where there is one, else a name of the package's own file.
    if isinstance(node, ast.Import):
        for alias in node.names:  # without `as` it binds the outermost package
            yield from _below(alias.name if alias.asname else alias.name.partition(".")[0])
    elif isinstance(node, ast.ImportFrom):
        parts = package.split(".")
        start = parts[: len(parts) - node.level + 1] if node.level else []
        base = ".".join([*start, *(node.module.split(".") if node.module else [])])
        for alias in node.names:
            name = f"{base}.{alias.name}" if alias.name != "*" else base  # `__all__` names modules
            yield from _below(name) if _file(name) else [base] if _is_inside(base) else []


def _below(module: str) -> Iterator[str]:
    # A module that is imported as a value, and all modules below a package, which dots can reach.
    path = _file(module)
    if path is None:
        return
    yield module
    if path.name == "__init__.py":
        for file in path.parent.rglob("*.py"):
            name = ".".join([PACKAGE, *file.relative_to(FOLDER).with_suffix("").parts])
            yield name.removesuffix(".__init__")


def _parents(module: str) -> Iterator[str]:
    # The packages around a module, whose own files run before it, except the outermost one, which
    # holds lazy names and the version.
    parent = module.rpartition(".")[0]
    while parent not in ("", PACKAGE):
        if _file(parent):
            yield parent
        parent = parent.rpartition(".")[0]


def _is_inside(module: str) -> bool:
    return module == PACKAGE or module.startswith(f"{PACKAGE}.")


def _file(module: str) -> Path | None:
    # A module's file; None if this package has no such file.
    if not _is_inside(module):
        return None
    path = FOLDER.joinpath(*module.split(".")[1:])
    choices = path / "__init__.py", path.with_name(f"{path.name}.py")
    return next((choice for choice in choices if choice.is_file()), None)
