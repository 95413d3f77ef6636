"""Does pandas give the core's answers, whatever its types?"""

from __future__ import annotations

import inspect
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import fastexp as fx
import fastexp.pandas as fxpd
from fastexp.errors import InvalidRecords, ParameterError, ParameterTypeError, PrivacyWarning

from . import frame_cases as cases
from .frame_cases import DATA, MEDIAN, PERSONS, QUESTIONS, core_release, core_sample

pytestmark = pytest.mark.engines

KEY = fx.release_key()
every = pytest.mark.parametrize(
    "q", [*QUESTIONS.values(), *PERSONS.values()], ids=[*QUESTIONS, *PERSONS]
)


def plain(data=DATA):
    """NumPy's types and pandas' default strings, but for integers with gaps: floats are no keys."""
    kinds = {"town": "str", "drink": "str", "alias": "str"}
    floats = dict.fromkeys(("rent", "holes", "nans"), "float64")
    return typed(kinds | floats | dict.fromkeys(("zip", "rooms", "person"), "Int64"), data)


def nullable(data=DATA):
    kinds = {"town": "string", "zip": "Int64", "rooms": "Int32", "drink": "string"}
    floats = dict.fromkeys(("rent", "holes"), "Float64")
    others = {"nans": "float64", "person": "Int64", "alias": "string"}
    return typed({**kinds, **floats, **others}, data)


def python_strings(data=DATA):
    text = pd.StringDtype("python")
    return nullable(data).astype({"town": text, "drink": text, "alias": text})


def arrow(data=DATA):
    return cases.table(data, chunks=5 if data["town"] else 1).to_pandas(types_mapper=pd.ArrowDtype)


def categories(data=DATA):
    kinds = {"town": "category", "zip": "category", "drink": "category", "person": "category"}
    return nullable(data).astype(kinds)


def objects(data=DATA):
    return typed(dict.fromkeys(data, "object") | {"rent": "float64", "nans": "float64"}, data)


def typed(kinds, data):
    return pd.DataFrame({name: pd.Series(data[name], dtype=kind) for name, kind in kinds.items()})


KINDS = [plain, nullable, python_strings, arrow, categories, objects]
kinds = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)


class TestFrames:
    @kinds
    @every
    def test_a_keyed_release_is_the_cores(self, kind, q):
        how = {"by": q.by, "groups": q.groups, "key": KEY, **q.how}
        found = kind().fx.release(q.mechanism, q.column, **how)
        assert list(found.columns) == [q.by, q.column]
        assert found[q.by].tolist() == q.groups
        assert found[q.column].tolist() == core_release(DATA, q, KEY)

    @kinds
    @every
    def test_a_seeded_sample_is_the_cores(self, kind, q):
        for size in (None, 3):
            how = {"by": q.by, "groups": q.groups, "size": size, "rng": 5, **q.how}
            found = fxpd.sample(kind(), q.mechanism, q.column, **how)
            answers = [x if size is None else x.tolist() for x in found[q.column]]
            assert answers == core_sample(DATA, q, 5, size)

    @every
    def test_order_index_and_threads_do_not_matter(self, q):
        other = nullable(cases.shuffled())
        other.index = pd.Index(np.arange(len(other)) % 7, name="z")
        how = {"by": q.by, "groups": q.groups, "key": KEY, "threads": 2, **q.how}
        found = other[::-1].fx.release(q.mechanism, q.column, **how)
        assert found.index.equals(pd.RangeIndex(len(q.groups)))
        assert found[q.column].tolist() == core_release(DATA, q, KEY)

    def test_integers_of_any_width(self):
        small = {**DATA, "zip": [z if z is not None and 0 <= z < 100 else 99 for z in DATA["zip"]]}
        q = QUESTIONS["median-zip"]
        for kind in ("int8", "uint8", "UInt16", "int32", "uint64", "int64[pyarrow]"):
            how = {"by": "zip", "groups": q.groups, "key": KEY}
            found = nullable(small).astype({"zip": kind}).fx.release(MEDIAN, "rent", **how)
            assert found["zip"].dtype == np.int64
            assert found["rent"].tolist() == core_release(small, q, KEY)

    def test_strided_and_read_only_columns(self):
        """pandas 3 gives columns read-only; of a matrix they are not contiguous."""
        rows = np.stack([np.arange(60.0), np.arange(60) % 2], axis=1)
        rows.flags.writeable = False
        data = pd.DataFrame(rows, columns=["x", "k"]).astype({"k": "int64"})
        found = data.fx.release(MEDIAN, "x", by="k", groups=[1, 0], key=KEY)["x"].tolist()
        told = {"groups": [1, 0], "key": KEY, "label": "x by k"}
        assert found == MEDIAN.release(list(range(60)), by=[0, 1] * 30, **told).tolist()

    def test_a_frame_is_not_changed(self):
        data = nullable()
        before = data.copy(deep=True)
        data.fx.release(MEDIAN, "holes", by="town", groups=["Oslo"], nan="drop")
        pd.testing.assert_frame_equal(data, before)


class TestShape:
    @every
    def test_it_does_not_tell_which_groups_exist(self, q):
        shown = set()
        for data in (DATA, *cases.neighbors(q)):
            for kind in (nullable, arrow, categories):
                how = {"by": q.by, "groups": q.groups, **q.how}
                found = kind(data).fx.release(q.mechanism, q.column, **how)
                assert not found[q.column].isna().any()
                shown.add((tuple(found[q.by]), tuple(map(str, found.dtypes)), tuple(found)))
        assert len(shown) == 1

    def test_no_group_at_all(self):
        for size in (None, 2):
            found = nullable().fx.sample(MEDIAN, "rent", by="zip", groups=[], size=size)
            assert found.shape == (0, 2)

    def test_the_answers_may_have_another_name(self):
        found = nullable().fx.release(MEDIAN, "rent", by="zip", groups=[30], name="median")
        assert list(found.columns) == ["zip", "median"]


