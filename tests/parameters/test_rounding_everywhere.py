"""Does everything public that computes with floats look at the processor's rounding mode?"""

from __future__ import annotations

import inspect
import subprocess
import sys
from fractions import Fraction
from functools import cached_property, partial

import duckdb
import numpy as np
import pytest

import fastexp as fx
from fastexp import privacy
from tests.doors.mechanisms import TABLE, Comparator
from tests.parameters.test_rounding import DOWN, LIBM, TINY, WRONG, X86, rounding, subnormals
from tests.support.each import each
from tests.support.examples import built, data_of

pytestmark = pytest.mark.skipif(not X86, reason="not x86-64, whose rounding mode it sets")

AGES = np.array([30, 31, 32, 60, 60, 60])
U = np.array([1.0, 3.0, 2.0])
COUNTS = np.array([1, 3, 2])
TENTH, BOTH = Fraction(1, 10), {"bounds": (0, 100), "step": 1}
PROMISE = privacy.selection_guarantee(0.3, "add-remove", "")
SCORED = partial(
    fx.Exponential.from_score,
    lambda _, x: x,
    candidates=[1, 2],
    epsilon=1.0,
    sensitivity=1.0,
)
# What makes a new object of each class.
MAKERS = {
    **{row.name: partial(built, row) for row in TABLE.values()},
    "ScoredExponential": SCORED,
    "Guarantee": partial(fx.Guarantee, 1.0, None, None, None, 0.0, ""),
    "Budget": partial(fx.Budget, 1.0),
    "PrivateGroups": partial(fx.PrivateGroups, 1e-6, 1.0),
    "Query": fx.Query,
    "Session": lambda: fx.Session({"age": AGES}, budget=fx.Budget(9.0)),
    "Study": partial(fx.Study.ready, "table1", datasets=2, draws=2),
    "FiniteLaw": lambda: fx.Exponential(1.0, 1.0).law(U),
    "PermuteAndFlipLaw": lambda: fx.PermuteAndFlip(1.0, 1.0).law(U),
    "TopKLaw": lambda: fx.TopK(2, 1.0, 1.0).law(U),
    "JointTopKLaw": lambda: fx.JointTopK(2, 1.0).law(COUNTS),
    "GridLaw": lambda: fx.Median(1.0, **BOTH).law(AGES),
    "QuantilesLaw": lambda: fx.Quantiles([0.25, 0.75], 1.0, (0, 100), step=1).law(AGES),
    "LaplaceLaw": lambda: fx.Laplace(1.0, 1, step=1).law(3.5),  # a GridLaw to its users
    "ContinuousLaw": lambda: fx.Median(1.0, **BOTH).continuous_law(AGES),
    "NoiseLaw": lambda: fx.LaplaceMedian(1.0, (0, 100)).law(AGES),
    "StudyResults": lambda: MAKERS["Study"]().run(),
    "PrivacyLoss": lambda: MAKERS["GridLaw"]().privacy_loss(MAKERS["GridLaw"]()),
    "Audit": partial(fx.audit, fx.Median(1.0, **BOTH), AGES, AGES[1:]),
    "SufficientEpsilon": partial(
        fx.epsilon_for, fx.Median(1.0, **BOTH), like=AGES, expected_loss=9.0
    ),
}
# The data that verbs are called with.
DATA = {
    **{row.name: data_of(row) for row in TABLE.values()},
    "ScoredExponential": [1],
    "PrivateGroups": 3,
}
# Arguments of methods, whose ever they are.
ARGUMENTS = {
    "sample": {"rng": 1},
    "with_epsilon": {"epsilon": 2.0},
    "delta": {"epsilon": 0.5},
    "renyi": {"order": 2.0},
    "epsilon_for": {"expected_loss": 0.3},
    "expected_error": {"truth": 30},
    "error_quantile": {"p": 0.5, "truth": 30},
    "log_probability": {"selection": [0, 1]},
    "place_probabilities": {"candidate": 0},
    "utility": {"points": 30},
    "threshold": {"epsilon": 1.0},
    "under": {"neighbors": "replace"},
    "marginal": {"j": 1},
    **{name: {"guarantee": PROMISE} for name in ("charge", "rest_after")},
    **{name: {"t": 0.5} for name in ("loss_cdf", "loss_pmf", "loss_tail", "theorem_6")},
    **{name: {"p": 0.5} for name in ("ppf", "quantile", "loss_quantile")},
    **{name: {"x": 0.5} for name in ("cdf", "pmf", "pdf")},
}
FUNCTIONS = {
    "audit": partial(fx.audit, fx.Median(1.0, **BOTH), AGES, AGES[1:]),
    "check_sensitivity": partial(fx.check_sensitivity, lambda d: [d], [(1.0, 2.0)]),
    "digits": fx.digits,
    "epsilon_for": partial(fx.epsilon_for, k=3, sensitivity=1.0, expected_loss=1.0),
    "error_bound": partial(fx.error_bound, AGES, 1.0, bounds=(0, 100)),
    "compare": partial(fx.compare, [fx.Exponential(1.0, 1.0)], U),
    "expected_errors": partial(
        fx.expected_errors, np.array([AGES]), [fx.Median(1.0, (0, 100), step=1)]
    ),
    "loss_bound": partial(fx.loss_bound, 1.0, epsilon=1.0, sensitivity=1.0, k=3),
    "smooth_sensitivity": partial(fx.smooth_sensitivity, AGES, 0.1, bounds=(0, 100)),
    "warmup": fx.warmup,
    "privacy.adaptive_delta": partial(privacy.adaptive_delta, 10, 0.1, 0.5),
    "privacy.adaptive_epsilon": partial(privacy.adaptive_epsilon, 10, 0.1, 1e-6),
    "privacy.advanced": partial(privacy.advanced, PROMISE, 10, delta=1e-6),
    "privacy.bounded_range_divergence": partial(privacy.bounded_range_divergence, 0.1, 2.0),
    "privacy.count_rate": partial(privacy.count_rate, TENTH, "replace"),
    "privacy.group": partial(privacy.group, PROMISE, 3),
    "privacy.nonadaptive_delta": partial(privacy.nonadaptive_delta, 10, 0.1, 0.5),
    "privacy.nonadaptive_epsilon": partial(privacy.nonadaptive_epsilon, 10, 0.1, 1e-6),
    "privacy.parallel": partial(privacy.parallel, [PROMISE, PROMISE]),
    "privacy.peeling_guarantee": partial(privacy.peeling_guarantee, 3, TENTH, 1.0, 0.0, None, ""),
    "privacy.peeling_round": partial(privacy.peeling_round, 3, epsilon=1.0, delta=1e-6),
    "privacy.pure_guarantee": partial(privacy.pure_guarantee, 0.3, None, ""),
    "privacy.pure_rho": partial(privacy.pure_rho, 0.3),
    "privacy.rank_rate": partial(privacy.rank_rate, TENTH, 1),
    "privacy.selection_guarantee": partial(privacy.selection_guarantee, 0.3, None, ""),
    "privacy.selection_rate": partial(privacy.selection_rate, TENTH, 1.0, False),
    "privacy.sequential": partial(privacy.sequential, [PROMISE, PROMISE]),
    "privacy.total": partial(privacy.total, PROMISE, rows=3),
    "privacy.zcdp_delta": partial(privacy.zcdp_delta, 0.1, 1.0),
    "privacy.zcdp_epsilon": partial(privacy.zcdp_epsilon, 0.1, 1e-6),
}
VERBS = ("as_dict", "plot")
STORED = "what was computed or given before"
NEVER = "always raises, and looks at nothing"
TEXT = "bytes and text, no floats"
LAW = "made by a mechanism's `law`, which looks"
EXEMPT = {
    **dict.fromkeys(
        ("product", "release_key", "ReleaseKey", "ReleaseKey.export", "ReleaseKey.restore"), TEXT
    ),
    **{f"StudyResults.to_{kind}": STORED for kind in ("polars", "pandas", "arrow")},
    **dict.fromkeys(("StudyResults.table", "StudyResults.plot"), STORED),
    **{f"StudyTable.{member}": TEXT for member in ("text", "words")},
    "StudyTable": TEXT,
    **dict.fromkeys(("Study.to_dict", "Study.codes", "Study.figure_names"), STORED),
    **dict.fromkeys(("StudyMechanism", "StudyMechanism.sample"), "a Protocol: the user's code"),
    **dict.fromkeys(("SensitivityLowerBound", "LossTail", "ComparisonRow"), "tuples of figures"),
    **dict.fromkeys(("Accuracy", "Comparison"), "made by calls that look"),
    **{f"{name}.{verb}": STORED for name in ("Accuracy", "Comparison") for verb in VERBS},
    **dict.fromkeys([name for name in MAKERS if name.endswith("Law")], LAW),
    **{f"{row.name}.release": NEVER for row in TABLE.values() if issubclass(row.kind, Comparator)},
    "PermuteAndFlipLaw.log_normalizer": NEVER,
    **dict.fromkeys(("SufficientEpsilon", "SufficientEpsilon.worst"), STORED),
    **dict.fromkeys(("ContinuousLaw.truth", "NoiseLaw.truth"), STORED),
    **dict.fromkeys(("PrivacyLoss", "PrivacyLoss.reverse", "PrivacyLoss.worst"), STORED),
    **dict.fromkeys(("Audit", "Audit.share", "Audit.refuted"), STORED),
    **dict.fromkeys(("ContinuousLaw.privacy_loss", "NoiseLaw.privacy_loss"), "it raises"),
    "QuantilesLaw.privacy_loss": "it raises",
    "Mode.continuous_law": "it raises: there is no density",
    **{
        f"LaplaceLaw.{figure}": "it raises: its points have no end"
        for figure in ("as_dict", "grid", "log_probabilities", "points", "probabilities")
    },
    **{
        f"{row.name}.{verb}": "it raises: there is no law"
        for row in TABLE.values()
        for verb in ("law", "accuracy")
        if not row.has_law
    },
    "StudyResults": "made by `Study.run`, which looks",
    "StudyResults.agree": STORED,
    "StudyResults.publish": "writes what `to_csv` and `to_json` give, which look",
    "Budget.answers": "needs a file: see the test of it",
    "Budget.unit": STORED,
    "Budget.neighbors": STORED,
    "Budget.total": STORED,
    "Budget.total_delta": STORED,
    "Budget.charges": STORED,
    **{
        f"{name}.{figure}": STORED
        for name in MAKERS
        if name.endswith("Law")
        for figure in ("epsilon", "mechanism")
    },
    **{
        f"{name}.{figure}": STORED
        for name in ("FiniteLaw", "PermuteAndFlipLaw", "TopKLaw", "JointTopKLaw")
        for figure in ("k", "candidates", "utilities")
    },
    **dict.fromkeys(("Study.tasks", "Study.blocks", "Study.block_size"), "integers, no floats"),
    "TopKLaw.first_place": STORED,
    "GridLaw.grid": STORED,
    "QuantilesLaw.grid": STORED,
    "QuantilesLaw.q": STORED,
    "Laplace.grid": STORED,
    **{f"SmoothSensitivityMedian.{figure}": STORED for figure in ("alpha", "beta", "sigma")},
}


