"""Which files does a kernel depend on, however its imports are written?"""

from __future__ import annotations

import inspect

import pytest

from tests.doors.compiler import jit, kernel_sources, stamps, warmup
from tests.doors.kernels import words
from tests.messages import says


class Unchanged:
    """Stamps of a folder's files as they are, whenever they are asked for."""

    def __init__(self, folder):
        self._folder = folder

    def get(self, path):
        return stamps.stamp((self._folder / path).stat())


@pytest.fixture
def package(tmp_path, monkeypatch):
    """The folder of a package that stands in for this one."""
    for name in ("__init__", "errors", "kernels/__init__", "kernels/a", "kernels/b"):
        path = tmp_path / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.touch()
    monkeypatch.setattr(kernel_sources, "FOLDER", tmp_path)
    monkeypatch.setattr(kernel_sources, "STAMPS", Unchanged(tmp_path))
    kernel_sources._source.cache_clear()
    yield tmp_path
    kernel_sources._source.cache_clear()


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("from .a import f", {"kernels.a"}),
        ("from .a import *", {"kernels.a"}),
        ("from . import a", {"kernels.a"}),
        ("from . import a as c, b", {"kernels.a", "kernels.b"}),
        ("from . import name_of_the_package", set()),
        ("from ..errors import E", {"errors"}),
        ("from .. import errors", {"errors"}),
        ("from fastexp.kernels.a import f", {"kernels.a"}),
        ("from fastexp.kernels import a", {"kernels.a"}),
        ("import fastexp.kernels.a as c", {"kernels.a"}),
        ("def f():\n    from .a import f", {"kernels.a"}),
        ("if f():\n    pass\nelse:\n    from .a import f", {"kernels.a"}),
        ("try:\n    pass\nexcept OSError:\n    from .a import f", {"kernels.a"}),
        ("match f():\n    case 1:\n        from .a import f", {"kernels.a"}),
        ("class A:\n    with f(): from .a import g", {"kernels.a"}),
        ("x = 1; from .a import (\n  f,  # )\n  g,\n)", {"kernels.a"}),
        ("import numpy.linalg, os.path\nfrom json import loads", set()),
        ("'from .a import f'", set()),
    ],
)
def test_every_form_of_import(package, statement, expected):
    (package / "kernels/tried.py").write_text(statement)
    imported = kernel_sources.sources("fastexp.kernels.tried").keys()
    always = {"fastexp.kernels", "fastexp.kernels.tried"}
    assert imported == always | {f"fastexp.{name}" for name in expected}


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("from .. import kernels", {"kernels.a", "kernels.b"}),
        ("import fastexp.kernels as k", {"kernels.a", "kernels.b"}),
        ("from . import *", {"kernels.a", "kernels.b"}),
        ("from fastexp.kernels import *", {"kernels.a", "kernels.b"}),
        ("import fastexp.kernels.a", {"errors", "kernels.a", "kernels.b"}),
    ],
)
def test_a_package_stands_for_every_module_in_it(package, statement, expected):
    """`kernels.a.f` reaches a file that no import statement names; so does `__all__`."""
    (package / "kernels/tried.py").write_text(statement)
    imported = kernel_sources.sources("fastexp.kernels.tried").keys()
    always = {"fastexp", "fastexp.kernels", "fastexp.kernels.tried"}
    assert imported | {"fastexp"} == always | {f"fastexp.{name}" for name in expected}


@pytest.mark.parametrize("statement", ["from .nowhere import f", "from . import (", "\xff", "\0"])
def test_what_cannot_be_followed_has_no_hash(package, statement):
    (package / "kernels/tried.py").write_bytes(statement.encode("latin-1"))
    assert kernel_sources.source_hash.__wrapped__("fastexp.kernels.tried") is None
    assert kernel_sources.source_hash("numpy.linalg") is None


@pytest.mark.slow
def test_all_that_numba_compiles_into_a_kernel_is_among_them():
    """Every function that a kernel names, and that these name, at whatever depth."""
    warmup.import_kernels()
    for kernel in jit.KERNELS.values():
        modules = kernel_sources.sources(kernel.function.__module__)
        waiting, functions = [kernel.function], set()
        while waiting:
            function = waiting.pop()
            functions.add(function)
            values = inspect.getclosurevars(function).globals.values()
            called = {getattr(v, "function", None) for v in values}
            waiting += called - functions - {None}
        assert {f.__module__ for f in functions} <= modules.keys(), kernel.name


def test_stamps_are_of_every_source(tmp_path):
    """A link to nowhere, which editors leave beside a file that is open, hides no other one."""
    (tmp_path / "room").mkdir()
    (tmp_path / ".#a.py").symlink_to("nowhere")
    for name in ("a.py", "z.py", "room/b.py", "data.csv"):
        (tmp_path / name).touch()
    before = stamps.stamps(str(tmp_path))
    assert before.keys() == {"a.py", "z.py", "room/b.py"}
    (tmp_path / "room/b.py").rename(tmp_path / "a.py")  # no text has changed
    after = stamps.stamps(str(tmp_path))
    assert (after["z.py"], after["a.py"] != before["a.py"]) == (before["z.py"], True)
    assert stamps.stamps(str(tmp_path / "z.py")) == {}


class TestRegistration:
    """A kernel's values come from its module and what that imports, or it is no kernel."""

    @pytest.fixture(autouse=True)
    def no_kernel_is_added(self, monkeypatch):
        monkeypatch.setattr(jit, "KERNELS", {})

    def test_a_function_of_its_module_is_registered(self):
        def put(_out):
            pass

        assert jit.kernel(None)(put) in jit.KERNELS.values()

    def test_values_that_another_module_may_have_handed_over_are_refused(self):
        def closure(value):
            def put(out):
                out[0] = value

            return put

        def default(value):
            def put(out, more=value):
                out[0] = more

            return put

        def keyword(value):
            def put(out, *, more=value):
                out[0] = more

            return put

        for factory in (closure, default, keyword):
            with pytest.raises(RuntimeError, match=says("...put: kernel that uses other modules")):
                jit.kernel(None)(factory(1))
        assert jit.KERNELS == {}

    def test_a_function_under_another_modules_name_is_refused(self):
        def put(_out):
            pass

        put.__module__ = words.__name__
        with pytest.raises(RuntimeError, match=says("....put: kernel that uses other modules")):
            jit.kernel(None)(put)
