"""Is a folder opened only if nobody but root and this user can have written to it?"""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from tests.doors.compiler import PRIVATE, PUBLIC, Untrusted, opened, trusted_folder
from tests.messages import says

pytestmark = pytest.mark.skipif(not trusted_folder.POSIX, reason="permissions of another kind")
as_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away"
)
SOMEBODY = 12345


@pytest.fixture
def folder(tmp_path):
    """A folder two below another one; in it a file."""
    path = tmp_path / "above" / "between" / "folder"
    path.mkdir(parents=True)
    for each in (path, path.parent, path.parent.parent):
        each.chmod(0o755)
    (path / "file").write_bytes(b"ours")
    (path / "file").chmod(0o600)
    return path


@pytest.fixture(autouse=True)
def no_descriptor_is_left_open():
    fds = Path("/proc/self/fd")
    before = len(list(fds.iterdir())) if fds.exists() else None
    yield
    assert before is None or len(list(fds.iterdir())) == before


def refusal(path: Path) -> str:
    """Why a folder is refused."""
    with pytest.raises(Untrusted) as caught, opened(path):
        pass
    (reason,) = caught.value.args
    return reason


def contents(path: Path) -> bytes:
    with opened(path) as folder:
        return folder.read("file", 99)


LEVELS = pytest.mark.parametrize("level", [0, 1, 2])


def above(folder: Path, level: int) -> Path:
    return (folder, *folder.parents)[level]


class TestFolder:
    def test_one_of_ours_is_opened(self, folder):
        assert contents(folder) == b"ours"

    @LEVELS
    @pytest.mark.parametrize("mode", [0o775, 0o757, 0o777, 0o702])
    def test_one_that_others_can_write_to_is_refused(self, folder, level, mode):
        path = above(folder, level)
        path.chmod(mode)
        assert refusal(folder) == f"others may write to {path} (mode {mode:04o})"

    @pytest.mark.parametrize("level", [1, 2])
    def test_a_sticky_one_may_be_on_the_way(self, folder, level):
        above(folder, level).chmod(0o1777)
        assert contents(folder) == b"ours"

    def test_a_sticky_one_is_not_the_folder_itself(self, folder):
        folder.chmod(0o1777)
        assert "others may write" in refusal(folder)

    @as_root
    @LEVELS
    def test_anothers_is_refused(self, folder, level):
        path = above(folder, level)
        os.chown(path, SOMEBODY, SOMEBODY)
        assert refusal(folder) == f"{path} belongs to another user (uid {SOMEBODY})"

    @as_root
    def test_anothers_sticky_one_is_refused(self, folder):
        """Who owns a sticky folder can rename whatever is in it."""
        folder.parent.chmod(0o1777)
        os.chown(folder.parent, SOMEBODY, SOMEBODY)
        assert "belongs to another user" in refusal(folder)

    def test_an_owner_that_a_container_does_not_know_is_refused(
        self, folder, tmp_path, monkeypatch
    ):
        """Everybody unmapped looks like one owner, who may even look like this user."""
        mapped, overflow = tmp_path / "uid_map", tmp_path / "overflowuid"
        overflow.write_text(f"{os.geteuid()}\n")
        monkeypatch.setattr(trusted_folder, "UID_MAP", mapped)
        monkeypatch.setattr(trusted_folder, "OVERFLOW_UID", overflow)
        mapped.write_text("         0          0 4294967295\n")
        assert contents(folder) == b"ours"
        mapped.write_text("         0       1000          1\n")
        assert os.geteuid() not in trusted_folder.trusted_owners()
        assert "belongs to another user" in refusal(folder)

    @pytest.mark.parametrize("other", ["users", "groups"])
    @pytest.mark.parametrize("ids", [(0, 7, 0), (7, 7, 0), (0, 7, 7), (7, 0, 0), (7, 8, 7)])
    def test_a_process_of_two_users_trusts_root_alone(self, monkeypatch, ids, other):
        """It has, or can get back, rights that whoever owns the folder may lack."""
        one = (7, 7, 7)
        users, groups = (ids, one) if other == "users" else (one, ids)
        monkeypatch.setattr(os, "getresuid", lambda: users, raising=False)
        monkeypatch.setattr(os, "getresgid", lambda: groups, raising=False)
        monkeypatch.setattr(os, "geteuid", lambda: users[1])
        assert trusted_folder.trusted_owners() == {0}
        monkeypatch.setattr(os, "getresuid", lambda: one)
        monkeypatch.setattr(os, "getresgid", lambda: one)
        monkeypatch.setattr(os, "geteuid", lambda: 7)
        assert trusted_folder.trusted_owners() == {0, 7}

    def test_where_saved_users_are_not_told_the_others_count(self, monkeypatch):
        monkeypatch.delattr(os, "getresuid", raising=False)
        ids = {"getuid": 7, "geteuid": 7, "getgid": 8, "getegid": 8}
        for name, value in ids.items():
            monkeypatch.setattr(os, name, lambda value=value: value)
        assert trusted_folder.trusted_owners() == {0, 7}
        for name, value in ids.items():
            monkeypatch.setattr(os, name, lambda: 0)
            assert trusted_folder.trusted_owners() == {0}
            monkeypatch.setattr(os, name, lambda value=value: value)

    def test_what_is_not_there_is_an_error_of_the_system(self, folder):
        with pytest.raises(FileNotFoundError), opened(folder / "nothing" / "nowhere"):
            pass
        with pytest.raises(NotADirectoryError), opened(folder / "file" / "nowhere"):
            pass
        with pytest.raises(NotADirectoryError), opened(folder / "file"):
            pass

    def test_a_folder_that_may_be_searched_but_not_read_is_passed(self, folder):
        if not hasattr(os, "O_PATH"):
            pytest.skip("this system opens only what it may read")
        folder.parent.chmod(0o111)
        assert contents(folder) == b"ours"
        folder.parent.chmod(0o755)

    def test_a_relative_path_begins_here(self, folder, monkeypatch):
        monkeypatch.chdir(folder.parent)
        assert contents(Path("folder")) == b"ours"
        assert contents(Path("../between/./folder")) == b"ours"


