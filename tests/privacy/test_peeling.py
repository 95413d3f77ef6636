"""Do the rounds of a top-k keep the total? All small neighbours, and adaptive worst pairs."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastexp import privacy
from fastexp.errors import ParameterError
from fastexp.privacy import peeling_guarantee, peeling_round
from tests.messages import raises, says
from tests.privacy.test_composition import adaptive_optimum, hockey_stick
from tests.support.each import each

SLACK = 1e-12


def peeled(rounds: int, rate: float, utilities: tuple[float, ...]) -> np.ndarray:
    """ln P of every ordered selection of `rounds` candidates."""
    logs = []
    for chosen in itertools.permutations(range(len(utilities)), rounds):
        left, total = list(range(len(utilities))), 0.0
        for r in chosen:
            heights = [rate * utilities[i] for i in left]
            total += rate * utilities[r] - float(np.logaddexp.reduce(heights))
            left.remove(r)
        logs.append(total)
    return np.array(logs)


def neighbours(monotonic: bool):
    """Utilities that move by up to 1 each; in one direction if monotonic."""
    moves = list(itertools.product((0, 1) if monotonic else (-1, 0, 1), repeat=4))
    for start in [(0.0, 0.0, 0.0, 0.0), (3.0, 1.0, 0.0, 0.0), (2.0, 2.0, 5.0, -1.0)]:
        for move in moves:
            yield start, tuple(a + b for a, b in zip(start, move, strict=True))


def pairs(rounds: int, each: float, monotonic: bool):
    """Laws of neighbours, both ways, when every round spends `each`."""
    rate = each / (1 if monotonic else 2)
    for first, second in neighbours(monotonic):
        laws = peeled(rounds, rate, first), peeled(rounds, rate, second)
        yield laws
        yield laws[::-1]


@pytest.mark.slow
@each("monotonic", [True, False])
@each("rounds", [1, 2, 3])
@each("epsilon", [0.3, 2.0])
def test_a_pure_total_holds(rounds, epsilon, monotonic):
    each = peeling_round(rounds, epsilon=epsilon)
    assert each == Fraction(epsilon) / rounds
    promise = peeling_guarantee(rounds, each, epsilon, 0.0, None, "")
    worst = 0.0
    for p, q in pairs(rounds, float(each), monotonic):
        worst = max(worst, float((p - q).max()))
        for order in (1.1, 2.0, 10.0):
            moment = math.log(np.exp(order * p + (1 - order) * q).sum()) / (order - 1)
            assert moment <= order * promise.rho + SLACK
    assert worst <= promise.epsilon + SLACK
    more = max(float((p - q).max()) for p, q in pairs(rounds, 3 * float(each), monotonic))
    assert more > promise.epsilon  # power: three times as much in a round is noticed


@pytest.mark.slow
@each("rounds", [1, 2, 3])
@each(("epsilon", "delta"), [(0.5, 1e-2), (1.0, 0.1), (0.1, 1e-6)])
def test_a_total_with_delta_holds(rounds, epsilon, delta):
    each = float(peeling_round(rounds, epsilon=epsilon, delta=delta))
    assert each >= epsilon / rounds
    for monotonic in (True, False):
        for p, q in pairs(rounds, each, monotonic):
            assert hockey_stick(p - q, np.exp(q), epsilon) <= delta
    assert adaptive_optimum(rounds, each, epsilon) <= delta
    if delta > 1e-3:  # power: the check refutes three times as much
        assert adaptive_optimum(rounds, 3 * each, epsilon) > delta


@pytest.mark.parametrize(("rounds", "closed"), [(10, 0.118216428), (100, 0.0373833169)])
def test_exact_divergences_beat_the_closed_form(rounds, closed):
    """The vectors are those of the closed zero-concentrated bound."""
    log = math.log(1e6)
    value = (math.sqrt(8 * (log + 1)) - math.sqrt(8 * log)) / math.sqrt(rounds)
    assert value == pytest.approx(closed, rel=1e-8)
    each = float(peeling_round(rounds, epsilon=1.0, delta=1e-6))
    assert each > 1.15 * closed
    assert privacy.adaptive_delta(rounds, each, 1.0) <= 1e-6 * (1 + 1e-9)
    assert privacy.adaptive_delta(rounds, each * (1 + 1e-6), 1.0) > 1e-6
    assert rounds * each**2 / 8 + each * math.sqrt(rounds * log / 2) > 1.0


@given(st.integers(1, 10**6), st.floats(1e-300, 1e300))
def test_rho_is_spent_to_the_last_float(rounds, rho):
    each = peeling_round(rounds, rho=rho)
    assert rounds * each**2 / 8 <= Fraction(rho)
    more = Fraction(math.nextafter(float(each), math.inf))
    assert Fraction(float(each)) == each
    assert rounds * more**2 / 8 > Fraction(rho)


@pytest.mark.proof
@settings(deadline=None, max_examples=40)
@given(st.integers(1, 5000), st.floats(1e-6, 50.0), st.floats(1e-12, 0.4))
def test_a_delta_never_takes_away(rounds, epsilon, delta):
    each = peeling_round(rounds, epsilon=epsilon, delta=delta)
    assert each >= Fraction(privacy.amounts.down(Fraction(epsilon) / rounds))
    assert each <= peeling_round(rounds, epsilon=epsilon * 1.01, delta=delta)
    assert each <= peeling_round(rounds, epsilon=epsilon, delta=min(0.99, 2 * delta))
    assert each >= peeling_round(rounds + 1, epsilon=epsilon, delta=delta)
    assert privacy.adaptive_delta(rounds, float(each), epsilon) <= delta * (1 + 1e-9)


@pytest.mark.slow
@each("delta", [1e-300, 0.999])
@each("epsilon", [1e-9, 1.0, 1e6])
def test_extremes_give_numbers(epsilon, delta):
    for rounds in (1, 10**9):
        each = peeling_round(rounds, epsilon=epsilon, delta=delta)
        assert 0 < each < Fraction(10) ** 10


def test_what_the_guarantee_says():
    pure = peeling_guarantee(3, peeling_round(3, epsilon=0.3), 0.3, 0.0, None, "text")
    assert (pure.epsilon, pure.rho, pure.delta) == (0.3, 0.00375, 0.0)
    assert (pure.neighbors, pure.bounded_range, pure.assumes) == (None, None, "text")
    each = peeling_round(3, rho=0.01)
    spent = peeling_guarantee(3, each, None, 0.0, 0.01, "text", "add-remove")
    assert (spent.rho, spent.delta, spent.neighbors) == (0.01, 0.0, "add-remove")
    assert privacy.amounts.exact(spent.epsilon) >= 3 * each
    each = peeling_round(3, epsilon=0.3, delta=1e-6)
    approximate = peeling_guarantee(3, each, 0.3, 1e-6, None, "text")
    assert (approximate.epsilon, approximate.delta) == (0.3, 1e-6)
    assert privacy.amounts.exact(approximate.rho) >= 3 * each**2 / 8
    assert peeling_guarantee(1, Fraction(1), 1.0, 0.0, None, "").bounded_range == 1.0


WRONG = [
    ({"rounds": 0, "epsilon": 1.0}, says("rounds: at least a number", least="1")),
    ({"rounds": 1}, "epsilon or rho"),
    ({"rounds": 1, "epsilon": 1.0, "rho": 1.0}, "epsilon or rho"),
    ({"rounds": 1, "rho": 1.0, "delta": 0.1}, "epsilon or rho"),
    ({"rounds": 1, "epsilon": 1.0, "delta": 1.0}, "delta below 1"),
    ({"rounds": 1, "epsilon": 1.0, "delta": -0.1}, "delta below 1"),
    ({"rounds": 1, "epsilon": math.inf}, "epsilon: finite and positive"),
    ({"rounds": 1, "rho": 0.0}, "rho: finite and positive"),
    ({"rounds": 10, "epsilon": 1e-100, "delta": 0.1}, "epsilon of a round"),
]


@each(("arguments", "message"), WRONG)
def test_bad_arguments(arguments, message):
    with pytest.raises(ParameterError, match=says(message)):
        peeling_round(**arguments)


def test_bad_types():
    with raises("rounds: integer, got float"):
        peeling_round(2.0, epsilon=1.0)
    with raises("epsilon or rho"):
        peeling_guarantee(1, 1.0, None, 0.0, None, "")