def public_names():
    """Functions, classes, and methods and computed attributes of classes."""
    for module, prefix in ((fx, ""), (privacy, "privacy.")):
        for name in module.__all__:
            thing = getattr(module, name)
            if not callable(thing) or (prefix and inspect.isclass(thing)):
                continue  # a table, a type, or `Guarantee` again
            if inspect.isclass(thing) and issubclass(thing, BaseException):
                continue
            if inspect.isclass(thing) or inspect.isfunction(thing):
                yield prefix + name
            if inspect.isclass(thing):
                yield from (f"{name}.{member}" for member in members(thing))
    yield "LaplaceLaw"
    yield from (f"LaplaceLaw.{member}" for member in members(type(MAKERS["LaplaceLaw"]())))


def members(cls):
    """What a class computes, by name; not its fields."""
    computed = (property, cached_property, staticmethod, classmethod)
    for name in dir(cls):
        member = inspect.getattr_static(cls, name)
        if not name.startswith("_") and (
            inspect.isfunction(member) or isinstance(member, computed)
        ):
            yield name


def call_of(name, folder):
    """A public name as a call without arguments, whose object is made before."""
    if name in FUNCTIONS:
        return FUNCTIONS[name]
    owner, _, member = name.partition(".")
    if not member:
        return MAKERS[owner]
    makers = {
        "JointTopKLaw.utility": partial(MAKERS["JointTopKLaw"]().utility, [0, 1]),
        "Exponential.from_rate": partial(fx.Exponential.from_rate, 0.5, 1.0),
        "Exponential.from_score": SCORED,
        "ScoredExponential.from_rate": partial(fx.ScoredExponential.from_rate, 0.5, 1.0),
        "ScoredExponential.from_score": SCORED,
        "Budget.file": lambda: fx.Budget.file(folder / "a.budget", epsilon=1.0),
        "Study.ready": MAKERS["Study"],
        "Study.load": lambda: fx.Study.load(folder / "study.toml"),
        "Study.resume": lambda: fx.Study.resume(folder / "results"),
        "StudyResults.open": lambda: fx.StudyResults.open(folder / "results"),
    }
    if owner == "Query":
        query, answers = fx.Query(), {"age": (fx.Median(1.0, **BOTH), "age")}
        if member == "total":
            return partial(query.total, answers)
        if member == "attach":
            return partial(query.attach, duckdb.connect(), {"age": AGES}, answers, name="a")
        return partial(getattr(query, member), {"age": AGES}, answers)
    if name == "Session.release":
        return partial(MAKERS[owner]().release, None, {"age": (fx.Median(1.0, **BOTH), "age")})
    if name in makers:
        return makers[name]
    if name == "QuantilesLaw.expected_error":
        return partial(MAKERS[owner]().expected_error, [30, 40])
    if name in ("NoiseLaw.epsilon_for", "QuantilesLaw.epsilon_for"):  # they have no losses
        return partial(MAKERS[owner]().epsilon_for, expected_error=9.0)
    one = MAKERS[owner]()
    if not callable(inspect.getattr_static(type(one), member)):
        return lambda: getattr(one, member)
    if member == "privacy_loss":
        return partial(one.privacy_loss, one)
    if member == "report":
        return lambda: one.report(folder / "report", ())
    over_data = (
        member in ("release", "sample", "law", "continuous_law", "accuracy") and owner in DATA
    )
    data = [DATA[owner]] if over_data else []
    return partial(getattr(one, member), *data, **ARGUMENTS.get(member, {}))


