"""The question of a release, which is public: what its promise and its answers' form depend on."""

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

FORMAT = 1  # of the digest: it must change whenever equal questions could have other digests
DOMAIN = b"fastexp.asked"
MOST_ABOUT = 1000  # characters of a description
Call: TypeAlias = tuple[int, bool, bool, Membership, int, int]  # as of `privacy.total`


class Question(NamedTuple):
    """A mechanism, what a call makes of its promise, and how records are read."""

    mechanism: Any
    rows: int = 1  # from here to `max_rows`: a `Call`
    disjoint: bool = False
    groups: bool = False
    membership: Membership = "private"
    max_groups: int = 1
    max_rows: int = 1
    # What else the answers depend on, but for the records: text, numbers and tuples of them.
    form: tuple[Any, ...] = ()  # needed where there is a label
    widest: int = answer_text.NUMBER  # characters of an answer that is no number or candidate
    column: str = ""  # of the records; "" where it has no name
    grouping: str = ""  # which groups are answered, in words
    person: str | None = None  # who is bounded by the limits, in words; None: they are a claim
    stated: Neighbors | None = None  # the relation of the sensitivity, if the mechanism knows none

    @property
    def name(self) -> str:
        """What a budget calls it."""
        return str(type(self.mechanism).__name__)[: validate.MOST_LABEL]

    @property
    def about(self) -> str:
        """The question in words, for a budget's log."""
        plain = self[1:7] == PLAIN[1:7] and self[9:12] == PLAIN[9:12]
        return printable(self.name) if plain else Questions((self,)).about

    @property
    def guarantee(self) -> Guarantee:
        """What one draw promises."""
        promise: Guarantee = self.mechanism.guarantee
        if self.stated is None or promise.neighbors is not None:
            return promise
        return replace(promise, neighbors=self.stated)

    def promise(self, neighbors: Neighbors | None = None) -> Guarantee:
        """What the whole call promises."""
        return _total(self.guarantee, self[1:7], neighbors)

    def cost(self, terms: Terms) -> Cost:
        """What the whole call costs a budget."""
        promise = self.guarantee
        if not _is_plain(promise):  # written to: it is checked anew, and refused or read
            return terms.cost(self.promise(terms.neighbors))
        return _cost(terms, promise, self[1:7])

    def digest(self, promise: Guarantee) -> str:
        """BLAKE2b-256 of all of it, and of the promise that is charged, as hexadecimal digits."""
        charged = promise.epsilon, promise.rho, promise.delta, promise.neighbors
        text = encoded("", (FORMAT, charged, self[1:5], self[5:7])) + encoded("form", self.form)
        text += encoded_mechanism(self.mechanism)
        return hashlib.blake2b(text, digest_size=32, person=DOMAIN).hexdigest()

    @property
    def width(self) -> int:
        """How many characters each answer is kept with."""
        candidates = getattr(self.mechanism, "candidates", None)
        return self.widest if candidates is None else answer_text.widest(candidates)


PLAIN_TYPES = frozenset((float, str, type(None)))
PLAIN = Question(None)  # its first fields make the promise, its last ones but one the words


class Questions(NamedTuple):
    """Several questions about the same records, which are charged together."""

    each: tuple[Question, ...]

    @property
    def name(self) -> str:
        """What a budget calls them."""
        names = dict.fromkeys(question.name for question in self.each)
        return ", ".join(names)[: validate.MOST_LABEL]

    @property
    def about(self) -> str:
        """The questions in words, for a budget's log: a line, as "Median of rent; by city"."""
        first = self.each[0]
        named = ((question.name, question.column) for question in self.each)
        subjects = [f"{name} of {column}" if column else name for name, column in named]
        rows = "" if first.rows == 1 else f"{first.rows} data sets"
        where = (first.grouping or rows) + ", disjoint" * first.disjoint
        parts = ", ".join(subjects), where, _persons(first)
        text = "; ".join(part for part in parts if part)
        line = printable(text[: MOST_ABOUT + 1])
        return line if len(line) <= MOST_ABOUT else f"{line[: MOST_ABOUT - 3]}..."

    def promise(self, neighbors: Neighbors | None = None) -> Guarantee:
        """What they promise together: a promise for both relations is taken for the others'."""
        stated: set[Any] = {question.guarantee.neighbors for question in self.each} - {"both"}
        if neighbors is None and len(self.each) > 1 and len(stated) == 1:
            (neighbors,) = stated
        promises = [question.promise(neighbors) for question in self.each]
        return promises[0] if len(promises) == 1 else sequential(promises)

    def cost(self, terms: Terms) -> Cost:
        """What they cost a budget together."""
        return terms.cost(self.promise(terms.neighbors))

    def digest(self, promise: Guarantee) -> str:
        """The digest of all of them in their order, and of the promise that is charged."""
        digests = "".join(question.digest(promise) for question in self.each)
        return hashlib.blake2b(digests.encode(), digest_size=32, person=DOMAIN).hexdigest()

    @property
    def width(self) -> int:
        """How many characters each answer is kept with."""
        return max(question.width for question in self.each)


def _is_plain(promise: object) -> bool:
    """Whether it is a promise whose fields are what they were when it was checked, by type."""
    if type(promise) is not Guarantee:
        return False
    amounts = promise.epsilon, promise.bounded_range, promise.rho, promise.delta
    words = promise.neighbors, promise.assumes
    return PLAIN_TYPES.issuperset(map(type, amounts + words))


def _total(guarantee: Guarantee, call: Call, neighbors: Neighbors | None) -> Guarantee:
    """What a promise is for a whole call."""
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


@lru_cache(maxsize=256)  # of numbers and words alone: a loop asks the same again
def _cost(terms: Terms, guarantee: Guarantee, call: Call) -> Cost:
    """What a promise costs a budget, for a whole call."""
    return terms.cost(_total(guarantee, call, terms.neighbors))


def groups_in_words(count: int) -> str:
    """A number of groups in words."""
    return f"{count} group{'s' * (count != 1)}"


def _persons(question: Question) -> str:
    """Whose contribution is bounded, and how: by the call, or as its caller claims."""
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
