"""Is a release key fresh, hidden and repeatable, and do other questions have other digests?"""

from __future__ import annotations

import copy
import hashlib
import itertools
import logging
import os
import pickle
import traceback
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import fastexp as fx
from fastexp import Exponential, ReleaseKey, release_key
from fastexp.errors import ParameterError, ParameterTypeError, RandomnessError
from tests.doors.parameters import encoded
from tests.doors.randomness import query_digest, secret_words, streams
from tests.doors.randomness import release_key as _release_key
from tests.messages import raises, says
from tests.support.each import each

KEY = ReleaseKey.restore(f"fastexp-key-1-{'00' * 31}7f-9edd8448")


class TestWhereItComesFrom:
    def test_fresh_from_the_operating_system(self, monkeypatch):
        asked = []
        monkeypatch.setattr(os, "urandom", lambda n: asked.append(n) or bytes(range(n)))
        assert secret_words(release_key()).tobytes() == bytes(range(32))
        assert asked == [32]

    def test_no_key_without_randomness(self, monkeypatch):
        monkeypatch.setattr(os, "urandom", lambda n: b"\0" * (n - 1))
        with pytest.raises(RandomnessError):
            release_key()

    @each("args", [(), (b"\0" * 32,), ("fastexp-key-1-",), (7,)])
    def test_nobody_chooses_one(self, args):
        with raises("release key called"):
            ReleaseKey(*args)
        with pytest.raises(TypeError):
            release_key(*args or (1,))

    def test_keys_differ_and_equal_only_themselves(self):
        first, second = release_key(), release_key()
        assert first != second
        assert first == ReleaseKey.restore(first.export())
        assert first != first.export()
        assert first != secret_words(first).tobytes()


def shown(key):
    """Every text that a key could end up in by accident."""
    yield from (repr(key), str(key), f"{key}", f"{[key]}", f"{ {'key': key} }")
    yield logging.LogRecord("x", 20, "", 0, "key %s", (key,), None).getMessage()
    for call in (
        lambda: pickle.dumps(key),
        lambda: copy.copy(key),
        lambda: copy.deepcopy([key]),
        lambda: key.__reduce__(),
        lambda: key.__getstate__(),
        lambda: hash(key),
        lambda: setattr(key, "_secret", b"0"),
        lambda: delattr(key, "_secret"),
        lambda: key + 1,
        lambda: bytes(key),
        lambda: ReleaseKey.restore(key.export()[:-1]),
        lambda: ReleaseKey.restore(changed(key.export())),
        lambda: ReleaseKey.restore(key),
        lambda: _release_key.checked_key(key.export()),
    ):
        with pytest.raises((TypeError, ValueError, AttributeError)) as error:
            call()
        yield "".join(traceback.format_exception(error.value))


def changed(text):
    """The text with another last digit of the key."""
    digits = list(text)
    digits[-10] = "0" if digits[-10] != "0" else "1"
    return "".join(digits)


class TestItShowsNowhere:
    def test_in_no_text(self):
        key = release_key()
        secret = key.export().split("-")[3]
        words = [f"{w:x}" for w in secret_words(key).tolist()]
        words += [str(w) for w in secret_words(key).tolist()]
        raw = [repr(secret_words(key).tobytes())[2:-1][:12]]
        for text in shown(key):
            assert not [s for s in (secret[:12], secret[-12:], *words, *raw) if s in text], text

    def test_the_check_sees_one_that_shows(self):
        key = release_key()
        assert key.export().split("-")[3][:12] in key.export()

    def test_it_has_no_dictionary(self):
        assert not hasattr(KEY, "__dict__")

    @each("call", [pickle.dumps, copy.copy, copy.deepcopy])
    def test_copies_are_refused_with_the_way_out(self, call):
        with raises("release key copied"):
            call(KEY)

    def test_it_cannot_be_a_key_of_a_dictionary(self):
        with pytest.raises(TypeError, match="unhashable"):
            {KEY: 1}  # noqa: B018

    def test_it_cannot_be_changed(self):
        with pytest.raises(AttributeError):
            KEY._secret = b""
        with pytest.raises(AttributeError):
            del KEY._secret

    def test_comparing_takes_constant_time(self, monkeypatch):
        asked = []
        monkeypatch.setattr(_release_key.hmac, "compare_digest", lambda *a: asked.append(a) or True)
        assert release_key() == release_key()
        assert len(asked) == 1


