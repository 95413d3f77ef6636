"""Comparison of mechanisms on the same data, by their exact laws."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ._compiler.rounding import check_rounding
from ._parameters import validate
from ._parameters.descriptions import at_most, name_of, parameters
from ._parameters.text import error_text, readable
from .errors import ParameterError, ParameterTypeError, PrecisionError
from .laws.accuracy import MEANINGS, Accuracy, Measure, accuracy_of
from .laws.law import Law
from .laws.top_k import JointTopKLaw, TopKLaw
from .mechanisms._several import QuantilesMechanism
from .mechanisms.base import Mechanism
from .mechanisms.top_k import TopK
from .pictures.canvas import label
from .pictures.cards import Card, TextRepr, text
from .pictures.error_pictures import comparison_bars
from .privacy import Guarantee

Statistic: TypeAlias = Callable[[Any], Any]
Compared: TypeAlias = Mechanism | tuple[Mechanism, Statistic]
MAX_NAME_LENGTH = 60  # the most characters of a name
DRAWS, DRAWN = 10_000, ", by draws"  # draws for top-k beside joint top-k, and their note in names
STATED = "as stated"  # the relation of a promise for which the caller stated the sensitivity
NEEDS = "the epsilon at which mechanism 1, 2, ... has the {} of the row"


class ComparisonRow(NamedTuple):
    """One mechanism of a `Comparison`.

    Attributes
    ----------
    name : str
        The name that distinguishes the mechanism from the others.
    promise : Guarantee
        The promise of a draw; with ``convert=True``, under the common relation.
    accuracy : Accuracy
        **Not private**.
    needs : tuple of (float or None)
        **Not private**: for each mechanism in order, the epsilon that it must promise so that its
        expected error or loss is at most that of this row, for this epsilon and every larger one
        (from 1e-9). None: no epsilon is enough, or which one is not certain.
    """

    name: str
    promise: Guarantee
    accuracy: Accuracy
    needs: tuple[float | None, ...]


@dataclass(frozen=True, repr=False)
class Comparison(TextRepr):
    """A comparison of mechanisms on the same data, made by `compare`; not private.

    Its repr has none of the figures; `print` and notebooks show all of them.

    Attributes
    ----------
    measure : {"error", "loss"}
        The measure of accuracy, as in `Accuracy`.
    probability : float
        The probability of the quantiles.
    rows : tuple of ComparisonRow
        The mechanisms, in the order in which they were given.
    """

    measure: Measure
    probability: float
    rows: tuple[ComparisonRow, ...]

    def __repr__(self) -> str:
        return f"<Comparison of {'; '.join(row.name for row in self.rows)}>"

    def as_dict(self) -> dict[str, Any]:
        """Return the comparison as plain values, for JSON; make a frame from ``["rows"]``."""
        names = [row.name for row in self.rows]
        rows = []
        for row in self.rows:
            facts = row.accuracy.as_dict()
            quantiles = facts.pop("quantiles")
            promise = {name: getattr(row.promise, name) for name in facts.pop("promise")}
            facts |= {"quantile": quantiles[self.probability], **promise}
            needs = dict(zip(names, row.needs, strict=True))
            rows.append({"name": row.name, **facts, "rho": row.promise.rho, "needs": needs})
        return {"measure": self.measure, "probability": self.probability, "rows": rows}

    def plot(self, ax: Any = None) -> Any:
        """Draw a bar for each mechanism: its expected error or loss, and a mark at the quantile.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            The axes to draw in. Default: a new figure.

        Returns
        -------
        matplotlib.axes.Axes
            ``axes.figure.savefig("comparison.png")`` writes the picture.

        Raises
        ------
        ParameterError
            If matplotlib is missing.
        """
        figures = [row.accuracy for row in self.rows]
        bars = [(a.expected, a.quantiles[self.probability]) for a in figures]
        names = [row.name for row in self.rows]
        return comparison_bars(names, bars, self.measure, self.probability, ax)

    def _card(self) -> Card:
        table: dict[str, list[str]] = {}
        for place, row in enumerate(self.rows, 1):
            promise, accuracy, level = row.promise, row.accuracy, self.probability
            cells = {
                "": str(place),
                "mechanism": row.name,
                "epsilon": _amount(promise.epsilon),
                "delta": _amount(promise.delta),
                "neighbors": promise.neighbors or STATED,
                "rho": "-" if promise.rho is None else at_most(promise.rho, 4),
                "truth": readable(accuracy.truth),
                self.measure: error_text(accuracy.expected, 4),
                f"{readable(100 * level)}%": error_text(accuracy.quantiles[level], 4),
                "best": readable(accuracy.best, 4),
                **{f"ε of {i}": readable(x, 4) for i, x in enumerate(row.needs, 1)},
            }
            for name, cell in cells.items():
                table.setdefault(name, []).append(cell)
        same = [name for name in ("delta", "neighbors", "truth") if len(set(table[name])) == 1]
        facts: list[tuple[str, object]] = [(self.measure, f"the expected {MEANINGS[self.measure]}")]
        facts += [(name, cell) for name in same if (cell := table.pop(name)[0]) not in ("0", "-")]
        if self.measure == "error":
            del table["best"]
        facts.append(("ε of 1", NEEDS.format(self.measure)))
        return Card(
            "Comparison", facts, tuple(table), list(zip(*table.values(), strict=True)), private=True
        )


def _amount(amount: float | None) -> str:
    """Return an amount of a promise as text."""
    return "-" if amount is None else at_most(amount)


def compare(
    mechanisms: Sequence[Compared] | Mapping[str, Compared],
    data: object,
    *,
    truth: float | None = None,
    probability: float = 0.95,
    convert: bool = False,
) -> Comparison:
    """Compare mechanisms on the same data, by their exact laws: not private.

    Nothing is drawn, and no noise is added. Use it for data that are public, simulated or yours to
    look at, and never for publication. Choosing a mechanism by private data is itself a release.

    Parameters
    ----------
    mechanisms : sequence, or dict of str to mechanism
        Mechanisms that all give numbers, or all give selections and prices. The keys of a dict are
        their names. A pair ``(mechanism, statistic)``, such as ``(fx.Laplace(...), sum)``, applies
        the mechanism to ``statistic(data)``.
    data : object
        The data of ``mechanism.law``: records, utilities or counts. Or a list of laws, one for
        each mechanism.
    truth : float, optional
        The number from which errors are measured. Default: the true statistic of each mechanism.
    probability : float
        The probability of the quantiles, in [0, 1].
    convert : bool
        Whether to compare mechanisms with different promises. If some are for add-remove and some
        for replace, all are converted to replace. If delta differs, it is shown beside epsilon.

    Returns
    -------
    Comparison

    Raises
    ------
    ParameterError, ParameterTypeError, InvalidRecords, InvalidUtilities
        If promises differ in relation or delta and `convert` is False, some mechanisms have errors
        and others losses, one has no exact law, or an argument is wrong.

    Notes
    -----
    **Top-k**: the loss of `TopK` is that of its first place. Beside `JointTopK`, whose loss is that
    of the worst place, it is the loss of the worst place, too, from 10,000 draws with a fixed seed.
    The standard error of the mean is then a hundredth of the standard deviation, and the ε that
    `TopK` needs is not given.

    **Conversion**: replacing a record is a removal and an addition. A promise of epsilon under
    add-remove is therefore one of 2 * epsilon under replace, and in general of nothing less
    (`Guarantee.under`, also for delta and rho). If you stated the sensitivity of a mechanism, it is
    taken as stated for the relation of the others.

    References
    ----------
    Dwork and Roth, "The algorithmic foundations of differential privacy" (2014), Theorem 2.2
    (groups of records).

    Examples
    --------
    >>> import fastexp as fx
    >>> kinds = [kind(epsilon=0.1, sensitivity=1) for kind in (fx.Exponential, fx.PermuteAndFlip)]
    >>> comparison = fx.compare(kinds, [30, 25, 2])
    >>> comparison
    <Comparison of exponential; permute-and-flip>
    >>> [round(row.accuracy.expected, 2) for row in comparison.rows]
    [5.33, 4.34]
    """
    check_rounding()
    pairs = _pairs(mechanisms)
    several = [mechanism for mechanism, _ in pairs]
    level = validate.fraction("probability", probability)
    if len({mechanism._measure for mechanism in several}) > 1:
        raise ParameterError("mechanisms must all give numbers, or all give selections or prices")
    promises = _promises([m.guarantee for m in several], validate.flag("convert", convert))
    laws = _laws(pairs, data)
    joint = any(isinstance(law, JointTopKLaw) for law in laws)
    drawn = [joint and isinstance(law, TopKLaw) for law in laws]
    figures = [
        _by_draws(law, m, level) if by_draws else accuracy_of(law, m, level, truth)
        for law, m, by_draws in zip(laws, several, drawn, strict=True)
    ]

    def needed(goal: Accuracy, i: int) -> float | None:
        """Return the promised epsilon from which mechanism i has at most this error or loss."""
        mechanism, epsilon = several[i], promises[i].epsilon
        curved = isinstance(mechanism, TopK) and (mechanism.delta > 0 or mechanism.rho is not None)
        finite = isfinite(goal.expected) and goal.expected > 0
        if epsilon is None or curved or drawn[i] or not finite:
            return None
        target = {f"expected_{goal.measure}": goal.expected, "truth": figures[i].truth}
        try:
            enough = float(laws[i].epsilon_for(**target))
        except (ParameterError, PrecisionError):  # none is enough, or it is not certain which
            return None
        return epsilon * enough / float(laws[i].epsilon)  # a promise is in proportion to epsilon

    names = map(str, mechanisms) if isinstance(mechanisms, Mapping) else _names(pairs)
    names = [name + DRAWN * by_draws for name, by_draws in zip(names, drawn, strict=True)]
    rows = []
    for i, (name, promise, accuracy) in enumerate(zip(names, promises, figures, strict=True)):
        needs = [promise.epsilon if i == j else needed(accuracy, j) for j in range(len(laws))]
        rows.append(ComparisonRow(name, promise, accuracy, tuple(needs)))
    return Comparison(several[0]._measure, level, tuple(rows))


def _by_draws(law: TopKLaw, mechanism: Mechanism, level: float) -> Accuracy:
    """Return the loss of the worst place, by draws, as it has no closed form."""
    utilities = law._utilities
    behind = utilities.max() - utilities
    if behind.dtype.kind != "f":  # integers wrap: the unsigned difference is right
        behind = behind.view(np.uint64)
    drawn, due = behind[law.sample(DRAWS, rng=0)], np.sort(behind)[: law.k]
    losses = (drawn - np.minimum(drawn, due)).max(axis=1).astype(np.float64)
    quantiles = {level: float(np.quantile(losses, level, method="inverted_cdf"))}
    expected, right = float(losses.mean()), float((losses == 0).mean())
    promise = mechanism.guarantee
    return Accuracy("loss", None, expected, quantiles, None, right, law.epsilon, promise)


def _pairs(mechanisms: object) -> list[tuple[Mechanism, Statistic | None]]:
    """Return mechanisms, each with the statistic that makes its data."""
    if not isinstance(mechanisms, (list, tuple, Mapping)) or not mechanisms:
        raise ParameterTypeError("mechanisms must be a list or dict of one mechanism or more")
    entries = list(mechanisms.values() if isinstance(mechanisms, Mapping) else mechanisms)
    pairs = [entry if isinstance(entry, tuple) else (entry, None) for entry in entries]
    for pair in pairs:
        mechanism, statistic = pair if len(pair) == 2 else (None, None)
        if not isinstance(mechanism, Mechanism) or not (statistic is None or callable(statistic)):
            raise ParameterTypeError(
                "mechanisms must be mechanisms or pairs (mechanism, statistic), got "
                f"{type(mechanism).__name__}"
            )
        if isinstance(mechanism, QuantilesMechanism):
            raise ParameterTypeError(
                "mechanisms must give one number or selection each, got "
                f"{type(mechanism).__name__}: its law has the errors of all"
            )
    return pairs


def _names(pairs: list[tuple[Mechanism, Statistic | None]]) -> list[str]:
    """Return distinct names: the kind, the statistic, and the parameters that differ."""
    facts: list[dict[str, Any]] = []
    for mechanism, statistic in pairs:
        of = getattr(statistic, "__name__", "")
        kind = name_of(mechanism) + (f" of {of}" if of.isidentifier() else "")
        facts.append({**parameters(mechanism), "mechanism": kind})
        facts[-1].pop("points", None)  # they follow from the step
    names: list[str] = []
    for (mechanism, _), values in zip(pairs, facts, strict=True):
        alike = [other for other in facts if other["mechanism"] == values["mechanism"]]
        parts = [values["mechanism"]] + [
            f"{name.replace('_', ' ')} {text(value)}"
            for name, value in values.items()
            if value != getattr(type(mechanism), name, None)  # the default
            and any(other.get(name) != value for other in alike)
        ]
        name = label(", ".join(parts), MAX_NAME_LENGTH)
        names.append(f"{name} ({names.count(name) + 1})" if name in names else name)
    return names


def _promises(promises: list[Guarantee], convert: bool) -> list[Guarantee]:
    """Return the promises under one relation; without `convert`, refuse different ones."""
    relations = sorted({str(p.neighbors) for p in promises if p.neighbors not in (None, "both")})
    deltas = sorted({p.delta for p in promises})
    for name, values in ("neighbors", relations), ("delta", deltas):
        if len(values) > 1 and not convert:
            raise ParameterError(
                f"mechanisms must have promises with the same {name}, got {values[0]!r} and "
                f"{values[-1]!r}: convert=True converts all to the same neighbors, and shows delta"
            )
    relation = validate.neighbors(relations[-1]) if relations else None
    return [p.under(relation) for p in promises] if convert and relation else promises


def _laws(pairs: list[tuple[Mechanism, Statistic | None]], data: Any) -> list[Any]:
    """Return the law of each mechanism."""
    if not (isinstance(data, (list, tuple)) and data and isinstance(data[0], Law)):
        data = [m.law(data if of is None else of(data)) for m, of in pairs]
    if len(data) != len(pairs) or not all(isinstance(law, Law) for law in data):
        raise ParameterError(f"data must be a law for each of the {len(pairs)} mechanisms")
    for (mechanism, _), law in zip(pairs, data, strict=True):
        if law.mechanism is not None and law.mechanism != mechanism:
            raise ParameterError(f"data must be laws of the mechanisms, got {law!r}")
    return [m._law_of_value(law) for (m, _), law in zip(pairs, data, strict=True)]
