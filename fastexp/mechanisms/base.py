"""The base class of mechanisms: public parameters, a promise, and what all verbs share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import MISSING, dataclass, fields
from functools import cache, cached_property, wraps
from inspect import signature
from operator import is_
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeVar, Unpack, dataclass_transform

from .._compiler.rounding import check_rounding
from .._parameters import validate
from .._parameters.documented import documented, own_methods
from .._parameters.text import printable
from .._typing import ArrayLike, Membership, Neighbors, Relation, RNGLike, SeedLike
from ..errors import NotReleasable
from ..grouped.call_options import DEFAULTS, CallOptions
from ..privacy import Guarantee, pure_guarantee, selection_guarantee, total

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..budget.budget import Budget
    from ..budget.question import Question
    from ..laws.accuracy import Accuracy, Measure
    from ..laws.law import Law
    from ._options import LawReading

Known = TypeVar("Known", bound="Law[Any, Any]")
Built = TypeVar("Built")
MAX_WRITTEN = 8  # most candidates or points in a repr
ALWAYS = {"repr": "always"}  # metadata of a field that a repr shows even if it has its default


@dataclass_transform(frozen_default=True)
def frozen(cls: type[Built]) -> type[Built]:
    """Make a frozen dataclass that suggests a parameter for one that it does not know."""
    built = dataclass(frozen=True, repr=False)(cls)
    init: Any = built.__init__

    @wraps(init)
    def checked_init(self: Any, *arguments: Any, **keywords: Any) -> None:
        try:
            init(self, *arguments, **keywords)
        except TypeError:
            from difflib import get_close_matches

            known = signature(init).parameters
            for name in keywords.keys() - known:
                for alike in get_close_matches(name, known, 1):
                    raise TypeError(
                        f"{cls.__name__}.__init__() got an unexpected keyword argument {name!r}: "
                        f"did you mean {alike!r}?"
                    ) from None
            raise

    built.__init__ = checked_init  # type: ignore[method-assign]  # callers of the class call it
    return built


class Mechanism(ABC):
    """A mechanism: public parameters, the promise of a draw, and three verbs.

    A subclass is a frozen dataclass that validates its parameters once, in `_check`.
    Bare names in its docstrings are completed (`_parameters.documented`).
    """

    epsilon: float
    any_epsilon: bool
    _measure: ClassVar[Measure] = "error"  # the measure of its accuracy
    _relation: ClassVar[Relation | None] = None  # of mechanisms without a field `neighbors`

    def __init_subclass__(cls, promise: str = "") -> None:
        super().__init_subclass__()
        if promise:  # the docstring of `guarantee`
            guarantee = cached_property(vars(Mechanism)["guarantee"].func)
            guarantee.__doc__ = promise
            guarantee.__set_name__(cls, "guarantee")
            cls.guarantee = guarantee  # type: ignore[assignment]  # a cached property
        documented(cls)
        own_methods(cls)

    def __post_init__(self) -> None:
        """Validate once; the mechanism is immutable afterwards."""
        self._check()

    def _check(self) -> None:
        """Validate the parameters, and set their exact values."""
        self._set_frozen(any_epsilon=validate.flag("any_epsilon", self.any_epsilon))
        if getattr(self, "rho", None) is None:  # `TopK` may have a rho instead of epsilon
            self._set_frozen(epsilon=validate.epsilon(self.epsilon, self.any_epsilon))

    @cached_property
    def guarantee(self) -> Guarantee:
        """The promise of one draw."""
        return self._promise()

    @property
    def _has_bounded_range(self) -> bool:
        """Whether log-ratios span at most epsilon."""
        return True

    @property
    def _assumes(self) -> str:
        """The text of what the caller must ensure."""
        raise NotImplementedError

    def _promise(self) -> Guarantee:
        promise = selection_guarantee if self._has_bounded_range else pure_guarantee
        relation = getattr(self, "neighbors", self._relation)
        return promise(self.epsilon, relation, self._assumes)

    @abstractmethod
    def release(
        self, data: Any, /, *, budget: Budget | None = None, label: str | None = None
    ) -> object:
        """Release one private answer, or several, using the system's randomness."""

    @abstractmethod
    def sample(
        self,
        data: Any,
        /,
        size: Any = None,
        *,
        rng: SeedLike | RNGLike | None = None,
        streams: ArrayLike | None = None,
        threads: int = 1,
    ) -> object:
        """Draw from the law of `release`, reproducibly: a simulation."""

    @abstractmethod
    def law(self, data: Any, /) -> Law[object, object]:
        """Return the exact law of `release` and `sample` on this data: as private as the data."""

    def accuracy(
        self,
        data: Any,
        /,
        *,
        probability: float | Sequence[float] = (0.5, 0.95),
        truth: float | None = None,
        **reading: Unpack[LawReading],
    ) -> Accuracy:
        """Return the exact accuracy of a release of this data, from its law: not private.

        Nothing is drawn, and no noise is added. Use it on data that are public, simulated or yours
        to look at, and never publish the result. Choosing epsilon or bounds by private data is
        itself a release. For many data sets at once there is `fastexp.expected_errors`, for groups
        `Query.accuracy`.

        Parameters
        ----------
        data
            As for `law`.
        probability : float or sequence of float
            Which quantiles of the error or loss, in [0, 1].
        truth : float, optional
            The true value of a number. Default: the statistic of the data, within the bounds or
            not; for medians with float noise that of the clamped records. Selections and prices
            have losses against the best candidate or price, and take no truth.
        **reading
            `nan` and `assume_sorted`, as `law` takes them.

        Returns
        -------
        Accuracy
            The truth, the expected error or loss, its quantiles, the bias and, for losses, the
            probability of the best. For top-k these are the figures of the first place.

        Raises
        ------
        ParameterError, ParameterTypeError, InvalidRecords, InvalidUtilities
            As of `law`, and if another argument is outside its range.

        Examples
        --------
        >>> import fastexp as fx
        >>> votes = {"tea": 30, "milk": 25, "rye": 2}
        >>> accuracy = fx.MostCommon(epsilon=0.2, candidates=list(votes)).accuracy(votes)
        >>> round(accuracy.expected, 2), round(accuracy.best, 2), accuracy.quantiles
        (1.42, 0.73, {0.5: 0.0, 0.95: 5.0})
        """
        check_rounding()
        from ..laws.accuracy import accuracy_of

        exact: Any = self.law
        law = self._law_of_value(exact(data, **reading))
        return accuracy_of(law, self, probability, truth, curve=True)

    def _law_of_value(self, law: Any) -> Any:
        """Return the law for figures: that of the value alone if an answer also has a total."""
        return law

    def _with_maker(self, law: Known) -> Known:
        """Return the law, with this mechanism as its maker."""
        law._maker = self
        return law

    def total(
        self,
        rows: int = 1,
        disjoint: bool = False,
        groups: bool = False,
        membership: Membership = "private",
        max_groups: int = 1,
        max_rows: int = 1,
        *,
        neighbors: Neighbors | None = None,
    ) -> Guarantee:
        """Return the promise of a whole batched or grouped release; see `fastexp.privacy.total`.

        Parameters
        ----------
        rows : int
            The number of draws from the same records, which is the number of rows of a matrix.
        disjoint : bool
            Whether the rows are disjoint parts of the data.
        groups : bool
            Whether each draw is made once for each of several disjoint groups.
        membership : {"private", "public"}
            Whether a person who is replaced may change their row or group (private) or not.
        max_groups, max_rows : int
            The most groups or disjoint rows that a person can be in, and the most records that a
            person can have in each.
        neighbors : {"add-remove", "replace"}, optional
            The relation of the promise; default: that of `guarantee`.

        Returns
        -------
        Guarantee

        Raises
        ------
        ParameterError, ParameterTypeError
            If a parameter is outside its range, or `guarantee` does not hold under
            `neighbors`.
        """
        return total(
            self.guarantee,
            rows=rows,
            disjoint=disjoint,
            groups=groups,
            membership=membership,
            max_groups=max_groups,
            max_rows=max_rows,
            neighbors=neighbors,
        )

    def _release(self, data: Any, options: CallOptions) -> Any:
        """`release` for unchecked options."""
        return self._answered(data, self._checked(options))

    @abstractmethod
    def _answered(self, data: Any, options: CallOptions) -> Any:
        """`release` for checked options."""

    def _checked(self, options: CallOptions) -> CallOptions:
        """Validate options and return them; each call begins here."""
        check_rounding()
        if options is DEFAULTS or all(map(is_, options, DEFAULTS)):
            return DEFAULTS
        options = options.checked()
        self._check_nan(options.nan)
        if options.label is None and options.key is None:
            return options
        from ..grouped.request import check_key

        return options._replace(label=check_key(options))

    def _check_nan(self, nan: object) -> None:  # noqa: B027  # others check it with the data
        """Validate the policy for missing records, before any look at them."""

    def _charged(
        self,
        options: CallOptions,
        draw: Callable[[], Any],
        check: Callable[[], None] = lambda: None,
        rows: int | None = None,
    ) -> Any:
        """Return the result of `draw` after the charge, or the answer stored under the label."""
        if options.budget is None:
            check()
            return draw()
        charge_and_draw, question = _charge_and_draw(), self._question(options, rows)
        return charge_and_draw(options.budget, options.label, question, draw, check)

    def _question(
        self,
        options: CallOptions,
        rows: int | None,  # noqa: ARG002  # of a matrix of utilities
    ) -> Question:
        """Return the question that a release asks a budget."""
        from ..grouped.request import question_of

        return question_of(options, self)

    def _set_frozen(self, **values: object) -> None:
        """Set attributes while the mechanism is being built; it is immutable afterwards."""
        vars(self).update(values)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state of a pickle or a copy, without cached properties."""
        kind = type(self)
        return {
            name: value
            for name, value in vars(self).items()
            if not isinstance(getattr(kind, name, None), cached_property)
        }

    def __repr__(self) -> str:
        """Return the mechanism as code, with the parameters that are not at their defaults."""
        parts = []
        for item in fields(self):  # type: ignore[arg-type]  # subclasses are dataclasses
            value = getattr(self, item.name)
            stated = item.default is MISSING or item.metadata == ALWAYS or value != item.default
            if item.init and item.repr and stated:
                text = self._written(item.name, value)
                parts += [] if text is None else [f"{item.name}={text}"]
        return printable(f"{type(self).__name__}({', '.join(parts)})")

    def _written(self, name: str, value: object) -> str | None:  # noqa: ARG002  # subclasses use it
        """Return a public value for a repr, a long tuple as length and ends; None: leave it out."""
        return written("values", value) if isinstance(value, tuple) else repr(value)


def written(what: str, values: tuple[Any, ...] | list[Any]) -> str:
    """Return values for a repr; many values as their number and ends."""
    if len(values) <= MAX_WRITTEN:
        return repr(values)
    return f"<{len(values)} {what}: {values[0]!r}, ..., {values[-1]!r}>"


@cache  # a repeated import takes 1 us
def _charge_and_draw() -> Callable[..., Any]:
    from ..budget.budget import charge_and_draw

    return charge_and_draw


class Comparator(Mechanism):
    """A mechanism that is simulated and analysed, but not released."""

    _instead: str  # the mechanism that can be released

    def _answered(self, data: Any, options: CallOptions) -> NoReturn:  # noqa: ARG002  # of any data
        raise NotReleasable(f"{type(self).__name__} is for simulations: use {self._instead}")

    def release(
        self,
        data: object = None,
        /,
        **arguments: object,  # noqa: ARG002  # whatever is given
    ) -> NoReturn:
        """Raise `NotReleasable`: the noise is a float, or another mechanism is always better.

        Parameters
        ----------
        data, arguments
            Not looked at.

        Raises
        ------
        NotReleasable
            Always; the message names the mechanism to use.
        """
        self._answered(data, DEFAULTS)
