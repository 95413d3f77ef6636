"""What draws need of the machine: its rounding, its randomness, and the code that was compiled.

Without them nothing is read, and nothing is released.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import platform
import re
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastexp as fx
from fastexp.errors import RandomnessError, RoundingModeError
from fastexp.kernels import envelope, jit, short_rows

compiled = pytest.mark.skipif(jit.MODE != "compiled", reason="no compiled module")
intel = pytest.mark.skipif(platform.machine() != "x86_64", reason="sets the modes of an x86 CPU")

# Modes of the SSE unit (MXCSR, byte 28 of glibc's fenv_t): rounding, flush to zero, subnormals
# read as zero.
MODES = {"down": 0x2000, "up": 0x4000, "to zero": 0x6000, "flush": 0x8000, "flush both": 0x8040}


@contextmanager
def mode(name: str) -> Iterator[Callable[[], None]]:
    """Yield what sets a mode, and restore the old one."""
    libm = ctypes.CDLL("libm.so.6")
    before, after = ctypes.create_string_buffer(32), ctypes.create_string_buffer(32)
    libm.fegetenv(before)
    word = int.from_bytes(before.raw[28:], "little") | MODES[name]
    after.raw = before.raw[:28] + word.to_bytes(4, "little")
    try:
        yield lambda: libm.fesetenv(after)
    finally:
        libm.fesetenv(before)


class Untouched:
    """Data that say whether they were read."""

    def __init__(self) -> None:
        self.is_read = False

    def _read(self, *_: Any) -> Any:
        self.is_read = True
        raise IndexError

    __array__ = __len__ = __getitem__ = __iter__ = _read


CHOOSE, MEDIAN = fx.Exponential(1.0, 1.0), fx.Median(1.0, (0, 9), step=1)
SCORE = fx.Exponential.from_score(lambda data, _: data[0], ["a", "b"], epsilon=1, sensitivity=1)
CALLS: dict[str, Callable[[Any], Any]] = {
    "release": CHOOSE.release,
    "sample": CHOOSE.sample,
    "score": SCORE.release,
    "median": MEDIAN.release,
    "medians": lambda x: MEDIAN.sample(x, 3, rng=1),
    "probabilities": lambda x: fx.probabilities(x, 1.0),
    "log_normalizer": lambda x: fx.log_normalizer(x, 1.0),
    "median_utilities": lambda x: fx.median_utilities(x, bounds=(0, 1)),
}


@intel
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("name", MODES)
def test_other_rounding_is_refused(call: str, name: str) -> None:
    data = Untouched()
    with mode(name) as enter:
        enter()
        with pytest.raises(RoundingModeError, match="nearest"):
            CALLS[call](data)
    assert not data.is_read
    with pytest.raises(Exception):  # noqa: B017, PT011
        CALLS[call](data)
    assert data.is_read


@intel
@pytest.mark.parametrize("k", [2, 1100])
@pytest.mark.parametrize("base", [False, True])
@pytest.mark.parametrize("name", MODES)
def test_a_score_that_changes_the_rounding(name: str, base: bool, k: int) -> None:
    """It is noticed before the draw, by whatever kernel draws."""
    for size in (None, 3, 300):
        with mode(name) as enter:
            mechanism = fx.Exponential.from_score(
                lambda _, candidate, enter=enter: (enter(), candidate)[1],
                range(k),
                epsilon=1,
                sensitivity=1,
                base=[1.0] * k if base else None,
            )
            with pytest.raises(RoundingModeError):
                mechanism.sample([], size, rng=1)
    with mode(name) as enter, pytest.raises(RoundingModeError):
        mechanism.release([])


@intel
@pytest.mark.parametrize("name", MODES)
def test_kernels_refuse_other_rounding(name: str) -> None:
    """Those, too, that no score comes before."""
    rows, words = np.zeros(20, np.uint64), np.ones(8, np.uint64)
    out, work = np.zeros(4, np.int64), np.zeros(13 * short_rows.TILE, np.int64)
    arguments = rows, 0, 1.0, 5, words, out, work
    assert short_rows.draw_short(*arguments) == envelope.DONE
    with mode(name) as enter:
        enter()
        status = short_rows.draw_short(*arguments)
    assert status == envelope.NOT_EXACT


# Randomness: of the system in each call, and of no other source.

RELEASES: dict[str, Callable[[], Any]] = {
    "few": lambda: CHOOSE.release([0, 0, 0, 0]),
    "many": lambda: CHOOSE.release(np.zeros(3000)),
    "base": lambda: fx.Exponential(1, 1, base=[1, 2, 3]).release([0, 0, 0]),
    "score": lambda: SCORE.release([1]),
    "median": lambda: MEDIAN.release([1, 2, 8]),
    "long median": lambda: MEDIAN.release(np.arange(5000) % 10),
    "none": lambda: MEDIAN.release([]),
    "sample": lambda: CHOOSE.sample([0, 0, 0]),
    "samples": lambda: MEDIAN.sample([1, 2, 8], 50),
}


def refuse(count: int) -> bytes:
    raise OSError(f"no {count} bytes")


@pytest.mark.parametrize(
    "system", [lambda n: bytes(n - 1), lambda _: b"", refuse], ids=["short", "none", "error"]
)
@pytest.mark.parametrize("call", RELEASES)
def test_no_randomness_no_release(
    call: str, system: Callable[[int], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "urandom", system)
    with pytest.raises(RandomnessError):
        RELEASES[call]()


@pytest.mark.parametrize("call", RELEASES)
def test_nothing_is_kept(call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A call reads 128 bits or more; equal bytes give equal answers, whatever came before."""
    taken: list[int] = []
    fresh = np.random.default_rng(5)

    def scripted(count: int) -> bytes:
        taken.append(count)
        return fresh.bytes(count)

    monkeypatch.setattr(os, "urandom", scripted)
    answers = []
    for _ in range(2):
        for seed in range(12):
            fresh = np.random.default_rng(seed)
            taken.clear()
            answers.append(np.asarray(RELEASES[call]()).tolist())
            assert sum(taken) >= 16
    assert answers[:12] == answers[12:]
    assert any(answer != answers[0] for answer in answers)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_copies_do_not_repeat() -> None:
    """Neither do forks: a mechanism has no state to repeat."""
    answers = [pickle.loads(pickle.dumps(fx.Exponential(1.0, 1.0))) for _ in range(2)]  # noqa: S301
    first, second = ([m.release(np.zeros(1000)) for _ in range(9)] for m in answers)
    assert first != second
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.write(writer, bytes(CHOOSE.release(np.zeros(250)) for _ in range(9)))
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reader, 9) != bytes(CHOOSE.release(np.zeros(250)) for _ in range(9))


