"""Are random words what the written format says, on every path?"""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from fastexp.errors import RandomnessError
from tests.doors.kernels import words as kernels
from tests.doors.randomness import streams
from tests.doors.reference import exact
from tests.messages import raises
from tests.support.each import each
from tests.twins import selection

# Known-answer vectors published with Random123 (Salmon et al. 2011): philox4x32, 10 rounds.
PUBLISHED = [
    ((0, 0), 0, "6627e8d5e169c58dbc57ac4c9b00dbd8"),
    ((2**64 - 1, 2**64 - 1), 2**64 - 1, "408f276d41c83b0ea20bc7c66d5451fd"),
    (
        (0x85A308D3243F6A88, 0x0370734413198A2E),
        0x299F31D0A4093822,
        "d16cfe0994fdcceb5001e42024126ea1",
    ),
]


def as_words(text: str) -> tuple[int, int]:
    w = [int(text[i : i + 8], 16) for i in range(0, 32, 8)]
    return w[0] | w[1] << 32, w[2] | w[3] << 32


@each(("counter", "key", "answer"), PUBLISHED)
def test_philox_gives_the_published_vectors(counter, key, answer):
    assert exact.philox(*counter, key) == as_words(answer)
    out = np.empty(2, np.uint64)
    stream = np.array([key, counter[1]], np.uint64)
    # the kernel's counter: substream * 2**32 + block
    kernels.substream_words(stream, counter[0] >> 32, 2 * (counter[0] & (2**32 - 1)), out)
    assert tuple(out.tolist()) == as_words(answer)


def test_substreams_equal_their_twin():
    stream = (0x0123456789ABCDEF, 0xFEDCBA9876543210)
    for number, first, size in [(0, 0, 2), (0, 0, 4096), (5, 6, 30), (2**31, 2**32 - 4, 8)]:
        out = np.empty(size, np.uint64)
        kernels.substream_words(np.array(stream, np.uint64), number, first, out)
        assert out.tolist() == list(islice(exact.substream(stream, number, first), size))


def test_streams_equal_their_twin_and_are_pinned():
    key = (0x0011223344556677, 0x8899AABBCCDDEEFF)
    names = [0, 1, 2**64 - 1]
    out = np.empty(6, np.uint64)
    kernels.derive_streams(np.array(key, np.uint64), 1, np.array(names, np.uint64), out)
    twins = [w for name in names for w in selection.derive_stream(key, 1, name)]
    assert out.tolist() == twins
    assert [hex(w) for w in twins[:2]] == PINNED_STREAM
    assert [hex(w) for w in islice(exact.substream((twins[0], twins[1]), 3), 2)] == PINNED_WORDS


PINNED_STREAM = ["0x66d97e6c13144d94", "0xfcd6247fe4d43d66"]
PINNED_WORDS = ["0x3f1692732dc8b26d", "0x50c85ac84530896a"]


def test_names_in_different_domains_are_different_streams():
    key = (1, 2)
    tags = (streams.ROW, streams.TASK, streams.GROUP)
    numbered = {selection.derive_stream(key, tag, 7) for tag in tags}
    texts = {selection.derive_stream(key, *streams.text_name("7", tag)) for tag in tags}
    assert len(numbered | texts) == 6
    assert all(streams.text_name("7", tag)[0] >= 2**63 > tag for tag in tags)


def test_text_names_are_pinned():
    tag, name = streams.text_name("Zürich", streams.GROUP)
    assert (hex(tag), hex(name)) == PINNED_TEXT


PINNED_TEXT = ("0xe61b76239696deee", "0x40fb54e3b790e45e")


@pytest.mark.slow
@pytest.mark.parametrize("bits", [2, 4])
def test_bounded_integers_are_exactly_uniform_at_reduced_width(bits):
    """Every bound, every word: each value has equally many words (bits a limb, two limbs)."""
    space = 1 << 2 * bits
    mask = (1 << bits) - 1
    every = np.arange(space, dtype=np.uint64)
    limbs = np.empty(2 * space, np.uint64)
    limbs[0::2], limbs[1::2] = every & np.uint64(mask), every >> np.uint64(bits)
    out = np.empty(3 * space, np.uint64)
    for bound in range(1, space):
        kernels.bounded(limbs, bound >> bits, bound & mask, bits, out)
        value = out[0::3].astype(int) << bits | out[1::3].astype(int)
        counted = np.bincount(value[out[2::3] == 1], minlength=bound)
        assert counted.tolist() == [space // bound] * bound
        twins = [exact.below(bound, word, 2 * bits) for word in range(space)]
        kept = [int(v) if c else None for v, c in zip(value, out[2::3], strict=True)]
        assert kept == twins


def test_bounded_integers_equal_their_twin_at_full_width():
    rng = np.random.default_rng(5)
    words = rng.integers(0, 2**64, 400, dtype=np.uint64)
    words[:8] = [0, 0, 2**64 - 1, 2**64 - 1, 0, 2**63, 1, 0]
    out = np.empty(600, np.uint64)
    bounds = [1, 2, 3, 2**50, 2**64 - 1, 2**64, 2**64 + 1, 3 * 2**70 + 5, 2**127 + 1, 2**128 - 1]
    for bound in bounds:
        kernels.bounded(words, bound >> 64, bound & (2**64 - 1), 64, out)
        for i in range(200):
            word = int(words[2 * i + 1]) << 64 | int(words[2 * i])
            value = int(out[3 * i]) << 64 | int(out[3 * i + 1])
            assert (value if out[3 * i + 2] else None) == exact.below(bound, word)


def test_refused_words_are_replaced_by_further_ones():
    words = iter([0, 0, 5, 2**63])  # 0 is refused for a bound that does not divide 2**128
    assert exact.draw_below(3, lambda: next(words)) == 1


class TestKeys:
    def test_seeds_repeat_and_generators_move_on(self):
        for seed in (7, [1, 2], np.random.SeedSequence(9)):
            assert (streams.make_key(seed) == streams.make_key(seed)).all()
        for generator in (np.random.default_rng(3), np.random.PCG64(3), np.random.MT19937(3)):
            first, second = streams.make_key(generator), streams.make_key(generator)
            assert (first != second).all()

    def test_keys_are_pinned(self):
        assert [hex(w) for w in streams.make_key(7).tolist()] == PINNED_KEY
        assert [hex(w) for w in streams.make_key(np.random.PCG64(7)).tolist()] == PINNED_RAW_KEY

    def test_no_seed_means_fresh_keys(self):
        keys = {tuple(streams.make_key(None).tolist()) for _ in range(1000)}
        assert len(keys) == 1000

    @each("bad", ["7", 1.5, True, -1, object(), [1.5], np.random])
    def test_anything_else_is_refused(self, bad):
        with raises("rng of a type"):
            streams.make_key(bad)

    def test_global_state_is_untouched(self):
        before = np.random.get_state()[1].copy()  # noqa: NPY002  (reads what must not change)
        streams.make_key(None)
        streams.make_key(3)
        assert (np.random.get_state()[1] == before).all()  # noqa: NPY002


PINNED_KEY = ["0xead0f7017c326e58", "0x879c4f0f97e037a"]
PINNED_RAW_KEY = ["0xaf266a95f1e54a8b", "0xd56a2742940af962"]


@pytest.mark.parametrize("answer", [b"", b"short", OSError()])
def test_missing_randomness_fails_closed(monkeypatch, answer):
    def urandom(count):
        if isinstance(answer, OSError):
            raise answer
        return answer

    monkeypatch.setattr("os.urandom", urandom)
    with pytest.raises(RandomnessError):
        streams.os_words(2)
