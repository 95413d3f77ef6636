"""Is machine code loaded only if root or this user alone can have put it there?"""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from tests.doors.compiler import build, trusted_folder
from tests.doors.compiler import cache as kernel_cache
from tests.doors.kernels import logexp
from tests.support.each import each

pytestmark = pytest.mark.skipif(not trusted_folder.POSIX, reason="permissions of another kind")
as_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away"
)
SOMEBODY = 12345


class Mark:
    """Its pickle makes a file when it is loaded."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self):
        return exec, (f"open({str(self._path)!r}, 'w').close()",)


class TestForeignCode:
    """A pickle that somebody else can have put there is never loaded."""

    @pytest.fixture
    def planted(self, tmp_path, monkeypatch):
        """An entry that leaves a mark when it is loaded, two folders below `above`."""
        monkeypatch.delenv("FASTEXP_CACHE", raising=False)
        monkeypatch.setenv("FASTEXP_CACHE_DIR", str(tmp_path / "above/between/cache"))
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "own"))
        body = pickle.dumps(Mark(tmp_path / "mark"))
        (target, _), *_ = build.targets()
        name = self.cache()._file
        folder = kernel_cache.save(kernel_cache.places(), target, name, body, frozenset())
        return folder / name

    def cache(self):
        kernel = logexp.exp_fill
        return build._Cache(kernel.name, kernel.function.__module__)

    def is_loaded(self, tmp_path: Path) -> bool:
        mark = tmp_path / "mark"
        mark.unlink(missing_ok=True)
        context = build.registry.cpu_target.target_context
        assert self.cache().load_overload(None, context) is None  # it is no kernel
        return mark.exists()

    @pytest.mark.usefixtures("planted")
    def test_ones_own_is_loaded(self, tmp_path):
        """So that the tests below can fail."""
        assert self.is_loaded(tmp_path)

    @as_root
    @pytest.mark.parametrize("level", range(5))
    def test_where_any_of_it_is_anothers(self, tmp_path, planted, level):
        """The file, its folder, the cache, the folder of the cache and the one above."""
        path = (planted, *planted.parents)[level]
        os.chown(path, SOMEBODY, SOMEBODY)
        assert not self.is_loaded(tmp_path)

    @pytest.mark.parametrize("bit", [0o020, 0o002])
    @pytest.mark.parametrize("level", range(5))
    def test_where_others_can_write(self, tmp_path, planted, level, bit):
        path = (planted, *planted.parents)[level]
        path.chmod(path.stat().st_mode | bit)
        assert not self.is_loaded(tmp_path)

    def test_below_a_sticky_folder_it_is_ones_own(self, tmp_path, planted):
        planted.parents[2].chmod(0o1777)
        assert self.is_loaded(tmp_path)

    def test_a_folder_that_is_a_link(self, tmp_path, planted):
        elsewhere = planted.parent.rename(tmp_path / "elsewhere")
        planted.parent.symlink_to(elsewhere)
        assert not self.is_loaded(tmp_path)

    def test_a_file_that_is_a_link(self, tmp_path, planted):
        elsewhere = planted.rename(tmp_path / "elsewhere")
        planted.symlink_to(elsewhere)
        assert not self.is_loaded(tmp_path)

    @pytest.mark.slow
    @as_root
    def test_folders_that_change_places_all_the_time(self, tmp_path, planted):
        """Their parent's owner swaps one of the victim's and one of their own."""
        theirs = planted.parents[1]
        ours, third = theirs.with_name("ours"), theirs.with_name("third")
        shutil.copytree(theirs, ours)
        (ours / planted.parent.name / planted.name).write_bytes(b"")
        for path in (theirs, planted.parent, planted, theirs.parent):
            os.chown(path, SOMEBODY, SOMEBODY)
        swaps, done = 0, threading.Event()

        def swap():
            nonlocal swaps
            while not done.is_set():
                theirs.rename(third)
                ours.rename(theirs)
                third.rename(ours)
                swaps += 1

        thread = threading.Thread(target=swap)
        thread.start()
        end = time.monotonic() + 2
        try:
            while time.monotonic() < end:
                assert not self.is_loaded(tmp_path)
        finally:
            done.set()
            thread.join()
        assert swaps


AS_TWO_USERS = f"""
import os, sys
from pathlib import Path
from {trusted_folder.__name__} import opened
os.setresuid(*map(int, sys.argv[2:]))
try:
    with opened(Path(sys.argv[1])) as folder:
        print(folder.read("file", 99))
except OSError as error:
    print(error)
"""


@as_root
@pytest.mark.process
@each("ids", [(0, 1, 0), (1, 1, 0), (0, 1, 1), (1, 1, 1)])
def test_rights_that_are_laid_down_for_a_while_trust_nobody_else(ids):
    """Code of the user's would take them up again."""
    with tempfile.TemporaryDirectory() as folder:  # pytest's own are closed to others
        os.chown(folder, SOMEBODY, SOMEBODY)
        file = Path(folder, "file")
        file.write_bytes(b"theirs")
        os.chown(file, SOMEBODY, SOMEBODY)
        users = [str(SOMEBODY * one) for one in ids]
        command = [sys.executable, "-c", AS_TWO_USERS, folder, *users]
        out = subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=100
        ).stdout
    refusal = f"{folder} belongs to another user (uid {SOMEBODY})"
    assert out.strip() == ("b'theirs'" if all(ids) else refusal)


