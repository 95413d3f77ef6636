"""Are the words of groups the ChaCha20 stream of RFC 8439?"""

from __future__ import annotations

import struct

import numpy as np
import pytest

from tests.doors.kernels import chacha20 as kernels
from tests.support.each import each

# RFC 8439, 2.3.2, and the test vectors 1 to 5 of A.1: key, nonce, block number, block.
COUNTING = bytes(range(32)).hex()
ZERO = "00" * 32
VECTORS = [
    (
        COUNTING,
        "000000090000004a00000000",
        1,
        (
            "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e"
            "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e"
        ),
    ),
    (
        ZERO,
        "00" * 12,
        0,
        (
            "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
            "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586"
        ),
    ),
    (
        ZERO,
        "00" * 12,
        1,
        (
            "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed"
            "29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f"
        ),
    ),
    (
        "00" * 31 + "01",
        "00" * 12,
        1,
        (
            "3aeb5224ecf849929b9d828db1ced4dd832025e8018b8160b82284f3c949aa5a"
            "8eca00bbb4a73bdad192b5c42f73f2fd4e273644c8b36125a64addeb006c13a0"
        ),
    ),
    (
        "00ff" + "00" * 30,
        "00" * 12,
        2,
        (
            "72d54dfbf12ec44b362692df94137f328fea8da73990265ec1bbbea1ae9af0ca"
            "13b25aa26cb4a648cb9b9d1be65b2c0924a66c54d545ec1b7374f4872e99f096"
        ),
    ),
    (
        ZERO,
        "00" * 11 + "02",
        0,
        (
            "c2c64d378cd536374ae204b9ef933fcd1a8b2288b3dfa49672ab765b54ee27c7"
            "8a970e0e955c14f3a88e741b97c286f75f8fc299e8148362fa198a39531bed6d"
        ),
    ),
]


def words_of(text: str) -> np.ndarray:
    return np.frombuffer(bytes.fromhex(text), "<u8").astype(np.uint64)


def plain_block(key: bytes, counter: int, nonce: bytes = bytes(12)) -> bytes:
    """RFC 8439, 2.3, as it is written there."""

    def turn(x: list[int], a: int, b: int, c: int, d: int) -> None:
        for i, j, k, bits in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            x[i] = (x[i] + x[j]) % 2**32
            mixed = x[k] ^ x[i]
            x[k] = (mixed << bits | mixed >> (32 - bits)) % 2**32

    state = [*struct.unpack("<4I", b"expand 32-byte k"), *struct.unpack("<8I", key), counter]
    state += struct.unpack("<3I", nonce)
    x = state.copy()
    for _ in range(10):
        for i in range(4):
            turn(x, i, 4 + i, 8 + i, 12 + i)
        for i in range(4):
            turn(x, i, 4 + (1 + i) % 4, 8 + (2 + i) % 4, 12 + (3 + i) % 4)
    return struct.pack("<16I", *((a + b) % 2**32 for a, b in zip(x, state, strict=True)))


def stream(key: np.ndarray, words: int, block: int = 0) -> list[int]:
    blocks = (plain_block(key.tobytes(), block + b) for b in range(-(-words // 8)))
    return np.frombuffer(b"".join(blocks), "<u8")[:words].tolist()


def drawn(keys: np.ndarray, per: int) -> np.ndarray:
    out, work = np.full(keys.size // 4 * per + 1, 7, np.uint64), np.zeros(kernels.WORK, np.uint64)
    kernels.chacha_words(keys, per, out[:-1], work)
    assert out[-1] == 7
    return out[:-1].reshape(-1, per)


def some_keys(groups: int) -> np.ndarray:
    return np.random.default_rng(groups).integers(0, 2**64, 4 * groups, dtype=np.uint64)


@pytest.mark.slow
def test_quarter_rounds_are_the_published_one():
    given = (np.uint32(x) for x in (0x11111111, 0x01020304, 0x9B8D6F43, 0x01234567))
    assert kernels.quarter(*given) == (0xEA2A92F4, 0xCB1CF8CE, 0x4581472E, 0x5881C4BB)


@each(("key", "nonce", "counter", "block"), VECTORS)
def test_blocks_are_the_published_ones(key, nonce, counter, block):
    told = tuple(np.frombuffer(bytes.fromhex(nonce), "<u4").astype(np.uint32))
    assert plain_block(bytes.fromhex(key), counter, bytes.fromhex(nonce)).hex() == block
    found = kernels.chacha_block(*words_of(key), np.uint32(counter), told)
    assert np.array(found, np.uint64).tolist() == words_of(block).tolist()
    if not any(told):
        out = np.empty(8, np.uint64)
        kernels.chacha_from(words_of(key), counter, out)
        assert out.tolist() == words_of(block).tolist()


@each("groups", [0, 1, 2, 7, 8, 9, 15, 16, 17, 33, 100])
def test_each_group_has_its_own_stream(groups):
    keys = some_keys(groups)
    found = drawn(keys, 16)
    assert found.tolist() == [stream(key, 16) for key in keys.reshape(-1, 4)]


@each("per", [8, 24, 80])
def test_any_number_of_words(per):
    keys = some_keys(18)
    assert drawn(keys, per).tolist() == [stream(key, per) for key in keys.reshape(-1, 4)]


def test_fewer_words_are_the_first_of_more():
    keys = some_keys(20)
    assert (drawn(keys, 40)[:, :8] == drawn(keys, 8)).all()


@each("block", [0, 1, 3, 2**31 - 1, 2**31, 2**32 - 3])
def test_words_from_a_block_on(block):
    key, out = some_keys(1), np.empty(24, np.uint64)
    kernels.chacha_from(key, block, out)
    assert out.tolist() == stream(key, 24, block)


def test_spare_words_go_on_where_the_first_ones_end():
    keys, out = some_keys(3), np.empty(16, np.uint64)
    kernels.chacha_from(keys[8:], 1, out)
    assert (drawn(keys, 24)[2, 8:] == out).all()