class TestExport:
    def test_the_form_is_pinned(self):
        assert KEY.export() == f"fastexp-key-1-{'00' * 31}7f-9edd8448"
        assert secret_words(KEY).tolist() == [0, 0, 0, 0x7F << 56]

    def test_there_and_back(self):
        text = release_key().export()
        assert ReleaseKey.restore(text).export() == text
        assert ReleaseKey.restore(f" {text}\n").export() == text

    def test_every_wrong_digit_is_noticed(self):
        text = KEY.export()
        for i in range(len(text)):
            for digit in "0f-":
                other = text[:i] + digit + text[i + 1 :]
                if other != text:
                    with pytest.raises(ParameterError):
                        ReleaseKey.restore(other)

    @each("text", [None, 7, KEY, KEY.export().encode()])
    def test_other_types_are_refused(self, text):
        with pytest.raises(ParameterTypeError, match=says("text of a release key")):
            ReleaseKey.restore(text)


def test_only_a_key_is_taken_for_one():
    assert _release_key.checked_key(KEY) is KEY
    for other in (None, 7, KEY.export(), np.zeros(4, np.uint64), ReleaseKey):
        with raises("key: release key of a type"):
            _release_key.checked_key(other)


class TestGroupKeys:
    names = np.arange(12, dtype=np.uint64)
    digests = np.arange(100, 112, dtype=np.uint64)
    secret = np.arange(4, dtype=np.uint64)

    def keys(self, **other):
        args = {"secret": self.secret, "names": self.names, "digests": self.digests, **other}
        return _release_key.group_keys(**args).reshape(3, 4)

    def test_that_of_a_question_is_the_keyed_digest(self):
        question = np.arange(7, 11, dtype=np.uint64)
        of_hashlib = hashlib.blake2b(
            question.tobytes(), digest_size=32, key=secret_words(KEY).tobytes()
        )
        assert _release_key.question_key(KEY, question).tobytes() == of_hashlib.digest()

    def test_they_are_the_keyed_digests(self):
        for i, found in enumerate(self.keys()):
            parts = self.names[4 * i : 4 * i + 4], self.digests[4 * i : 4 * i + 4]
            message = b"".join(p.tobytes() for p in parts)
            how = {"digest_size": 32, "key": self.secret.tobytes()}
            assert found.tobytes() == hashlib.blake2b(message, **how).digest()

    @each("what", ["secret", "names", "digests"])
    def test_every_bit_matters(self, what):
        given = getattr(self, what).copy()
        given[3] ^= np.uint64(1 << 63)
        same = (self.keys(**{what: given}) == self.keys()).all(axis=1)
        assert same.tolist() == [False, what != "secret", what != "secret"]

    def test_of_no_group(self):
        none = np.zeros(0, np.uint64)
        assert _release_key.group_keys(self.secret, none, none).size == 0


