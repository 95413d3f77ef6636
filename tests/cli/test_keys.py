"""Does ``fastexp key`` make a secret, and does ``--key`` take nothing else?"""

from __future__ import annotations

import json
import os
import stat
import threading
from pathlib import Path

import pytest

import fastexp as fx
from tests.support.command_line import Run

posix = pytest.mark.skipif(os.name != "posix", reason="pipes, devices and modes of POSIX")
CITIES = ["Oslo", "Rome", "Bern"]
ASK = ["--column", "rent", "--epsilon", "0.5", "--bounds", "0", "9000", "--step", "1"]
BY = ["--by", "city", "--groups", ",".join(CITIES)]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "rents.csv"
    rows = [f"{CITIES[i % 3]},{i * 37 % 4000}" for i in range(300)]
    path.write_text("\n".join(["city,rent", *rows]) + "\n")
    return path


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "a.key"
    path.write_text(fx.release_key().export())
    path.chmod(0o600)
    return path


def test_a_key_is_made_for_its_owner_and_never_overwritten(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "k.key"
    code, out, err = run("key", path)
    assert (code, out) == (0, f"{path}\n")
    text = path.read_text()
    assert text.strip() not in out + err
    assert fx.ReleaseKey.restore(text).export() == text.strip()
    assert os.name != "posix" or stat.S_IMODE(path.stat().st_mode) == 0o600
    code, out, err = run("key", path)
    assert (code, out) == (2, "")
    assert "a key is never overwritten" in err
    assert path.read_text() == text
    assert run("key", tmp_path / "no" / "k")[0] == 2
    assert json.loads(run("key", tmp_path / "j.key", "--json")[1]) == {
        "key": str(tmp_path / "j.key")
    }


@pytest.mark.fast
@pytest.mark.engines
def test_answers_are_those_of_the_key_in_python(run: Run, data: Path, secret: Path) -> None:
    query = fx.Query("city", CITIES)
    median = fx.Median(0.5, (0, 9000), step=1)
    key = fx.ReleaseKey.restore(secret.read_text())
    wanted = query.release(str(data), {"rent": (median, "rent")}, key=key, label="q")
    for _ in range(2):
        done = run("median", data, *ASK, *BY, "--key", secret, "--label", "q", "--json")
        assert done.code == 0, done.err
        rows = json.loads(done.out)["rows"]
        assert [row["rent"] for row in rows] == wanted["rent"].to_pylist()


@pytest.mark.fast
@pytest.mark.engines
@pytest.mark.parametrize(
    "content", ["", "fastexp", "{0}zz\n", "é", "x" * 5000, "{0}{0}", "\0" * 88], ids=len
)
def test_other_contents_are_refused_without_showing_them(
    run: Run, data: Path, secret: Path, content: str
) -> None:
    text = secret.read_text().strip()
    secret.write_text(content.format(text[:-2]))
    code, out, err = run("median", data, *ASK, *BY, "--key", secret)
    assert (code, out) == (2, "")
    assert "holds no release key; make one with: fastexp key FILE" in err
    assert text[20:40] not in err


@posix
@pytest.mark.fast
@pytest.mark.engines
def test_a_key_that_others_can_read_is_told(run: Run, data: Path, secret: Path) -> None:
    asked = ["median", data, *ASK, *BY, "--key", secret]
    assert "others can read" not in run(*asked).err
    for mode in (0o640, 0o604, 0o644):
        secret.chmod(mode)
        done = run(*asked)
        assert done.code == 0
        assert f"WARNING: others can read '{secret}', which is a secret: chmod 600" in done.err


@posix
@pytest.mark.fast
@pytest.mark.engines
def test_a_key_may_come_by_a_pipe(run: Run, data: Path, secret: Path, tmp_path: Path) -> None:
    """As from ``--key <(pass show rents)``."""
    asked = ["median", data, *ASK, *BY, "--label", "q"]
    wanted = run(*asked, "--key", secret)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe, 0o644)
    writer = threading.Thread(target=pipe.write_text, args=(secret.read_text(),), daemon=True)
    writer.start()
    done = run(*asked, "--key", pipe)
    writer.join(timeout=60)
    assert (done.code, done.out) == (0, wanted.out)
    assert "others can read" not in done.err


@posix
@pytest.mark.fast
@pytest.mark.engines
@pytest.mark.parametrize("place", ["/dev/zero", "/dev/null", "folder", "missing", "a\0b"])
def test_what_is_no_key_file(run: Run, data: Path, tmp_path: Path, place: str) -> None:
    (tmp_path / "folder").mkdir()
    path = place if place.startswith("/") or "\0" in place else str(tmp_path / place)
    code, out, err = run("median", data, *ASK, *BY, "--key", path)
    assert (code, out) == (2, "")
    assert "holds no release key" in err or "cannot read" in err
