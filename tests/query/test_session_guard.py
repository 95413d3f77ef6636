"""Can who asks a session come by a record, or have one read for less than it costs?"""

from __future__ import annotations

import copy
import logging
import pickle
import sys
import threading
import types
import warnings
from fractions import Fraction

import numpy as np
import pytest

import fastexp as fx
from tests.doors.query import execute
from tests.messages import raises, says
from tests.support.each import each

pytestmark = pytest.mark.proof
SECRET = 7341
FAILED = (
    "the release failed after it was charged; the reason is withheld, because it may depend on the "
    "records"
)
MEDIAN = fx.Median(1.0, (0, 100), step=1)
BY = fx.Query("town", ["a", "b"])
ANSWERS = {"m": (MEDIAN, "x")}


def rows():
    return {
        "x": np.array([SECRET] * 50 + [3] * 60),
        "town": ["a", "b"] * 55,
        "who": [f"SECRET-{i}" for i in range(110)],
    }


def session(**more):
    return fx.Session(rows(), **{"budget": fx.Budget(epsilon=100.0), **more})


def shows(thing, depth=9, seen=None):
    """Whether a record is in an object, in what it holds, or in the frames of a traceback."""
    seen = set() if seen is None else seen
    if id(thing) in seen or depth < 0:
        return False
    if isinstance(thing, (types.ModuleType, type, fx.Session)):  # whose private names hold them
        return False
    seen.add(id(thing))
    if isinstance(thing, np.ndarray):
        return thing.dtype.kind in "iuf" and bool((thing == SECRET).any())
    if isinstance(thing, int):
        return thing == SECRET  # the number of a thread may have its digits
    if isinstance(thing, str):
        return "SECRET" in thing or str(SECRET) in thing
    if isinstance(thing, (list, tuple, set)):
        parts = list(thing)
    elif isinstance(thing, dict):
        parts = [*thing, *thing.values()]
    elif isinstance(thing, types.FrameType):
        parts = list(thing.f_locals.values())
    elif isinstance(thing, types.TracebackType):
        parts = [thing.tb_frame, thing.tb_next]
    elif isinstance(thing, types.FunctionType):
        parts = [cell.cell_contents for cell in thing.__closure__ or ()]
    elif isinstance(thing, types.MethodType):
        parts = [thing.__self__]
    else:
        slots = [name for kind in type(thing).__mro__ for name in getattr(kind, "__slots__", ())]
        parts = [getattr(thing, "__dict__", None), *(getattr(thing, name, None) for name in slots)]
        if isinstance(thing, BaseException):
            parts += [thing.args, thing.__traceback__, thing.__context__, thing.__cause__]
    return any(shows(part, depth - 1, seen) for part in parts)


def raised(call):
    """What a call raises, without the frames of the test."""
    try:
        call()
    except BaseException as error:
        error.__traceback__ = error.__traceback__.tb_next.tb_next
        return error
    return None


class TestTheCheckItself:
    def test_it_finds_records(self):
        class Holder:
            __slots__ = ("inside",)

        holder = Holder()
        holder.inside = {"rows": [rows()]}
        closed = lambda: holder  # noqa: E731
        assert shows(holder)
        assert shows(closed)

        def fail():
            own = rows()
            raise ValueError(len(own))

        assert shows(raised(lambda: fail()))
        try:
            fail()
        except ValueError:
            assert shows(raised(lambda: int("no")).__context__)

    def test_a_query_alone_does_not_hide_them(self):
        assert shows(raised(lambda: fx.Query().release(rows(), {"m": (MEDIAN, "who")})))