# Questions that differ: in the class, in a parameter, in its type, or in the label.
DIFFERENT = [
    (fx.Median(1.0, (0, 10)), ""),
    (fx.Median(1.0, (0, 10)), "a"),
    (fx.Median(1.0, (0, 10)), "ab"),
    (fx.Median(1.0, (0, 10)), "\ud800"),
    (fx.Median(2.0, (0, 10)), ""),
    (fx.Median(np.nextafter(1.0, 2.0), (0, 10)), ""),
    (fx.Median(1.0, (0, 11)), ""),
    (fx.Median(1.0, (-1, 10)), ""),
    (fx.Median(1.0, (0, 10), step=1), ""),
    (fx.Median(1.0, (0, 10), step=2), ""),
    (fx.Median(1.0, (0, 10), step=1.0), ""),  # answers are floats
    (fx.Median(1.0, (0, 10), step=1, neighbors="replace"), ""),
    (fx.Median(1.0, (0, 10), step=1, convention="lower"), ""),
    (fx.Median(1.0, (0, 10), step=1, widen=1), ""),
    (fx.Median(1.0, (0, 10), grid=[0, 1, 5]), ""),
    (fx.Median(1.0, (0, 10), grid=[0, 1, 6]), ""),
    (fx.Median(1.0, (0, 10), grid=[0.0, 1.0, 5.0]), ""),
    (fx.Median(1.0, (0, 10), grid=[0, 1, 5, 6]), ""),
    (fx.Quantile(0.5, 1.0, (0, 10)), ""),
    (fx.Quantile(0.1, 1.0, (0, 10)), ""),
    (fx.Exponential(1.0, 0.1), ""),
    (fx.Maximum(1.0, (0, 10)), ""),
    (fx.Mode(1.0, (0, 10)), ""),
    (fx.OrderStatistic(1, 1.0, (0, 10)), ""),
    (fx.OrderStatistic(10, 1.0, (0, 10)), ""),
    (fx.Price(1.0, (0, 10)), ""),
    (fx.Price(1.0, (0, 10), scaling="textbook"), ""),
    (fx.Laplace(1.0, 1, step=1), ""),
    (fx.Laplace(1.0, 1, step=0.5), ""),
    (fx.Laplace(1.0, 1, step=1, bounds=(0, 1)), ""),
    (fx.Laplace(1.0, 1, step=1, bounds=(0, 2)), ""),
    (fx.MostCommon(1.0, ["a", "b"]), ""),
    (fx.MostCommon(1.0, ["ab", ""]), ""),
    (fx.MostCommon(1.0, ["b", "a"]), ""),
    (fx.MostCommon(1.0, ["a", "b", None]), ""),
    (fx.MostCommon(1.0, ["a", "b", "None"]), ""),
    (fx.MostCommon(1.0, ["a", ("b",)]), ""),
    (fx.MostCommon(1.0, [("a", "b"), ""]), ""),
    (fx.MostCommon(1.0, [b"a", "b"]), ""),
    (fx.MostCommon(1.0, [1, 2]), ""),
    (fx.MostCommon(1.0, ["1", "2"]), ""),
    (fx.MostCommon(1.0, [True, 2]), ""),
    (fx.MostCommon(1.0, [-1, 2]), ""),
    (fx.MostCommon(1.0, [2**70, 2]), ""),
    (fx.MostCommon(1.0, [0.1, 2]), ""),
    (fx.MostCommon(1.0, [Decimal("0.1"), 2]), ""),
    (fx.MostCommon(1.0, [float("inf"), 2]), ""),
    (fx.MostCommon(1.0, [float("-inf"), 2]), ""),
    (fx.MostCommon(1.0, [np.float32(0.1), 2]), ""),
    (fx.MostCommon(1.0, [np.float16(0.1), 2]), ""),
    (fx.Exponential(1.0, 1.0), ""),
    (fx.Exponential(1.0, 1.0, monotonic=True), ""),
    (fx.Exponential(1.0, 1.0, base=[1, 2]), ""),
    (fx.Exponential(1.0, 1.0, base=[2, 1]), ""),
    (fx.Exponential(1.0, 0.5), ""),
    (fx.PermuteAndFlip(1.0, 1.0), ""),
    (fx.RandomizedResponse(1.0), ""),
    (type("Exponential", (Exponential,), {"__module__": "theirs.exponential"})(1.0, 1.0), ""),
]
# Questions that are the same, however they are written.
EQUAL = [
    (fx.Median(1.0, (0, 10)), fx.Median(1, (0, 10))),
    (fx.Median(1.0, (0, 10)), fx.Median(np.float64(1.0), (0, 10), any_epsilon=True)),
    (fx.Median(1.0, (0, 1), step=0.1), fx.Median(1.0, (0, 1.0), step=Decimal("0.1"))),
    (fx.Median(1.0, (0, 9), grid=[0, 1]), fx.Median(1.0, (0, 7), grid=np.array([0, 1], np.uint8))),
    (fx.Quantile(0.5, 1.0, (0, 1)), fx.Quantile(Decimal("0.50"), 1.0, (0, 1))),
    (fx.Quantile(Decimal("0.1"), 1.0, (0, 1)), fx.Quantile(Fraction(1, 10), 1.0, (0, 1))),
    (fx.Exponential(1.0, 2), fx.Exponential(1.0, 2.0)),
    (fx.MostCommon(1.0, ["a", 1]), fx.MostCommon(1.0, (np.str_("a"), np.int8(1)))),
    (fx.MostCommon(1.0, [True, "b"]), fx.MostCommon(1.0, [np.bool_(True), "b"])),
    (fx.MostCommon(1.0, [float("inf"), 1]), fx.MostCommon(1.0, [Decimal("Infinity"), 1])),
]


