"""Names of groups: distinct integers or texts in an order, and the place of a row's key there."""

from __future__ import annotations

import hashlib
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from . import _key_tables
from ._key_columns import Coded, Integers, Objects, Rows, Text, Wide, bytes_of
from ._randomness import GROUP, UINT64, text_name
from ._typing import AnyArray, IntArray, WordArray

PERSON = b"fastexp.name"
NAME_WORDS = 4
INTEGER_NAME = 1  # the first word of an integer's name
NUMBER, WHOLE = 2, 3  # of a row that has only its number; of all records together
CHARACTER = 4  # bytes of one, in NumPy's arrays of texts


class Names:
    """Distinct keys in an order: the public list of groups, or what `distinct` found.

    Parameters
    ----------
    integers : ndarray of int64, shape (size,), optional
        Distinct integers; None if the keys are texts.
    texts : tuple of str, optional
        Distinct texts; None if the keys are integers.
    kind : int
        What integers are: names, numbers of rows without a name, or all records together.
    """

    def __init__(
        self,
        integers: IntArray | None,
        texts: tuple[str, ...] | None = None,
        kind: int = INTEGER_NAME,
    ) -> None:
        self._kind = kind
        self.integers = integers
        self.texts = texts
        self.text = texts is not None
        self.size: int = len(texts) if texts is not None else self._whole.size
        self._wide: dict[int, _key_tables.TextTable] = {}

    @property
    def _whole(self) -> IntArray:
        return np.zeros(0, np.int64) if self.integers is None else self.integers

    def labels(self) -> list[Any]:
        """The keys as Python integers or strings, in order."""
        return self._whole.tolist() if self.texts is None else list(self.texts)

    @cached_property
    def utf8(self) -> tuple[AnyArray, IntArray]:
        """(bytes, offsets) of the texts in UTF-8."""
        parts = [text.encode() for text in self.texts or ()]
        offsets = np.zeros(len(parts) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, parts), np.int64, len(parts)), out=offsets[1:])
        return np.frombuffer(b"".join(parts), np.uint8), offsets

    def name_words(self) -> WordArray:
        """What keys are called in digests: four words each, different for different keys.

        Returns
        -------
        ndarray of uint64, shape (size, 4)
            Of integers: their kind, the integer modulo 2**64, 0, 0. Of texts: the words, little end
            first, of their BLAKE2b-256 under the domain `fastexp.name`.
        """
        if self.texts is None:
            words = np.zeros((self.size, NAME_WORDS), np.uint64)
            words[:, 0], words[:, 1] = self._kind, self._whole.view(np.uint64)
            return words
        values, offsets = self.utf8
        data, ends = values.tobytes(), offsets.tolist()
        digests = [
            hashlib.blake2b(data[a:b], digest_size=32, person=PERSON).digest()
            for a, b in pairwise(ends)
        ]
        return np.frombuffer(b"".join(digests), UINT64).reshape(self.size, NAME_WORDS)

    def streams(self) -> tuple[WordArray, WordArray]:
        """(tags, names) of the keys' streams of random words, each of shape (size,)."""
        if self.texts is None:
            return np.full(self.size, GROUP, np.uint64), self._whole.view(np.uint64)
        pairs = [text_name(text, GROUP) for text in self.texts]
        found = np.array(pairs, np.uint64).reshape(self.size, 2)
        return found[:, 0].copy(), found[:, 1].copy()

    @cached_property
    def _places(self) -> dict[Any, int]:
        return {label: i for i, label in enumerate(self.labels())}

    @cached_property
    def _integer_table(self) -> _key_tables.IntegerTable:
        return _key_tables.table_of(self._whole)

    @cached_property
    def _text_table(self) -> _key_tables.TextTable:
        return _key_tables.TextTable(*self.utf8, np.arange(self.size))

    def _wide_table(self, width: int) -> _key_tables.TextTable:
        """The texts as NumPy holds them in arrays of `width` characters, where it can."""
        if width not in self._wide:
            texts = self.texts or ()
            fits = [i for i, t in enumerate(texts) if len(t) <= width and t[-1:] != "\0"]
            values = bytes_of(np.array([texts[i] for i in fits], f"<U{width}"))
            offsets = np.arange(len(fits) + 1) * (width * CHARACTER)
            self._wide[width] = _key_tables.TextTable(values, offsets, np.array(fits, np.int64))
        return self._wide[width]

    def fill(self, rows: Rows, out: IntArray) -> None:
        """out[i] = the place of row i's key, -1 if there is none."""
        if isinstance(rows, Coded):
            codes = np.concatenate([self.codes(part) for part in rows.child])
            _key_tables.by_place(codes).fill(rows.values, out)
        elif isinstance(rows, Objects):
            places = self._places
            out[:] = np.fromiter((places.get(x, -1) for x in rows.values), np.int64, rows.length)
        elif self.text and isinstance(rows, Text):
            self._text_table.fill(rows.values, rows.offsets, out)
        elif self.text and isinstance(rows, Wide):
            width = rows.values.dtype.itemsize
            offsets = np.arange(rows.length + 1) * width
            self._wide_table(width // CHARACTER).fill(bytes_of(rows.values), offsets, out)
        elif isinstance(rows, Integers):
            self._integer_table.fill(rows.values, out)
        else:
            out[:] = -1  # an empty list has no kind
        if rows.valid is not None:
            np.copyto(out, -1, where=~rows.valid)

    def codes(self, rows: Rows) -> IntArray:
        """As `fill`, to a new array."""
        out = np.empty(rows.length, np.int64)
        self.fill(rows, out)
        return out