class TestLinks:
    def test_on_the_way_one_of_ours_is_followed(self, folder, tmp_path):
        (tmp_path / "absolute").symlink_to(folder.parent)
        (tmp_path / "relative").symlink_to("above/../absolute/.")
        assert contents(tmp_path / "relative" / "folder") == b"ours"

    def test_what_it_leads_through_is_checked(self, folder, tmp_path):
        (tmp_path / "link").symlink_to(folder.parent)
        folder.parent.parent.chmod(0o777)
        assert refusal(tmp_path / "link" / "folder").endswith("/above (mode 0777)")

    def test_the_folder_itself_is_none(self, folder, tmp_path):
        (tmp_path / "link").symlink_to(folder)
        with (
            pytest.raises(OSError, match=r"Not a directory|symbolic links"),
            opened(tmp_path / "link"),
        ):
            pass

    def test_a_circle_ends(self, tmp_path):
        (tmp_path / "one").symlink_to("two")
        (tmp_path / "two").symlink_to("one")
        assert "too many links" in refusal(tmp_path / "one" / "folder")

    @as_root
    def test_anothers_is_not_followed(self, folder, tmp_path):
        """It may lead to a folder of ours that others fill: what a server was sent, say."""
        (tmp_path / "link").symlink_to(folder.parent)
        os.lchown(tmp_path / "link", SOMEBODY, SOMEBODY)
        reason = refusal(tmp_path / "link" / "folder")
        assert reason == f"{tmp_path}/link is a link of another user's (uid {SOMEBODY})"


class TestSwaps:
    def test_an_open_folder_stays_what_it_is(self, folder):
        with opened(folder) as ours:
            folder.rename(folder.with_name("away"))
            folder.mkdir()
            (folder / "file").write_bytes(b"theirs")
            assert ours.read("file", 99) == b"ours"
            ours.write("new", b"1", PRIVATE)
        assert [path.name for path in folder.iterdir()] == ["file"]

    def test_a_checked_folder_is_the_one_that_is_opened(self, folder, monkeypatch):
        """Whatever check is passed, every folder above has changed places right after it."""
        others = folder.parents[2] / "theirs"
        (others / "between" / "folder").mkdir(parents=True)
        (others / "between" / "folder" / "file").write_bytes(b"theirs")
        others.chmod(0o777)
        checked, check = [], trusted_folder._check

        def swapped(descriptor, shown, **way):
            check(descriptor, shown, **way)
            checked.append(shown)
            if shown == folder.parents[1]:
                shown.rename(shown.with_name("away"))
                others.rename(shown)

        monkeypatch.setattr(trusted_folder, "_check", swapped)
        assert contents(folder) == b"ours"
        assert checked[-2:] == [folder, folder / "file"]