@pytest.mark.parametrize("option", ["rng", "streams", "size", "seed"])
def test_a_release_takes_no_seed(option: str) -> None:
    with pytest.raises(TypeError, match=option):
        CHOOSE.release([1, 2], **{option: 1})


# Compiled code: kernels check nothing themselves, so the module that calls them must.

WRONG = {
    "of doubles": np.zeros(8),
    "of 32 bits": np.zeros(8, np.uint32),
    "signed": np.zeros(8, np.int64),
    "strided": np.zeros(16, np.uint64)[::2],
    "of two dimensions": np.zeros((2, 4), np.uint64),
    "of none": np.zeros((), np.uint64),
    "byte-swapped": np.zeros(8, ">u8"),
    "unaligned": np.zeros(65, np.uint8)[1:].view(np.uint64),
    "a list": [1] * 8,
    "None": None,
}


@compiled
@pytest.mark.parametrize("name", WRONG)
def test_kernels_refuse_other_arrays(name: str) -> None:
    rest = 0, 1.0, 2.0**50, 1, 2, 0, 0
    assert envelope.draw_block(np.zeros(8, np.uint64), *rest) in range(8)
    with pytest.raises(TypeError):
        envelope.draw_block(WRONG[name], *rest)


@compiled
def test_kernels_refuse_other_arguments() -> None:
    values = np.zeros(8, np.uint64)
    seeds, out = np.zeros(4, np.uint64), np.zeros(2, np.uint64)
    envelope.fill_words(seeds, 1, out)
    out.flags.writeable = False
    before = out.copy()
    for call in (
        lambda: envelope.fill_words(seeds, 1, out),
        lambda: envelope.fill_words(seeds, 1.5, before),
        lambda: envelope.fill_words(seeds, "1", before),
        lambda: envelope.fill_words(seeds, 1),
        lambda: envelope.fill_words(seeds, 1, before, 0),
        lambda: envelope.draw_block(values, 0, 1.0, 2.0**50, -1, 2, 0, 0),
        lambda: envelope.draw_block(values, 0, 1.0, 2.0**50, 1 << 64, 2, 0, 0),
        lambda: envelope.draw_block(values, 1 << 63, 1.0, 2.0**50, 1, 2, 0, 0),
        lambda: envelope.draw_block(values, 0, 1j, 2.0**50, 1, 2, 0, 0),
    ):
        with pytest.raises((TypeError, OverflowError, ValueError)):
            call()
    assert (out == before).all()


@compiled
def test_other_threads_go_on() -> None:
    """A kernel of a tenth of a second holds no lock."""
    seeds, out = np.arange(4, dtype=np.uint64), np.zeros(20_000_000, np.uint64)
    thread = threading.Thread(target=envelope.fill_words, args=(seeds, out.size // 2, out))
    thread.start()
    ticks = 0
    while thread.is_alive():
        ticks += 1
    assert ticks > 1000


@compiled
@pytest.mark.skipif(not shutil.which("objdump"), reason="no disassembler")
def test_nothing_is_contracted() -> None:
    """A fused multiply-add rounds once: other bits than the bounds were proved for."""
    command = ["objdump", "-d", "--no-show-raw-insn", jit.MODULE.__file__]
    code = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    contracted = re.compile(r"\tv?fn?m(add|sub)")
    assert "mulsd" in code
    assert contracted.search(code + "\tvfnmadd231sd")
    assert not contracted.search(code)


def test_the_digest_covers_all_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An edit of any file of kernels, a new one, or one fewer makes the compiled code void."""
    before, sources = jit.digest(), sorted(Path(jit.__file__).parent.glob("*.py"))
    for path in sources:
        shutil.copy(path, tmp_path)
    monkeypatch.setattr(jit, "__file__", str(tmp_path / "jit.py"))
    assert jit.digest() == before
    digests = {before}
    for path in sources:
        copy = tmp_path / path.name
        copy.write_text(path.read_text() + "\n")
        digests.add(jit.digest())
        copy.unlink()
        digests.add(jit.digest())
        shutil.copy(path, tmp_path)
    (tmp_path / "another.py").write_text("")
    digests.add(jit.digest())
    assert len(digests) >= 2 * len(sources)