class TestNothingShows:
    def test_no_attribute(self):
        one = session(person="who", scores={"s": (lambda c, k: [0, 0], [1, 2], 1.0)})
        assert not shows([getattr(one, name, None) for name in dir(one) if name[0] != "_"])
        assert not hasattr(one, "__dict__")
        assert "hidden" in repr(one)

    @each("attempt", [copy.copy, copy.deepcopy, pickle.dumps])
    def test_no_copy(self, attempt):
        with pytest.raises(fx.SessionError, match=says("copied or pickled")):
            attempt(session())

    @each("attempt", [iter, len, list, dict, bytes, lambda one: one["x"]])
    def test_no_data(self, attempt):
        with pytest.raises(TypeError):
            attempt(session())

    def test_answers_hold_nothing_else(self):
        found = session().release(BY, ANSWERS)
        assert not shows(found)
        assert found["m"].base is None

    @pytest.mark.parametrize("answers", [{"m": (MEDIAN, "who")}, {"m": (MEDIAN, "none")}])
    @pytest.mark.parametrize("label", [None, "label"])
    def test_no_error(self, answers, label, tmp_path):
        for budget in (fx.Budget(2.0), fx.Budget.file(tmp_path / "a.budget", epsilon=2.0)):
            one = session(budget=budget)
            for _ in range(2):
                error = raised(lambda one=one: one.release(None, answers, label=label))
                assert isinstance(error, fx.FastexpError)
                assert not shows(error)
                assert error.__context__ is error.__cause__ is None

    @pytest.mark.parametrize(
        ("kind", "wanted"),
        [
            (ValueError, fx.SessionError(FAILED)),
            (fx.ParameterError, fx.SessionError(FAILED)),
            (MemoryError, fx.SessionError(FAILED)),
            (BaseException, fx.SessionError(FAILED)),
            (GeneratorExit, fx.SessionError(FAILED)),
            (fx.BudgetError, fx.SessionError(FAILED)),
            (KeyboardInterrupt, KeyboardInterrupt()),
            (SystemExit, fx.SessionError(FAILED)),
        ],
        ids=str,
    )
    def test_no_error_of_any_kind_while_it_reads(self, kind, wanted, tmp_path, monkeypatch):
        def failing(call, frame):
            raise kind(*next(frame.parts(call.uses)))

        monkeypatch.setattr(execute, "answered", failing)
        for budget in (fx.Budget(3.0), fx.Budget.file(tmp_path / "a.budget", epsilon=3.0)):
            for label in (None, "label"):
                one = session(budget=budget)
                error = raised(lambda one=one, label=label: one.release(None, ANSWERS, label=label))
                assert (type(error), error.args) == (type(wanted), wanted.args)
                assert not shows(error)
                assert error.__context__ is error.__cause__ is None

    @each("kind", [ValueError, KeyboardInterrupt, SystemExit, BaseException])
    def test_no_error_of_a_score(self, kind):
        def score(columns, candidates):
            raise kind(columns)

        one = session(scores={"s": (score, [1, 2], 1.0)})
        error = raised(lambda: one.release(None, {"a": ("s", 1.0)}))
        assert not shows(error)
        assert error.__context__ is error.__cause__ is None
        assert one.remaining == 99.0

    def test_no_mistake_before_it_reads(self, monkeypatch):
        """Where anything else goes wrong than what is checked."""

        def failing(*arguments):
            raise RuntimeError(arguments)

        monkeypatch.setattr(execute, "fit", failing)
        one = session()
        error = raised(lambda: one.release(None, ANSWERS))
        assert (type(error), str(error)) == (
            fx.SessionError,
            "the release failed before a record was read",
        )
        assert not shows(error)
        assert one.log() == []

    def test_no_warning_log_or_output(self, caplog, capfd):
        one = session(scores={"s": (lambda c, k: c["x"][:2] / 0, [1, 2], 1.0)})
        with warnings.catch_warnings(record=True) as caught, caplog.at_level(logging.DEBUG):
            warnings.simplefilter("always")
            one.release(BY, ANSWERS)
            for answers in ({"m": (MEDIAN, "who")}, {"m": ("s", 1.0)}):
                assert isinstance(raised(lambda a=answers: one.release(None, a)), fx.FastexpError)
        assert caught == []
        assert not caplog.records
        assert capfd.readouterr() == ("", "")

    def test_numpy_calls_nobody(self):
        called = []
        one = session(scores={"s": (lambda c, k: c["x"][:2] / 0, [1, 2], 1.0)})
        with np.errstate(all="call", call=lambda *what: called.append(what)):
            raised(lambda: one.release(None, {"m": ("s", 1.0)}))
        assert called == []


class Everything(type):
    """A type that says it is any other."""

    def __eq__(cls, other):
        return True

    def __hash__(cls):
        return hash(fx.Median)


class Own(fx.Median):
    def _policy(self, nan):  # noqa: ARG002
        raise AssertionError("it was called")


class Alike(metaclass=Everything):
    epsilon = 1.0


class Text(str):
    __slots__ = ()

    def __hash__(self):
        raise AssertionError("it was called")

    def __eq__(self, other):
        raise AssertionError("it was called")


class Whole(int):
    def __index__(self):
        raise AssertionError("it was called")

    __lt__ = __le__ = __eq__ = __hash__ = __index__


class Own_dict(dict):  # noqa: N801
    def items(self):
        raise AssertionError("it was called")


class Own_tuple(tuple):  # noqa: N801
    __slots__ = ()

    def __iter__(self):
        raise AssertionError("it was called")