class TestPlaces:
    """Which folders are looked into, and where is a new kernel saved?"""

    def places(self, monkeypatch, **env):
        for name in ("FASTEXP_CACHE", "FASTEXP_CACHE_DIR", "XDG_CACHE_HOME"):
            monkeypatch.delenv(name, raising=False)
        for name, value in env.items():
            monkeypatch.setenv(name, value)
        return [(p.name, str(p.path), p.is_saved_to) for p in kernel_cache.places()]

    def test_their_order(self, monkeypatch):
        monkeypatch.setattr(sys, "prefix", "/p")
        image = ("image", "/p/share/fastexp", False)
        chosen = ("FASTEXP_CACHE_DIR", "/c", True)
        own, other = ("own", "/h/.cache/fastexp", True), ("own", "/x/fastexp", True)
        assert self.places(monkeypatch, HOME="/h") == [image, own]
        assert self.places(monkeypatch, HOME="/h", XDG_CACHE_HOME="/x") == [image, other]
        assert self.places(monkeypatch, HOME="/h", FASTEXP_CACHE_DIR="/c") == [chosen, image, own]
        assert self.places(monkeypatch, FASTEXP_CACHE="0") == []
        assert self.places(monkeypatch, HOME="") == [image]  # not "/.cache"
        assert self.places(monkeypatch, HOME="", XDG_CACHE_HOME="/x") == [image, other]
        monkeypatch.setattr(Path, "home", lambda: (_ for _ in ()).throw(RuntimeError))
        assert self.places(monkeypatch) == [image]

    def test_without_owners_there_is_only_the_users_own(self, monkeypatch):
        monkeypatch.setattr(kernel_cache, "POSIX", False)
        names = [name for name, *_ in self.places(monkeypatch, FASTEXP_CACHE_DIR="/c")]
        assert names == ["own"]

    @pytest.mark.parametrize("path", ["~/cache", "cache", "./cache"])
    def test_a_path_that_depends_on_the_working_directory_is_none(
        self, tmp_path, monkeypatch, path
    ):
        monkeypatch.chdir(tmp_path)
        self.places(monkeypatch, FASTEXP_CACHE_DIR=path, HOME="")
        places = kernel_cache.places()
        assert kernel_cache.save(places, "target", "name", b"body", frozenset()) is None
        state = kernel_cache.state(places[0], "target", frozenset())
        assert (state.refusal, state.is_writable) == ("not an absolute path", False)
        assert list(tmp_path.iterdir()) == []

    def test_nothing_is_made_by_looking(self, tmp_path, monkeypatch):
        place = kernel_cache.CacheFolder("own", tmp_path / "a" / "b", is_saved_to=True)
        state = kernel_cache.state(place, "target", frozenset())
        assert (state.kernels, state.refusal, state.is_writable) == (frozenset(), None, True)
        assert list(tmp_path.iterdir()) == []
        monkeypatch.setattr(os, "access", lambda *_, **__: False)
        state = kernel_cache.state(place, "target", frozenset())
        assert (state.refusal, state.is_writable) == ("not there, and may not be made", False)

    def test_a_reason_names_paths_as_they_are(self, tmp_path):
        path = tmp_path / "Kernels"
        path.mkdir()
        path.chmod(0o777)
        place = kernel_cache.CacheFolder("own", path, is_saved_to=True)
        state = kernel_cache.state(place, "target", frozenset())
        assert state.refusal == f"others may write to {path} (mode 0777)"

    def test_an_entry_that_is_too_large_is_passed_by(self, tmp_path):
        """Reading it would take more memory than there is."""
        place = kernel_cache.CacheFolder("own", tmp_path, is_saved_to=True)
        folder = kernel_cache.save([place], "target", "name", b"body", frozenset())
        os.truncate(folder / "name", 1 << 42)
        assert list(kernel_cache.load([place], ["target"], "name", frozenset())) == []
        state = kernel_cache.state(place, "target", frozenset())
        assert (state.kernels, state.refusal) == (frozenset(), "file too large")

    def test_the_first_one_that_can_be_written_to_is_taken(self, tmp_path):
        file = tmp_path / "file"
        file.touch()
        first = kernel_cache.CacheFolder("first", file, is_saved_to=True)
        read_only = kernel_cache.CacheFolder("second", tmp_path / "a", is_saved_to=False)
        third = kernel_cache.CacheFolder("third", tmp_path / "b", is_saved_to=True)
        places = [first, read_only, third]
        folder = kernel_cache.save(places, "target", "name", b"body", frozenset())
        assert folder.parent == tmp_path / "b"
        assert list(kernel_cache.load(places, ["target"], "name", frozenset())) == [
            (folder, b"body")
        ]
        assert kernel_cache.save(places[:2], "target", "name", b"body", frozenset()) is None