class TestGroupsOfTheData:
    @kinds
    @pytest.mark.parametrize("by", ["town", "zip"])
    def test_sorted_and_with_a_warning(self, kind, by):
        listed = sorted({group for group in DATA[by] if group is not None})
        want = kind().fx.release(MEDIAN, "rent", by=by, groups=listed, key=KEY)
        with pytest.warns(PrivacyWarning, match="which groups exist") as told:
            found = kind().fx.release(MEDIAN, "rent", by=by, groups="from-data", key=KEY)
        assert told[0].filename == __file__
        pd.testing.assert_frame_equal(found, want)
        drawn = kind().fx.sample(MEDIAN, "rent", by=by, groups="from-data", rng=1)  # no warning
        assert drawn[by].tolist() == listed

    @pytest.mark.parametrize("kind", [nullable, arrow])
    @pytest.mark.parametrize(("by", "dtype"), [("town", "str"), ("zip", "int64")])
    def test_of_no_rows_they_keep_their_type(self, kind, by, dtype):
        found = kind(cases.NONE).fx.sample(MEDIAN, "rent", by=by, groups="from-data")
        assert found.shape == (0, 2)
        assert found[by].dtype == pd.Series([], dtype=dtype).dtype


class TestSeries:
    """Of the core's verbs, which take columns of pandas as they are."""

    def test_another_index_is_refused(self):
        data, budget = nullable(), fx.Budget(epsilon=1.0)
        for argument in ("by", "person"):
            how = {"by": data["zip"], "groups": [30], "person": data["person"]}
            how[argument] = how[argument][::-1]
            with pytest.raises(ParameterError, match=f"^{argument} must have the same index"):
                MEDIAN.release(data["rent"], budget=budget, **how)
            with pytest.raises(ParameterError, match=f"^{argument} must have the same index"):
                MEDIAN.sample(data["rent"], **how)
        assert budget.spent == 0.0

    def test_the_same_index_and_none_are_taken(self):
        data = nullable()
        how = {"groups": cases.ZIPS, "rng": 2}
        want = core_sample(DATA, QUESTIONS["median-zip"], 2)
        for by in (data["zip"], data["zip"].copy(), data["zip"].array, DATA["zip"]):
            assert MEDIAN.sample(data["rent"], by=by, **how).tolist() == want


class TestBudget:
    def test_it_is_charged_once(self):
        budget, data = fx.Budget(epsilon=2.5), nullable()
        how = {"groups": ["Oslo"], "budget": budget}
        data.fx.release(MEDIAN, "rent", by="town", **how)
        assert budget.spent == 1.0
        data.fx.release(MEDIAN, "rent", by="town", **how)
        assert budget.spent == 2.0
        with pytest.raises(fx.BudgetExceeded):
            data.fx.release(MEDIAN, "rent", by="town", **how)
        with pytest.raises(ParameterError):
            data.fx.release(MEDIAN, "rents", by="town", **how)
        assert budget.spent == 2.0


class TestMessages:
    @pytest.mark.parametrize("kind", [plain, nullable, arrow])
    def test_missing_records(self, kind):
        for column in ("holes", "nans"):
            with pytest.raises(InvalidRecords, match=r"^records must not be missing or NaN"):
                kind().fx.release(MEDIAN, column, by="town", groups=["Oslo"])

    def test_types(self):
        with pytest.raises(ParameterTypeError, match=r"^frame must be a pandas DataFrame, got"):
            fxpd.release(DATA, MEDIAN, "rent", by="town", groups=["Oslo"])
        for data in (plain(), nullable(), arrow(), objects()):
            with pytest.raises(ParameterTypeError, match=r"^by must (be one column of|hold) "):
                data.fx.release(MEDIAN, "rent", by="rent", groups=[1], name="x")

    def test_columns(self):
        with pytest.raises(ParameterError, match=r"^column must be a column of the frame"):
            nullable().fx.release(MEDIAN, "rents", by="town", groups=["Oslo"])
        twice = nullable()[["rent", "town", "rent"]]
        with pytest.raises(ParameterError, match=r"^frame must have one column of the name 'rent'"):
            twice.fx.release(MEDIAN, "rent", by="town", groups=["Oslo"])
        with pytest.raises(ParameterTypeError, match=r"^by must be a column's name, got Series"):
            nullable().fx.release(MEDIAN, "rent", by=nullable()["town"], groups=["Oslo"])


@pytest.mark.parametrize("verb", ["release", "sample"])
def test_methods_of_frames_tell_what_they_take(verb):
    method = getattr(pd.DataFrame.fx, verb)
    own = list(inspect.signature(method).parameters.values())
    whole = list(inspect.signature(getattr(fxpd, verb)).parameters.values())
    assert own[1:] == whole[1:]
    assert f"`fastexp.pandas.{verb}`" in method.__doc__


@pytest.mark.process
def test_only_the_module_for_pandas_registers_anything():
    code = (
        "import fastexp, sys; fastexp.Median; assert 'pandas' not in sys.modules;"
        "import pandas as pd; assert not hasattr(pd.DataFrame, 'fx');"
        "import fastexp.pandas; pd.DataFrame().fx.release"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=600)
