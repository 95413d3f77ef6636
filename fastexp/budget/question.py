"""The public question of a release: all that its promise and the form of its answers depend on."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from .._parameters import validate
from .._parameters.descriptions import encoded, encoded_mechanism
from .._parameters.text import printable
from .._typing import Membership, Neighbors
from ..privacy import Guarantee, sequential, total
from . import answer_text
from .terms import Cost, Terms

FORMAT = 1  # the digest's version; must change if equal questions could get other digests
DOMAIN = b"fastexp.asked"
MOST_ABOUT = 1000  # the most characters of a description
Call: TypeAlias = tuple[int, bool, bool, Membership, int, int]  # as for `privacy.total`


class Question(NamedTuple):
    """A mechanism, the options of a call that change its promise, and how records are read."""

    mechanism: Any
    rows: int = 1  # from here to `max_rows`: a `Call`
    disjoint: bool = False
    groups: bool = False
    membership: Membership = "private"
    max_groups: int = 1
    max_rows: int = 1
    # All else that answers depend on, except the records: text, numbers and tuples of them.
    form: tuple[Any, ...] = ()  # needed if there is a label
    widest: int = answer_text.NUMBER_WIDTH  # most characters of an answer that is not a candidate
    column: str = ""  # the column of the records; "" if it has no name
    grouping: str = ""  # the groups that are answered, in words
    person: str | None = None  # the persons that the limits bound, in words; None: only claimed
    stated: Neighbors | None = None  # the relation of the sensitivity, if the mechanism has none

    @property
    def name(self) -> str:
        """Return the name in the log of a budget."""
        return str(type(self.mechanism).__name__)[: validate.MOST_LABEL]

    @property
    def about(self) -> str:
        """Return the question in words, for the log of a budget."""
        plain = self[1:7] == PLAIN[1:7] and self[9:12] == PLAIN[9:12]
        return printable(self.name) if plain else Questions((self,)).about

    @property
    def guarantee(self) -> Guarantee:
        """Return the promise of one draw."""
        promise: Guarantee = self.mechanism.guarantee
        if self.stated is None or promise.neighbors is not None:
            return promise
        return replace(promise, neighbors=self.stated)

    def promise(self, neighbors: Neighbors | None = None) -> Guarantee:
        """Return the promise of the whole call."""
        return _total(self.guarantee, self[1:7], neighbors)

    def cost(self, terms: Terms) -> Cost:
        """Return the cost of the whole call to a budget."""
        promise = self.guarantee
        if not _is_plain(promise):  # an attribute was changed: check again
            return terms.cost(self.promise(terms.neighbors))
        return _cost(terms, promise, self[1:7])

    def digest(self, promise: Guarantee) -> str:
        """Return BLAKE2b-256 of the question and of the promise that is charged, in hexadecimal."""
        charged = promise.epsilon, promise.rho, promise.delta, promise.neighbors
        text = encoded("", (FORMAT, charged, self[1:5], self[5:7])) + encoded("form", self.form)
        text += encoded_mechanism(self.mechanism)
        return hashlib.blake2b(text, digest_size=32, person=DOMAIN).hexdigest()

    @property
    def width(self) -> int:
        """Return the number of characters of each kept answer."""
        candidates = getattr(self.mechanism, "candidates", None)
        return self.widest if candidates is None else answer_text.widest(candidates)


PLAIN_TYPES = frozenset((float, str, type(None)))
PLAIN = Question(None)  # fields 1 to 6 determine the promise, and with 9 to 11 the words


class Questions(NamedTuple):
    """Several questions about the same records, which are charged together."""

    each: tuple[Question, ...]

    @property
    def name(self) -> str:
        """Return the name in the log of a budget."""
        names = dict.fromkeys(question.name for question in self.each)
        return ", ".join(names)[: validate.MOST_LABEL]

    @property
    def about(self) -> str:
        """Return the questions in words, for the log: a line such as "Median of rent; by city"."""
        first = self.each[0]
        pairs = ((question.name, question.column) for question in self.each)
        subjects = [f"{name} of {column}" if column else name for name, column in pairs]
        rows = "" if first.rows == 1 else f"{first.rows} data sets"
        where = (first.grouping or rows) + ", disjoint" * first.disjoint
        parts = ", ".join(subjects), where, _persons(first)
        text = "; ".join(part for part in parts if part)
        line = printable(text[: MOST_ABOUT + 1])
        return line if len(line) <= MOST_ABOUT else f"{line[: MOST_ABOUT - 3]}..."

    def promise(self, neighbors: Neighbors | None = None) -> Guarantee:
        """Return the promise of all; a promise for both relations is taken for the others'."""
        stated: set[Any] = {question.guarantee.neighbors for question in self.each} - {"both"}
        if neighbors is None and len(self.each) > 1 and len(stated) == 1:
            (neighbors,) = stated
        promises = [question.promise(neighbors) for question in self.each]
        return promises[0] if len(promises) == 1 else sequential(promises)

    def cost(self, terms: Terms) -> Cost:
        """Return the cost of all of them to a budget."""
        return terms.cost(self.promise(terms.neighbors))

    def digest(self, promise: Guarantee) -> str:
        """Return the digest of all of them in their order, and of the promise that is charged."""
        digests = "".join(question.digest(promise) for question in self.each)
        return hashlib.blake2b(digests.encode(), digest_size=32, person=DOMAIN).hexdigest()

    @property
    def width(self) -> int:
        """Return the number of characters of each kept answer."""
        return max(question.width for question in self.each)


def _is_plain(promise: object) -> bool:
    """Return whether a promise has the types of fields that it had when it was checked."""
    if type(promise) is not Guarantee:
        return False
    amounts = promise.epsilon, promise.bounded_range, promise.rho, promise.delta
    words = promise.neighbors, promise.assumes
    return PLAIN_TYPES.issuperset(map(type, amounts + words))


def _total(guarantee: Guarantee, call: Call, neighbors: Neighbors | None) -> Guarantee:
    """Return the promise of a whole call, from that of one draw."""
    rows, disjoint, groups, membership, max_groups, max_rows = call
    return total(
        guarantee,
        rows=rows,
        disjoint=disjoint,
        groups=groups,
        membership=membership,
        max_groups=max_groups,
        max_rows=max_rows,
        neighbors=neighbors,
    )


@lru_cache(maxsize=256)  # arguments are numbers and words only; a loop repeats them
def _cost(terms: Terms, guarantee: Guarantee, call: Call) -> Cost:
    """Return the cost of a whole call to a budget, from the promise of one draw."""
    return terms.cost(_total(guarantee, call, terms.neighbors))


def groups_in_words(count: int) -> str:
    """Return a number of groups in words."""
    return f"{count} group{'s' * (count != 1)}"


def _persons(question: Question) -> str:
    """Return the limits of a person's records in words, and whether they are only claimed."""
    limits = [
        f"{name} {most}"
        for name in ("max_groups", "max_rows")
        if (most := getattr(question, name)) != 1
    ]
    if question.person is not None:
        limits.insert(0, question.person)
    elif limits:
        limits[-1] += " (claimed)"
    return ", ".join(limits + ["public membership"] * (question.membership == "public"))