class Own_query(fx.Query):  # noqa: N801
    pass


class TestOddArguments:
    @each(
        "answers",
        [
            {"m": (Own(1.0, (0, 9)), "x")},
            {"m": (Alike(), "x")},
            {"m": (Alike, "x")},
            {"m": (fx.Exponential(1.0, 1.0), "x")},
            {"m": (fx.TopK(1, 1.0, 1.0), "x")},
            {"m": (fx.LaplaceMedian(1.0, (0, 9)), "x")},
            {"m": (lambda records: records, "x")},
            {"m": (MEDIAN, lambda frame: frame["x"])},
            {"m": (MEDIAN, ["x"])},
            {"m": Own_tuple((MEDIAN, "x"))},
            {"m": [MEDIAN, "x", "y"]},
            {1: (MEDIAN, "x")},
            Own_dict(m=(MEDIAN, "x")),
            [("m", (MEDIAN, "x"))],
            None,
            {"m": (Text("s"), 1.0)},
            {"m": ("s", Whole(1))},
            {"m": ("s", Alike())},
        ],
    )
    def test_answers(self, answers):
        one = session(scores={"s": (lambda c, k: [0, 0], [1, 2], 1.0)})
        with pytest.raises((fx.ParameterError, fx.ParameterTypeError)):
            one.release(None, answers)
        assert one.log() == []

    @each(
        "more",
        [
            {"label": Text("a")},
            {"note": Text("a")},
            {"label": 1},
            {"threads": Whole(1)},
            {"threads": True},
            {"threads": -1},
            {"nan": Text("drop")},
            {"nan": {"m": Text("drop")}},
            {"nan": Own_dict(m="drop")},
            {"nan": {"n": "drop"}},
        ],
        ids=lambda more: f"{[*more]}{[*map(type, more.values())]}",
    )
    def test_others(self, more):
        one = session()
        with pytest.raises((fx.ParameterError, fx.ParameterTypeError)):
            one.release(None, ANSWERS, **more)
        assert one.log() == []

    @each("more", ["key", "rng", "budget", "memory", "temp", "output", "person"])
    def test_what_a_query_takes_and_a_session_does_not(self, more):
        with pytest.raises(TypeError):
            session().release(None, ANSWERS, **{more: None})

    @each("query", [Own_query(), Alike(), "town", object(), Alike, BY.groups])
    def test_queries(self, query):
        one = session()
        with raises("query of a type"):
            one.release(query, ANSWERS)

    def test_a_list_that_changes_while_it_is_read(self):
        """Whatever is in it by then, what is charged is what is drawn."""
        cheap, dear = fx.Median(1e-6, (0, 100)), fx.Median(1e3, (0, 100))
        pair, stop = [cheap, "x"], threading.Event()
        one = session(budget=fx.Budget(1e9))

        def swap():
            while not stop.is_set():
                pair[0] = dear
                pair[0] = cheap

        thread = threading.Thread(target=swap)
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-5)
        thread.start()
        try:
            for _ in range(50):
                one.release(None, {"m": pair})
        finally:
            sys.setswitchinterval(interval)
            stop.set()
            thread.join(60)
        assert {entry["epsilon"] for entry in one.log()} <= {1e-6, 1e3}


def put(thing, name, value):
    object.__setattr__(thing, name, value)


class Spy:
    """Is asked for nothing."""

    def __getattr__(self, name):
        if name.startswith("__"):  # by pytest
            raise AttributeError(name)
        raise AssertionError("it was asked")


class TestTimeAndMemory:
    """A release that ends only where a group has no record tells so, for any epsilon."""

    def test_many_quantiles_at_once_are_refused(self):
        one = session()
        with raises("quantiles of a session"):
            one.release(BY, {"m": (fx.Quantiles(count=33, epsilon=1.0, bounds=(0, 100)), "x")})
        assert one.log() == []

    @each(
        "mechanism",
        [
            fx.Quantiles(count=32, epsilon=0.1, bounds=(0, 100)),
            fx.Median(1e-9, (0, 100)),
            fx.Quantile(0.999999999, 1e-9, (0, 100)),
            fx.Quantile(0.000000001, 50.0, (0, 100)),
            fx.Quantile(0.05, 1e-9, (0, 100), widen=3),
            fx.Maximum(1e-9, (0, 100)),
            fx.OrderStatistic(2**31 - 1, 1e-9, (0, 100)),
            fx.OrderStatistic(2**31 - 1, 1.0, (0, 100)),
            fx.Quantiles([0.000000001, 0.999999], 1e-5, (0, 100)),
            fx.ApproximateQuantiles([0.000000001, 0.999999], 1e-9, (0, 100)),
        ],
        ids=repr,
    )
    def test_others_are_answered(self, mechanism):
        assert len(session().release(BY, {"m": (mechanism, "x")})["m"]) == 2


