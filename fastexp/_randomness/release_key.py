"""Release keys: with a key, the same question about the same records has the same answer.

The random words of a group are a function of the key, the query, the name of the group and a digest
of its records. The key is secret: anybody who has it can replay every draw.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from typing import ClassVar, NoReturn

import numpy as np

from .._parameters.descriptions import encoded, encoded_mechanism
from .._typing import IntArray, WordArray
from ..errors import ParameterError, ParameterTypeError
from ..kernels.groups.blake2b import WORK, digest_segments
from .streams import UINT64, _os_bytes

KEY_BYTES = 32
EXPORTED = re.compile(r"fastexp-key-1-([0-9a-f]{64})-([0-9a-f]{8})", re.ASCII)
QUERY, CHECK = b"fastexp.query", b"fastexp.check"  # domains of BLAKE2b
# The version of how draws use random words. It must change whenever equal words could give another
# answer to an equal query; all answers are then drawn afresh.
FORMAT = 3
NO_KEY = np.zeros(0, np.uint64)


class ReleaseKey:
    """A secret of 256 bits with which a retry repeats its answers; made by `release_key`.

    Parameters
    ----------
    None
        The class cannot be called: use `release_key`, or `ReleaseKey.restore` for an exported key.

    Notes
    -----
    **Privacy**: for anybody without the key, answers are as if drawn from the randomness of the
    operating system (BLAKE2b and ChaCha20 as pseudo-random functions). For anybody with the key,
    they are not private at all: protect it like the records, and never choose a key yourself. It
    cannot be copied, pickled, hashed or printed, so that it does not leak by accident; only
    `export` returns it. It never changes, so that threads and forked children may share it. Its
    memory is not wiped.

    References
    ----------
    Aumasson, Neves, Wilcox-O'Hearn and Winnerlein, "BLAKE2: simpler, smaller, fast as MD5",
    ACNS 2013 (RFC 7693). Nir and Langley, "ChaCha20 and Poly1305 for IETF protocols", RFC
    8439 (2018).

    Examples
    --------
    >>> import fastexp as fx
    >>> key = fx.release_key()
    >>> key
    ReleaseKey(<hidden>)
    >>> fx.ReleaseKey.restore(key.export()) == key
    True
    """

    __slots__ = ("_secret",)
    _secret: bytes
    # A hash would reveal the key, or differ between equal keys.
    __hash__: ClassVar[None] = None  # type: ignore[assignment]  # how Python unhashes

    def __init__(self, *_args: object, **_named: object) -> None:
        raise ParameterTypeError(
            "ReleaseKey cannot be called: use fastexp.release_key() or ReleaseKey.restore(text)"
        )

    def __init_subclass__(cls, **_named: object) -> None:
        raise ParameterTypeError("ReleaseKey cannot be subclassed")

    def __repr__(self) -> str:
        return "ReleaseKey(<hidden>)"

    def __eq__(self, other: object) -> bool:
        """Return whether both keys are equal, in a time that does not depend on them."""
        if not isinstance(other, ReleaseKey):
            return NotImplemented
        return hmac.compare_digest(self._secret, other._secret)

    def __setattr__(self, _name: str, _value: object) -> NoReturn:
        raise AttributeError("a ReleaseKey cannot be changed")

    def __delattr__(self, _name: str) -> NoReturn:
        raise AttributeError("a ReleaseKey cannot be changed")

    def __reduce_ex__(self, _protocol: object) -> NoReturn:  # copy, deepcopy and pickle
        raise ParameterTypeError(
            "a ReleaseKey cannot be copied or pickled, so that it does not leak by accident: send "
            "key.export() over a secret channel, and call ReleaseKey.restore(text) on the other "
            "side"
        )

    def __reduce__(self) -> NoReturn:
        self.__reduce_ex__(0)

    def __getstate__(self) -> NoReturn:
        self.__reduce_ex__(0)

    def export(self) -> str:
        """Return the key as text with a checksum; keep the text secret.

        Returns
        -------
        str
            ``fastexp-key-1-``, 64 hexadecimal digits, ``-`` and 8 more digits against typing
            errors. Anybody who reads it can replay every draw.
        """
        return f"fastexp-key-1-{self._secret.hex()}-{_checksum(self._secret)}"

    @classmethod
    def restore(cls, text: object) -> ReleaseKey:
        """Return the key of a text that `export` returned.

        Parameters
        ----------
        text : str
            As `export` returned it; space around it is ignored.

        Returns
        -------
        ReleaseKey

        Raises
        ------
        ParameterTypeError, ParameterError
            If it is not text, has another form, or a wrong digit. Messages do not contain it.
        """
        if not isinstance(text, str):
            kind = type(text).__name__
            raise ParameterTypeError(f"text must come from ReleaseKey.export(), got {kind}")
        parts = EXPORTED.fullmatch(text.strip())
        if parts is None:
            raise ParameterError("text must come from ReleaseKey.export(), got another form")
        if not hmac.compare_digest(_checksum(bytes.fromhex(parts[1])), parts[2]):
            raise ParameterError("text must come from ReleaseKey.export(): its checksum is wrong")
        return _key_of(bytes.fromhex(parts[1]))


def release_key() -> ReleaseKey:
    """Return a fresh key from the operating system, with which a retry repeats its answers.

    With `key=`, a release of the same mechanism, label and group gives the same answer as long as
    the records of the group are the same (in any order, as grid points or candidates), in every
    engine and in every retry. For changed records it is drawn afresh. Without a key each call is a
    new release, which costs epsilon again.

    Returns
    -------
    ReleaseKey
        256 bits from `os.urandom`; there is no seed.

    Raises
    ------
    RandomnessError
        If the operating system gives no randomness.

    Notes
    -----
    **Privacy**: the guarantee of the release, but computational, and only against those who do not
    have the key.

    **A key is for retries only, not for data that may have changed**: equal records have equal
    answers, so that two different answers under one key and label reveal that the records of the
    group differ, for any epsilon. If it is private whether the data changed, make a new key
    whenever they may have changed. The epsilons of these releases then add up as usual.

    Examples
    --------
    >>> import fastexp as fx
    >>> fx.release_key() == fx.release_key()
    False
    >>> len(fx.release_key().export())
    87
    """
    return _key_of(_os_bytes(KEY_BYTES))


def checked_key(value: object, argument: str = "key") -> ReleaseKey:
    """Return `value` if it is a release key."""
    if not isinstance(value, ReleaseKey):
        kind = type(value).__name__
        raise ParameterTypeError(f"{argument} must come from fastexp.release_key(), got {kind}")
    return value


def secret_words(key: ReleaseKey) -> WordArray:
    """Return the key as four words, for kernels."""
    return np.frombuffer(key._secret, UINT64)


def question_key(key: ReleaseKey, question: WordArray) -> WordArray:
    """Return the key of one question, 4 words: keyed BLAKE2b-256 of its digest (`query_digest`).

    Workers of an engine get this key: it answers no other question, and does not reveal the
    release key.
    """
    return digests_of(question.reshape(1, 4), secret_words(key))


def group_keys(secret: WordArray, names: WordArray, digests: WordArray) -> WordArray:
    """Return the key of each group, 4 words: BLAKE2b-256 of name and digest, keyed by the question.

    names, digests: 4 words for each group.
    """
    message = np.hstack([names.reshape(-1, 4), digests.reshape(-1, 4)])
    return digests_of(message, secret)


def digests_of(messages: WordArray, secret: WordArray = NO_KEY) -> WordArray:
    """Return BLAKE2b-256 of each row of words, as a flat array of 4 words for each row."""
    rows, size = messages.shape
    offsets = np.arange(rows + 1, dtype=np.int64) * size
    flat = np.ascontiguousarray(messages).reshape(-1).view(np.int64)
    return segment_digests(flat, offsets, secret)


def segment_digests(mapped: IntArray, offsets: IntArray, secret: WordArray = NO_KEY) -> WordArray:
    """Return BLAKE2b-256 of each segment, 4 words each; with a secret no segment may be empty."""
    out = np.empty(4 * (offsets.size - 1), np.uint64)
    digest_segments(mapped, offsets, secret, out, np.empty(WORK, np.uint64))
    return out


def query_digest(mechanism: object, label: object = "", rule: str = "") -> WordArray:
    """Return the digest of the question of a mechanism and a label, 4 words.

    `rule` says which records count (`grouped/request.py`). Under another rule, equal records must
    not have equal words, or the answers would reveal that the rule made no difference.

    It is BLAKE2b-256 of an encoding that determines all three, so that only a collision could give
    two questions the same digest.
    """
    if not isinstance(label, str):
        raise ParameterTypeError(f"label must be text, got {type(label).__name__}")
    question = encoded("", FORMAT) + encoded("label", label) + encoded("", rule)
    question += encoded_mechanism(mechanism)
    return np.frombuffer(hashlib.blake2b(question, digest_size=32, person=QUERY).digest(), UINT64)


def _key_of(secret: bytes) -> ReleaseKey:
    key = object.__new__(ReleaseKey)
    object.__setattr__(key, "_secret", secret)
    return key


def _checksum(secret: bytes) -> str:
    return hashlib.blake2b(secret, digest_size=4, person=CHECK).hexdigest()
