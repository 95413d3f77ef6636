"""Release keys: with one, the same question about the same records has one answer.

The words of a group's draw are a function of the key, the query, the group's name and a digest
of its records. The key is secret: whoever has it can replay every draw.
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
# Of what a draw does with its words. With another number all answers are drawn afresh: it must
# change whenever equal words could give another answer to an equal query.
FORMAT = 3
NO_KEY = np.zeros(0, np.uint64)


class ReleaseKey:
    """A secret of 256 bits that makes a retry repeat its answers; `release_key` makes one.

    Parameters
    ----------
    None
        It cannot be called: use `release_key`, or `ReleaseKey.restore` for an exported key.

    Notes
    -----
    **Privacy**: to everybody who does not have the key, answers are as if drawn from the
    operating system's randomness (BLAKE2b and ChaCha20 as pseudo-random functions). To
    whoever has it they are not private at all: keep it as you would keep the records, and
    never choose one. It cannot be copied, pickled, hashed or printed, so that it ends up
    nowhere by accident; `export` is the one way out. It never changes, so threads and forked
    children may share it. Its memory is not wiped.

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
    # A hash would tell of it, or tell equal keys apart.
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
        """Whether both are the same key, in a time that tells nothing of them."""
        if not isinstance(other, ReleaseKey):
            return NotImplemented
        return hmac.compare_digest(self._secret, other._secret)

    def __setattr__(self, _name: str, _value: object) -> NoReturn:
        raise AttributeError("a ReleaseKey cannot be changed")

    def __delattr__(self, _name: str) -> NoReturn:
        raise AttributeError("a ReleaseKey cannot be changed")

    def __reduce_ex__(self, _protocol: object) -> NoReturn:  # copy, deepcopy and pickle
        raise ParameterTypeError(
            "a ReleaseKey is not copied or pickled by accident: ship key.export() where it is "
            "kept secret, and ReleaseKey.restore(text) there"
        )

    def __reduce__(self) -> NoReturn:
        self.__reduce_ex__(0)

    def __getstate__(self) -> NoReturn:
        self.__reduce_ex__(0)

    def export(self) -> str:
        """The key as text, with a checksum, for a place where it is kept secret.

        Returns
        -------
        str
            ``fastexp-key-1-`` and 64 hexadecimal digits, ``-`` and 8 more against typing
            errors. Whoever reads it can replay every draw.
        """
        return f"fastexp-key-1-{self._secret.hex()}-{_checksum(self._secret)}"

    @classmethod
    def restore(cls, text: object) -> ReleaseKey:
        """The key that `export` wrote.

        Parameters
        ----------
        text : str
            As `export` gave it; space around it does not matter.

        Returns
        -------
        ReleaseKey

        Raises
        ------
        ParameterTypeError, ParameterError
            If it is not text, has another form, or a wrong digit. Messages do not repeat it.
        """
        if not isinstance(text, str):
            kind = type(text).__name__
            raise ParameterTypeError(f"text must be what ReleaseKey.export() gave, got {kind}")
        parts = EXPORTED.fullmatch(text.strip())
        if parts is None:
            raise ParameterError("text must be what ReleaseKey.export() gave, got another form")
        if not hmac.compare_digest(_checksum(bytes.fromhex(parts[1])), parts[2]):
            raise ParameterError(
                "text must be what ReleaseKey.export() gave: its checksum is wrong"
            )
        return _key_of(bytes.fromhex(parts[1]))


def release_key() -> ReleaseKey:
    """A fresh key, from the operating system, with which a retry repeats its answers.

    With `key=` a release of the same mechanism, label and group gives the same answer as long
    as the group's records are the same (in any order, as grid points or candidates), in every
    engine and in every retry; for changed records it is drawn afresh. Without a key each call
    is a new release, and must be paid for anew.

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
    **Privacy**: the guarantee of the release, but computational: towards everybody who does not
    have the key.

    **A key is for retries, not for the next day**: if two answers under one key and label differ,
    so do the group's records, whatever epsilon is, as equal records have equal answers. Where it is
    private that anything changed, make a new key whenever the data may have changed, and pay anew:
    then these releases add up like all others.

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
    """`value`, if it is a release key."""
    if not isinstance(value, ReleaseKey):
        kind = type(value).__name__
        raise ParameterTypeError(f"{argument} must come from fastexp.release_key(), got {kind}")
    return value


def secret_words(key: ReleaseKey) -> WordArray:
    """The key as four words, for kernels."""
    return np.frombuffer(key._secret, UINT64)


def question_key(key: ReleaseKey, question: WordArray) -> WordArray:
    """The key of one question, 4 words: keyed BLAKE2b-256 of its digest (`query_digest`).

    An engine's workers get this one: it answers no other question, and does not tell the key.
    """
    return digests_of(question.reshape(1, 4), secret_words(key))


def group_keys(secret: WordArray, names: WordArray, digests: WordArray) -> WordArray:
    """Each group's own key, 4 words: BLAKE2b-256 of name and digest under the key of a question.

    names, digests: 4 words a group.
    """
    message = np.hstack([names.reshape(-1, 4), digests.reshape(-1, 4)])
    return digests_of(message, secret)


def digests_of(messages: WordArray, secret: WordArray = NO_KEY) -> WordArray:
    """BLAKE2b-256 of each row of words, flat: 4 words a row."""
    rows, size = messages.shape
    offsets = np.arange(rows + 1, dtype=np.int64) * size
    flat = np.ascontiguousarray(messages).reshape(-1).view(np.int64)
    return segment_digests(flat, offsets, secret)


def segment_digests(mapped: IntArray, offsets: IntArray, secret: WordArray = NO_KEY) -> WordArray:
    """BLAKE2b-256 of each segment, 4 words each; with a secret no segment is empty."""
    out = np.empty(4 * (offsets.size - 1), np.uint64)
    digest_segments(mapped, offsets, secret, out, np.empty(WORK, np.uint64))
    return out


def query_digest(mechanism: object, label: object = "", rule: str = "") -> WordArray:
    """What a mechanism and a label ask, as 4 words: other questions have other ones.

    `rule` says which records count (`grouped/request.py`): under another rule equal records
    must not have equal words, or the answers would tell that the rule made no difference.

    BLAKE2b-256 of an encoding from which all of them can be read again, so that only a
    collision could give two questions one digest.
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
