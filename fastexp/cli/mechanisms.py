"""``--mechanism``: which mechanism answers, over counted records or over utilities."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .errors import UserMistake

if TYPE_CHECKING:
    from ..laws.finite import FiniteLaw
    from ..privacy import Guarantee

EXPONENTIAL, FLIP, TOP_K = "exponential", "permute-and-flip", "top-k"
NAMES = (EXPONENTIAL, FLIP, TOP_K)


def check(options: Namespace) -> None:
    """Refuse options that belong to another mechanism.

    Parameters
    ----------
    options : Namespace
        Of the command ``select``.

    Raises
    ------
    UserMistake
    """
    if options.mechanism == TOP_K:
        if options.k is None:
            raise UserMistake("--mechanism top-k needs --k: how many candidates are selected")
    else:
        for name in ("k", "delta"):
            if getattr(options, name) is not None:
                raise UserMistake(f"--{name} belongs to --mechanism top-k")


def scoring(options: Namespace, candidates: tuple[Any, ...], **how: Any) -> Any:
    """The mechanism over utilities; `how` is sensitivity and monotonic."""
    from .. import Exponential, PermuteAndFlip, TopK

    how |= {"candidates": candidates, "any_epsilon": options.any_epsilon}
    if options.mechanism == TOP_K:
        return TopK(options.k, options.epsilon, delta=options.delta or 0.0, **how)
    if options.mechanism == FLIP:
        return PermuteAndFlip(options.epsilon, **how)
    return Exponential(options.epsilon, **how)


def counting(options: Namespace, candidates: tuple[Any, ...]) -> Any:
    """The mechanism over how many records have each candidate as their value."""
    from .. import MostCommon

    neighbors: Any = options.neighbors or "add-remove"
    if options.mechanism == EXPONENTIAL:
        return MostCommon(
            options.epsilon, candidates, neighbors=neighbors, any_epsilon=options.any_epsilon
        )
    # Counts are monotone under add-remove only: replacing a record moves two of them.
    how = {"sensitivity": 1.0, "monotonic": neighbors == "add-remove"}
    return Counted(scoring(options, candidates, **how), neighbors)


@dataclass(frozen=True, slots=True)
class Counted:
    """A mechanism over counts of records, which knows the relation that it holds for."""

    inner: Any
    neighbors: Any

    @property
    def name(self) -> str:
        """What a budget calls it."""
        return type(self.inner).__name__

    @property
    def candidates(self) -> tuple[Any, ...]:
        """The labels that are counted."""
        labels: tuple[Any, ...] = self.inner.candidates
        return labels

    @property
    def guarantee(self) -> Guarantee:
        """That of the mechanism, for the relation under which counts have sensitivity 1."""
        promise: Guarantee = self.inner.guarantee
        return replace(promise, neighbors=self.neighbors)

    def _counts(self, records: Any) -> Any:
        from ..utilities import counts

        return counts(records, self.candidates)

    def release(self, records: Any) -> Any:
        """A release of the counts."""
        return self.inner.release(self._counts(records))

    def sample(self, records: Any, **how: Any) -> Any:
        """Simulated draws."""
        return self.inner.sample(self._counts(records), **how)

    def law(self, records: Any) -> Any:
        """The exact law."""
        return self.inner.law(self._counts(records))


def first_place(law: Any) -> FiniteLaw:
    """The law of one selection: itself, or that of the first place of several."""
    one: FiniteLaw = getattr(law, "first_place", law)
    return one