NAMES = sorted(public_names())


def test_exemptions_are_of_what_there_is():
    assert set(EXEMPT) - set(NAMES) == set()
    assert set(FUNCTIONS) - set(NAMES) == set()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A study as a file and with results."""
    path = tmp_path_factory.mktemp("rounding")
    path.joinpath("study.toml").write_text(
        'name = "one"\nmechanisms = ["median"]\nepsilon = 1.0\nn = 100\nbounds = [-10, 10]\n'
        "datasets = 2\ndraws = 2\n"
    )
    fx.Study.load(path / "study.toml").run(out=path / "results")
    return path


@pytest.mark.engines
@each("name", [name for name in NAMES if name not in EXEMPT])
def test_whatever_computes_refuses_a_wrong_mode(name, folder):
    for wrong in (*map(rounding, WRONG.values()), *map(subnormals, TINY)):
        call = call_of(name, folder)
        with pytest.raises(fx.RoundingModeError), wrong:
            call()
    if name != "warmup":  # which takes minutes
        call_of(name, folder)()


def test_answers_that_a_file_keeps_are_not_read_in_a_wrong_mode(tmp_path):
    budget = fx.Budget.file(tmp_path / "a.budget", epsilon=1.0)
    answer = MAKERS["MostCommon"]().release(["a"] * 9, budget=budget, label="a")
    for mode in WRONG.values():
        with pytest.raises(fx.RoundingModeError), rounding(mode):
            budget.answers("a")
    assert budget.answers("a") == answer


@each("member", ["points", "grid.values", "grid.value", "grid.index"])
def test_grids_refuse_a_wrong_mode(member):
    grid, law = fx.Median(1.0, (0, 1), step=0.1).grid, fx.Median(1.0, (0, 1), step=0.1).law([0.5])
    calls = {
        "points": lambda: law.points,
        "grid.values": lambda: grid.values(np.array([1])),
        "grid.value": lambda: grid.value(1),
        "grid.index": lambda: grid.index(np.array([0.3])),
    }
    for mode in WRONG.values():
        with pytest.raises(fx.RoundingModeError), rounding(mode):
            calls[member]()
    calls[member]()


IMPORTED = """
import ctypes
import fastexp as fx

libm = ctypes.CDLL({libm!r})
error = fx.RoundingModeError
for name in ("privacy", "Median", "InvalidRecords"):
    libm.fesetround({down})
    try:
        getattr(fx, name)
        print(name)
    except error:
        libm.fesetround(0)
        getattr(fx, name)
    libm.fesetround(0)
"""


@pytest.mark.process
def test_modules_are_not_imported_in_a_wrong_mode():
    """Their constants would be kept; errors have none, and can be caught."""
    code = IMPORTED.format(libm=LIBM, down=DOWN)
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False
    )
    assert (run.returncode, run.stdout) == (0, "InvalidRecords\n"), run.stderr