class TestFiles:
    def test_a_file_appears_whole_and_private(self, folder):
        old = os.umask(0)
        try:
            with opened(folder) as open_folder:
                open_folder.write("file", b"new", PRIVATE)
                assert open_folder.names() == ["file"]
                assert open_folder.read("file", 99) == b"new"
                assert open_folder.is_writable()
        finally:
            os.umask(old)
        assert stat.S_IMODE((folder / "file").stat().st_mode) == 0o600

    def test_nothing_is_left_of_one_that_fails(self, folder, monkeypatch):
        def full(*_args, **_kwargs):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "replace", full)
        with opened(folder) as open_folder, pytest.raises(OSError, match="No space"):
            open_folder.write("other", b"new", PRIVATE)
        assert [path.name for path in folder.iterdir()] == ["file"]

    @pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
    def test_one_that_others_can_write_to_is_refused(self, folder, mode):
        (folder / "file").chmod(mode)
        with (
            opened(folder) as open_folder,
            pytest.raises(
                Untrusted, match=says("file that others can write to", mode=f"{mode:04o}")
            ),
        ):
            open_folder.read("file", 99)

    @as_root
    def test_anothers_is_refused(self, folder):
        os.chown(folder / "file", SOMEBODY, SOMEBODY)
        with (
            opened(folder) as open_folder,
            pytest.raises(Untrusted, match=says("file of another user")),
        ):
            open_folder.read("file", 99)

    def test_what_is_no_file_is_refused(self, folder):
        (folder / "link").symlink_to(folder / "file")
        os.mkfifo(folder / "pipe")  # reading it would wait for ever
        (folder / "folder").mkdir()
        with opened(folder) as open_folder:
            with pytest.raises(OSError, match="symbolic links"):
                open_folder.read("link", 99)
            with pytest.raises(Untrusted, match=says("...pipe: entry of a folder that is no file")):
                open_folder.read("pipe", 99)
            with pytest.raises(OSError, match=says("entry of a folder that is no file")):
                open_folder.read("folder", 99)

    def test_one_that_is_too_large_is_not_read(self, folder):
        with opened(folder) as open_folder:
            assert open_folder.read("file", 4) == b"ours"
            with pytest.raises(OSError, match="too large"):
                open_folder.read("file", 3)
            os.truncate(folder / "file", 1 << 42)  # in no memory
            with pytest.raises(OSError, match="too large"):
                open_folder.read("file", 99)


class TestCreating:
    @pytest.mark.parametrize("mode", [PRIVATE, PUBLIC])
    @pytest.mark.parametrize("umask", [0o000, 0o077, 0o277])
    def test_modes_do_not_depend_on_the_umask(self, tmp_path, mode, umask):
        path = tmp_path / "a" / "b"
        old = os.umask(umask)
        try:
            with opened(path, create=mode) as folder:
                folder.write("file", b"1", mode)
        finally:
            os.umask(old)
        modes = [stat.S_IMODE(p.stat().st_mode) for p in (path.parent, path, path / "file")]
        assert modes == [mode, mode, mode & 0o666]

    def test_whether_it_may_be_made_is_told(self, folder, monkeypatch):
        for missing in (folder / "new", folder / "new" / "below"):
            with pytest.raises(trusted_folder.Missing) as caught, opened(missing):
                pass
            assert caught.value.may_be_made
        assert not (folder / "new").exists()
        monkeypatch.setattr(os, "access", lambda *_, **__: False)  # root may make anything
        with pytest.raises(trusted_folder.Missing) as caught, opened(folder / "new"):
            pass
        assert not caught.value.may_be_made

    def test_nothing_is_made_where_others_can_write(self, folder):
        folder.chmod(0o777)
        with pytest.raises(Untrusted), opened(folder / "new", create=PRIVATE):
            pass
        assert not (folder / "new").exists()


def test_without_owners_paths_are_used(tmp_path, monkeypatch):
    """As on Windows."""
    monkeypatch.setattr(trusted_folder, "POSIX", False)
    with pytest.raises(trusted_folder.Missing) as caught, opened(tmp_path / "a" / "b"):
        pass
    assert caught.value.may_be_made
    with opened(tmp_path / "a" / "b", create=PRIVATE) as folder:
        folder.write("file", b"1", PRIVATE)
        folder.write("file", b"2", PRIVATE)
        assert folder.read("file", 99) == b"2"
        assert folder.names() == ["file"]
        assert folder.is_writable()
    with opened(tmp_path / "a" / "b") as folder:
        assert folder.read("file", 99) == b"2"