class TestArgumentsThatWereWrittenOver:
    def test_a_promise_is_of_what_is_drawn(self):
        """The price is that of the mechanism with this epsilon, not that of a hidden part."""
        forged = fx.Median(50.0, (0, 100), step=1)
        put(forged, "epsilon", 1e-9)
        one = session()
        draws = {int(one.release(None, {"m": (forged, "x")})["m"][0]) for _ in range(20)}
        assert len(draws) > 3  # of epsilon 50 there would be one
        assert {entry["epsilon"] for entry in one.log()} == {1e-9}

    @each(
        ("name", "value"),
        [
            ("epsilon", Spy()),
            ("epsilon", Whole(1)),
            ("epsilon", -1.0),
            ("epsilon", 0.0),
            ("bounds", (Spy(), 9)),
            ("bounds", [0, 9]),
            ("bounds", None),
            ("grid", Spy()),
            ("neighbors", Text("add-remove")),
            ("neighbors", "both"),
            ("convention", Spy()),
            ("widen", Spy()),
            ("widen", np.arange(3)),
            ("any_epsilon", Spy()),
        ],
        ids=lambda value: str(value)[:20] if isinstance(value, str) else type(value).__name__,
    )
    def test_parameters(self, name, value):
        forged = fx.Median(1.0, (0, 9))
        put(forged, name, value)
        one = session()
        with pytest.raises((fx.ParameterError, fx.ParameterTypeError)):
            one.release(None, {"m": (forged, "x")})
        assert one.log() == []

    @each("name", ["_statistic", "guarantee", "_read", "_draws", "_policy"])
    def test_hidden_parts_do_not_matter(self, name):
        forged = fx.Median(50.0, (0, 100), step=1)
        vars(forged)[name] = Spy()
        found = session().release(None, {"m": (forged, "x")})
        assert found["m"].tolist() == [3]

    def test_fractions(self):
        forged = Fraction(1, 2)
        forged._denominator = Spy()
        quantile = fx.Quantile(0.5, 1.0, (0, 9))
        put(quantile, "q", forged)
        with raises("q: exact types"):
            session().release(None, {"m": (quantile, "x")})

    def test_points_of_a_grid(self):
        forged = fx.Median(50.0, (0, 100), grid=[0.0, 3.0, 100.0])
        forged.grid.points.flags.writeable = True
        forged.grid.points[:] = [0.0, 4.0, 2.0]
        with raises("grid in order"):
            session().release(None, {"m": (forged, "x")})
        put(forged.grid, "listing", Spy())
        with raises("grid: exact types"):
            session().release(None, {"m": (forged, "x")})

    def test_a_group_is_answered_once(self):
        """A group that is listed twice would be drawn twice for one charge."""
        forged = fx.Query("town", ["a", "b"])
        forged.groups.texts = ("a", "a")
        numbers = fx.Query("x", [3, 4])
        put(numbers.groups, "numbers", np.array([3, 3]))
        several = fx.Query(["town", "x"], [("a", 3), ("b", 3)])
        several.groups.index = (np.array([0, 0]), several.groups.index[1])
        one = session()
        for query in (forged, numbers, several):
            with raises("group named twice"):
                one.release(query, ANSWERS)
        assert one.log() == []

    def test_names_of_groups(self):
        forged = fx.Query("town", ["a", "b"])
        for groups in (Spy(), ["a"]):
            put(forged, "groups", groups)
            with raises("attribute that is set"):
                session().release(forged, ANSWERS)
        put(forged, "groups", fx.Query("town", ["a", "b"]).groups)
        forged.groups.texts = ("a", Text("b"))
        with raises("groups: exact types"):
            session().release(forged, ANSWERS)

    @each(
        ("name", "value"),
        [
            ("by", ["town"]),
            ("by", (Text("town"),)),
            ("by", Spy()),
            ("groups", Spy()),
            ("groups", ["a"]),
            ("person", Spy()),
            ("person", Text("who")),
            ("max_rows", Whole(1)),
            ("max_rows", True),
            ("membership", Text("private")),
        ],
    )
    def test_queries(self, name, value):
        forged = fx.Query("town", ["a", "b"])
        put(forged, name, value)
        one = session()
        with pytest.raises((fx.ParameterError, fx.ParameterTypeError)):
            one.release(forged, ANSWERS)
        assert one.log() == []