class TestQueryDigests:
    def test_other_questions_have_other_digests(self):
        seen = {}
        for number, (mechanism, label) in enumerate(DIFFERENT):
            other = seen.setdefault(query_digest(mechanism, label).tobytes(), number)
            assert other == number, (DIFFERENT[other], DIFFERENT[number])

    @each(("one", "two"), EQUAL, ids=lambda m: repr(m)[:40])
    def test_the_same_question_has_the_same_digest(self, one, two):
        assert query_digest(one, "x").tolist() == query_digest(two, "x").tolist()

    def test_it_is_pinned(self):
        found = query_digest(fx.Median(1.0, (0, 10), step=1), "rents")
        assert found.tobytes().hex() == PINNED

    def test_with_another_format_every_digest_differs(self, monkeypatch):
        before = query_digest(fx.Median(1.0, (0, 10)))
        monkeypatch.setattr(_release_key, "FORMAT", _release_key.FORMAT + 1)
        assert (query_digest(fx.Median(1.0, (0, 10))) != before).any()

    def test_digests_of_texts_have_a_domain_of_their_own(self):
        persons = {_release_key.QUERY, _release_key.CHECK, *streams.PERSON.values()}
        assert len(persons) == 2 + len(streams.PERSON)

    @each("label", [None, 7, b"x", ["x"]])
    def test_labels_are_text(self, label):
        with raises("label of a type"):
            query_digest(fx.Median(1.0, (0, 10)), label)

    @each("mechanism", [None, 7, fx.Median, "Median"])
    def test_mechanisms_are_fastexps(self, mechanism):
        with raises("mechanism of a key"):
            query_digest(mechanism)

    @each(
        "candidate",
        [
            frozenset({7341}),
            np.datetime64(7341, "ns"),
            np.timedelta64(7341, "ns"),
            type("Text", (str,), {})("7341"),
            type("Whole", (int,), {})(7341),
            complex(7341),
            ("a", (frozenset({7341}),)),
        ],
        ids=lambda c: type(c).__name__,
    )
    def test_other_candidates_are_refused_by_type(self, candidate):
        with raises("candidates: values that a label can name") as error:
            query_digest(fx.MostCommon(1.0, [candidate, "b"]))
        assert "7341" not in str(error.value)

    def test_bounds_count_where_there_is_no_grid(self):
        @dataclass(frozen=True)
        class Theirs:
            bounds: tuple[int, int]
            grid: None = None

        assert (query_digest(Theirs((0, 1))) != query_digest(Theirs((0, 2)))).any()

    def test_a_score_function_is_refused(self):
        scored = fx.Exponential.from_score(
            lambda data, r: 0.0, ["a", "b"], epsilon=1.0, sensitivity=1.0
        )
        with raises("score: values that a label can name"):
            query_digest(scored)


PINNED = "97135bc2e83f2db45af1705e087fcb67d87061c98fc8e23d02e52a623fd8511d"


def test_encodings_of_sequences_can_be_read_one_way_only():
    """All lists of short texts, nested or not: no two have the same bytes."""
    texts = ["", "a", "b", "ab", "t", "\0", "s\1"]
    lists = [c for n in range(4) for c in itertools.product(texts, repeat=n)]
    lists += [(a, b) for a in lists[:60] for b in lists[:60]]
    found = {encoded("x", value) for value in lists}
    assert len(found) == len(set(lists))
