"""Does every form of frame get the core's answers, in its own kind, and tell nothing else?"""

from __future__ import annotations

import io
import pickle
import re
import warnings
from datetime import date, datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

import fastexp as fx
from tests.doors.query import Reader, find
from tests.messages import raises, says
from tests.support import frame_cases as cases
from tests.support.each import each
from tests.support.frame_cases import DATA, MEDIAN, PERSONS, QUESTIONS, core_release, core_sample
from tests.support.query_frames import FORMS, KINDS, answers, arrow_in_pandas, types_of

pytestmark = pytest.mark.engines
KEY = fx.release_key()
ALL = {**QUESTIONS, **PERSONS}
forms = each("form", FORMS)
every = pytest.mark.parametrize(
    "q",
    [
        pytest.param(q, marks=pytest.mark.fast if name == "alias" else (), id=name)
        for name, q in ALL.items()
    ],
)

# Whose types are told without a row; of categories without a category, too, nothing is.
TYPED = sorted(FORMS.keys() - {"lists", "arrays", "pandas-objects", "pandas-categories"})


def frame(form, data=DATA, chunks=1):
    return FORMS[form](cases.table(data, chunks if data["town"] else 1))


def query(q):
    """The query of a question, and how its missing records are treated."""
    limits = {name: value for name, value in q.how.items() if name != "nan"}
    return fx.Query(by=q.by, groups=q.groups, **limits), {"nan": q.how.get("nan", "raise")}


def released(rows, q, key=KEY, **more):
    asked, nan = query(q)
    return asked.release(rows, {q.column: (q.mechanism, q.column)}, key=key, **nan, **more)


def sampled(rows, q, **more):
    asked, nan = query(q)
    return asked.sample(rows, {q.column: (q.mechanism, q.column)}, **nan, **more)


class TestTheCoresAnswers:
    @forms
    @every
    def test_keyed(self, form, q):
        want = {q.by: q.groups, q.column: core_release(DATA, q, KEY)}
        for data, chunks in ((DATA, 1), (cases.shuffled(), 9)):
            rows = frame(form, data, chunks)
            found = released(rows, q, threads=chunks % 7)
            assert isinstance(found, KINDS.get(form, type(rows)))
            assert answers(found) == want

    @forms
    @every
    def test_simulated(self, form, q):
        for size in (None, 3):
            found = sampled(frame(form, cases.shuffled(), 4), q, size=size, rng=5)
            assert answers(found) == {q.by: q.groups, q.column: core_sample(DATA, q, 5, size)}

    @pytest.mark.parametrize("form", ["polars", "pandas-nullable", "pandas-arrow", "arrow"])
    @every
    def test_of_frames_that_narwhals_alone_knows(self, form, q, monkeypatch):
        """The way of Modin and cuDF, walked by frames that are installed."""
        monkeypatch.setattr(find, "ENGINES", ())
        for data in (DATA, *cases.neighbors(q)[:2]):
            want = {q.by: q.groups, q.column: core_release(data, q, KEY)}
            assert answers(released(frame(form, data), q)) == want
            drawn = sampled(frame(form, data), q, rng=4, size=2)
            assert answers(drawn) == {q.by: q.groups, q.column: core_sample(data, q, 4, 2)}

    def test_of_a_frame_with_an_index(self):
        q = QUESTIONS["median"]
        rows = frame("pandas", cases.shuffled())
        rows.index = pd.Index(np.arange(len(rows)) % 7, name="z")
        before = rows.copy(deep=True)
        found = released(rows[::-1], q)
        assert found.index.equals(pd.RangeIndex(len(q.groups)))
        assert found["rent"].tolist() == core_release(DATA, q, KEY)
        pd.testing.assert_frame_equal(rows, before)

    def test_of_strided_and_read_only_columns(self):
        matrix = np.stack([np.arange(60.0), np.arange(60) % 2], axis=1)
        matrix.flags.writeable = False
        whole = pd.DataFrame(matrix, columns=["x", "k"]).astype({"k": "int64"})
        x = np.arange(120, dtype=np.float32)[::2]
        x.flags.writeable = False
        asked = fx.Query(by="k", groups=[1, 0])
        for rows, records in (
            (whole, matrix[:, 0]),
            (pl.DataFrame({"k": np.tile([0, 1], 30).astype(np.int8), "x": x}), x),
            ({"k": np.tile([0, 1], 30).astype(np.uint8), "x": x}, x),
        ):
            found = asked.release(rows, {"x": (MEDIAN, "x")}, key=KEY)
            told = {"groups": [1, 0], "key": KEY, "label": "x by k"}
            want = MEDIAN.release(records.tolist(), by=[0, 1] * 30, **told)
            assert answers(found)["x"] == want.tolist()

    @each("form", ["polars", "polars-lazy", "pandas-arrow", "arrow-reader"])
    @each("nan", ["drop", "lower", "upper"])
    @each("person", [{}, {"person": "person"}, {"person": "alias", "max_rows": 2}])
    def test_what_counts_is_part_of_a_keyed_question(self, form, nan, person):
        q = cases.Question(MEDIAN, "holes", "town", {"nan": nan, **person})
        assert answers(released(frame(form), q))["holes"] == core_release(DATA, q, KEY)


class TestColumnsOfOtherTypes:
    @each(
        "kind",
        [pa.string(), pa.string_view(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())],
        ids=str,
    )
    def test_texts(self, kind):
        q = QUESTIONS["median"]
        for form in ("arrow", "arrow-reader", "stream", "polars", "pandas-arrow", "arrow-dataset"):
            if form.startswith("pandas") and kind == pa.string_view():
                continue  # pandas turns no rows of them into anything
            whole = cases.table(chunks=3)
            towns = whole["town"].cast(pa.string())
            towns = towns.dictionary_encode() if "dictionary" in str(kind) else towns.cast(kind)
            found = released(FORMS[form](whole.set_column(0, "town", towns)), q)
            assert answers(found)["rent"] == core_release(DATA, q, KEY)

    @pytest.mark.parametrize(
        "kind", [pl.Categorical, pl.Enum(sorted({t for t in DATA["town"] if t} | {""}))], ids=str
    )
    def test_categories_of_polars(self, kind):
        q = QUESTIONS["median"]
        rows = pl.DataFrame(cases.table(chunks=4)).with_columns(pl.col("town").cast(kind))
        found = released(rows, q)
        assert found.schema == {"town": pl.String, "rent": pl.Int64}
        assert found["rent"].to_list() == core_release(DATA, q, KEY)

    def test_strings_of_pandas(self):
        q, text = QUESTIONS["median"], pd.StringDtype("python")
        rows = frame("pandas-nullable").astype({"town": text, "drink": text, "alias": text})
        assert released(rows, q)["rent"].tolist() == core_release(DATA, q, KEY)
        q = PERSONS["person-drink"]
        for name in ("zip", "drink", "person"):
            found = released(frame("pandas-nullable").astype({name: "category"}), q)
            assert found["drink"].tolist() == core_release(DATA, q, KEY)

    def test_chunks_with_dictionaries_of_their_own(self):
        parts = [
            pa.table({"town": pa.array(towns).dictionary_encode(), "rent": [1.0, 2.0]})
            for towns in (["Oslo", "Rome"], ["Rome", "Bern"])
        ]
        whole = pa.concat_tables(parts)
        plain = whole.set_column(0, "town", whole["town"].cast(pa.string()))
        for form in ("arrow", "stream", "arrow-dataset"):
            q = QUESTIONS["median"]
            assert answers(released(FORMS[form](whole), q)) == answers(released(plain, q))

    @pytest.mark.parametrize("form", ["arrow-reader", "stream"])
    def test_views_of_text(self, form):
        """Of which pyarrow leaves out no rows."""
        data = {"town": ["Oslo", "Bergen", None] * 99, "drink": ["tea", "cola", "milk"] * 99}
        views = pa.table(data, pa.schema({name: pa.string_view() for name in data}))
        q = cases.Question(cases.DRINK, "drink", "town", {"person": "drink"})
        budget = fx.Budget(epsilon=1.0)
        found = released(FORMS[form](views), q, budget=budget)
        assert found == released(pa.table(data), q)

    @each("form", ["arrow", "arrow-reader", "stream", "pandas-arrow"])
    def test_dictionaries_with_gaps_in_them(self, form):
        codes, records = pa.array([0, 1, None, 2, 0]), [1.0, 50.0, 2.0, 60.0, 99.0]
        for entries, groups in ((["a", "b", None], ["b", "a"]), ([7, None, 9], [9, 7])):
            keys = pa.DictionaryArray.from_arrays(codes, pa.array(entries))
            rows = FORMS[form](pa.table({"k": keys, "x": records}))
            found = fx.Query(by="k", groups=groups).release(rows, {"x": (MEDIAN, "x")}, key=KEY)
            told = {"groups": groups, "key": KEY, "label": "x by k"}
            want = MEDIAN.release(records, by=keys.to_pylist(), **told)
            assert answers(found)["x"] == want.tolist()

    @each("kind", [pa.int8(), pa.int16(), pa.uint16(), pa.uint32(), pa.uint64()])
    @each("form", ["arrow", "polars", "polars-lazy", "pandas", "pandas-arrow"])
    def test_integers_of_any_width(self, form, kind):
        q = QUESTIONS["median-zip"]
        data = {"zip": [30, 12, 30, None, 5], "rent": [1.0, 2.0, 3.0, 4.0, 5.0]}
        rows = FORMS[form](pa.table({"zip": pa.array(data["zip"], kind), "rent": data["rent"]}))
        if form == "pandas":
            rows = rows.astype({"zip": str(kind).replace("int", "Int").replace("u", "U")})
        want = MEDIAN.release(data["rent"], by=data["zip"], groups=q.groups, key=KEY, label=q.label)
        assert answers(released(rows, q)) == {"zip": q.groups, "rent": want.tolist()}

    @forms
    @each("gaps", [False, True])
    def test_persons_beyond_int64(self, form, gaps):
        """As hashes are."""
        persons = [None if gaps and i % 7 == 0 else 2**64 - 1 - i % 9 for i in range(60)]
        data = {"k": [i % 2 for i in range(60)], "x": [float(i) for i in range(60)]}
        table = pa.table({**data, "p": pa.array(persons, pa.uint64())})
        asked = fx.Query(by="k", groups=[1, 0], person="p", max_rows=2)
        found = asked.release(FORMS[form](table), {"x": (MEDIAN, "x")}, key=KEY)
        told = {"groups": [1, 0], "max_rows": 2, "key": KEY, "label": "x by k"}
        want = MEDIAN.release(data["x"], by=data["k"], person=persons, **told)
        assert answers(found)["x"] == want.tolist()

    @each(
        "items",
        [
            [date(2020, 1, 1), date(1800, 1, 1)],
            [datetime(2020, 1, 1, 1), datetime(1800, 1, 1)],
            [True, False],
            [8, 7],
            ["Rome", "Oslo"],
        ],
        ids=lambda items: type(items[0]).__name__,
    )
    def test_categories_of_arrow_in_pandas(self, items):
        k = [items[i % 2] for i in range(60)]
        table = pa.table({"k": k, "x": [float(i) for i in range(60)]})
        rows = arrow_in_pandas(table)
        rows["k"] = rows["k"].astype("category")
        asked, median = fx.Query(by="k", groups=items), {"x": (MEDIAN, "x")}
        want = asked.release(table, median, key=KEY)["x"].to_pylist()
        assert asked.release(rows, median, key=KEY)["x"].tolist() == want
        listed = fx.Query(by="k", groups=pd.Index(rows["k"].cat.categories))
        assert listed.release(rows, median, key=KEY)["x"].tolist() == want[::-1]
        if not isinstance(items[0], date):
            common = {"k": (fx.MostCommon(9.0, candidates=items), "k")}
            want = fx.Query().sample(table, common, size=5, rng=1)["k"].to_pylist()
            assert answers(fx.Query().sample(rows, common, size=5, rng=1))["k"] == want

    def test_a_row_that_is_a_list_is_no_key(self):
        for keys in ([[7]], [(7,)], [np.array([7])]):
            with raises("column 'k' of by: column of keys"):
                fx.Query(by="k", groups=[7]).release({"k": keys, "x": [5]}, {"x": (MEDIAN, "x")})

    def test_sparse_keys_of_pandas(self):
        keys = [1, 0, 0, 3] * 9
        rows = pd.DataFrame({"k": pd.arrays.SparseArray(keys), "x": np.arange(36.0)})
        asked = fx.Query(by="k", groups=[3, 0, 1], person="k", max_rows=99)
        found = asked.release(rows, {"x": (MEDIAN, "x")}, key=KEY)
        want = asked.release({"k": keys, "x": rows["x"]}, {"x": (MEDIAN, "x")}, key=KEY)
        assert found["x"].tolist() == want["x"].tolist()

    @each(
        "rows",
        [
            pd.DataFrame(np.ones((4, 2))),
            pd.DataFrame(),
            pl.DataFrame(),
            pl.LazyFrame(),
            pa.table({}),
            {},
            {0: [1], 1: [1]},
        ],
        ids=lambda rows: type(rows).__name__,
    )
    def test_frames_of_no_names(self, rows):
        budget = fx.Budget(epsilon=1.0)
        for asked in (fx.Query(), fx.Query(by="k", groups=[1])):
            with raises("column of no text name", column=re.compile("'.'")):
                asked.release(rows, {"x": (MEDIAN, "x")}, budget=budget)
        with raises("one column of the groups"):
            fx.Query(by="k", groups=rows)
        assert budget.charges == 0

    @each("form", ["arrow", "polars", "pandas-arrow", "stream", "arrays"])
    def test_keys_beyond_int64_are_not_listed(self, form):
        rows = {"k": np.array([2**64 - 1, 1], np.uint64), "x": [1.0, 2.0]}
        asked = fx.Query(by="k", groups=[-1, 1])
        both = [
            asked.sample(FORMS[form](part), {"x": (MEDIAN, "x")}, rng=1)
            for part in (pa.table(rows), pa.table(rows)[1:])
        ]
        assert answers(both[0]) == answers(both[1])

    def test_what_is_no_utf8_is_no_listed_group(self):
        raw = pa.array([b"\xff", b"a", b"\xef\xbf\xbd"]).cast(pa.binary())
        whole = pa.table({"k": pa.StringArray.from_buffers(3, *raw.buffers()[1:]), "x": [1, 2, 3]})
        asked = fx.Query(by="k", groups=["\ufffd", "a"])
        for form in ("arrow", "stream"):
            both = [
                asked.sample(FORMS[form](part), {"x": (MEDIAN, "x")}, rng=1)
                for part in (whole, whole[1:])
            ]
            assert answers(both[0]) == answers(both[1])

    def test_a_plan_before_it_counts(self, tmp_path):
        q = QUESTIONS["median"]
        plan = frame("polars-lazy").filter(pl.col("rent") > 50).with_columns(pl.col("rent") / 2)
        assert released(plan, q).collect().equals(released(plan.collect(), q))
        frame("polars", chunks=4).write_parquet(tmp_path / "x.parquet", row_group_size=50)
        found = released(pl.scan_parquet(tmp_path / "x.parquet"), q).collect()
        assert found["rent"].to_list() == core_release(DATA, q, KEY)


# Of each kind of keys: the type, the rows' keys, the public list, and one that is another kind's.
TIMES = ["2020-01-01T00:00:00", "1969-12-31T23:59:59", None, "2020-01-01T00:00:01"]
KEYED = {
    "booleans": (pa.bool_(), [True, False, None, True], [False, True]),
    "dates": (
        pa.date32(),
        [date(2020, 1, 1), date(1969, 12, 31), None, date(2020, 1, 2)],
        [date(1969, 12, 31), date(1999, 1, 1), date(2020, 1, 1)],
    ),
    **{
        f"timestamps-{unit}": (
            pa.timestamp(unit),
            [None if x is None else datetime.fromisoformat(x) for x in TIMES],
            [datetime(1969, 12, 31, 23, 59, 59), datetime(2020, 1, 1)],
        )
        for unit in ("s", "ms", "us", "ns")
    },
}
RENT = [float(i * 7 % 100) for i in range(400)]


class TestKeysOfOtherKinds:
    @each("kind", KEYED)
    @forms
    def test_groups_and_persons(self, form, kind):
        of_keys, keys, groups = KEYED[kind]
        keys = keys * 100
        rows = FORMS[form](pa.table({"k": pa.array(keys, of_keys), "x": RENT}))
        told = {"groups": groups, "key": KEY, "label": "x by k"}
        want = MEDIAN.release(RENT, by=keys, **told).tolist()
        found = fx.Query(by="k", groups=groups).release(rows, {"x": (MEDIAN, "x")}, key=KEY)
        found = answers(found)
        assert found["x"] == want
        instants = (lambda x: x) if kind == "booleans" else np.datetime64
        assert list(map(instants, found["k"])) == list(map(instants, groups))
        rows = FORMS[form](pa.table({"p": pa.array(keys, of_keys), "x": RENT}))
        want = MEDIAN.release(RENT, person=keys, max_rows=50, key=KEY, label="x")
        asked = fx.Query(person="p", max_rows=50)
        assert answers(asked.release(rows, {"x": (MEDIAN, "x")}, key=KEY))["x"] == [want]

    @forms
    def test_of_several_columns(self, form):
        by, groups = ["town", "zip", "day"], []
        days = [date(2020, 1, 1 + i % 3) if i % 7 else None for i in range(cases.ROWS)]
        table = cases.table().append_column("day", pa.array(days, pa.date32()))
        rows = list(zip(DATA["town"], DATA["zip"], days, strict=True))
        groups = [*dict.fromkeys(r for r in rows[:40] if None not in r), ("Oslo", 404, days[1])]
        told = {"groups": groups, "key": KEY, "label": "rent by town, zip, day"}
        columns = [DATA["town"], DATA["zip"], days]
        want = MEDIAN.release(DATA["rent"], by=columns, **told).tolist()
        asked = fx.Query(by=by, groups=groups)
        found = answers(asked.release(FORMS[form](table), {"x": (MEDIAN, "rent")}, key=KEY))
        assert found["x"] == want
        assert list(zip(found["town"], found["zip"], map(day, found["day"]), strict=True)) == groups
        with pytest.warns(fx.PrivacyWarning):
            found = fx.Query(by=by, groups="from-data").release(
                FORMS[form](table), {"x": (MEDIAN, "rent")}, key=KEY
            )
        found = answers(found)
        listed = list(zip(found["town"], found["zip"], map(day, found["day"]), strict=True))
        assert listed == sorted({row for row in rows if None not in row})

    @each("kind", KEYED)
    def test_a_kind_is_not_another(self, kind):
        of_keys, keys, _ = KEYED[kind]
        budget = fx.Budget(epsilon=1.0)
        for groups in ([0, 1], ["True"], [True], [date(2020, 1, 1)], [datetime(2020, 1, 1)]):
            if kind.startswith({bool: "b", date: "d", datetime: "t"}.get(type(groups[0]), "-")):
                continue
            for form in ("polars", "polars-lazy", "pandas-arrow", "arrow", "arrow-reader"):
                rows = FORMS[form](pa.table({"k": pa.array(keys, of_keys), "x": RENT[:4]}))
                with raises(
                    "column 'k' of by: keys of the groups' kind",
                    "by: column of the groups' kind",
                ):
                    fx.Query(by="k", groups=groups).release(
                        rows, {"x": (MEDIAN, "x")}, budget=budget
                    )
        assert budget.spent == 0.0


def day(found):
    return found.date() if isinstance(found, datetime) else found


class TestTheShapeTellsNothing:
    @forms
    @each("name", ["median", "fine", "drink", "integers"])
    def test_whatever_the_groups_that_exist(self, form, name):
        q = QUESTIONS[name]
        shown, drawn = set(), set()
        for data in (DATA, *cases.neighbors(q)):
            if form == "arrow-batch" and not data["town"]:
                continue
            found = released(frame(form, data), q, key=None)
            shown.add((tuple(answers(found)[q.by]), str(types_of(found))))
            assert None not in answers(found)[q.column]
            drawn.add(str(types_of(sampled(frame(form, data), q, size=2))))
        assert len(shown) == len(drawn) == 1

    @forms
    def test_no_group_and_no_draw_at_all(self, form):
        for mechanism, column in ((MEDIAN, "rent"), (cases.DRINK, "drink")):
            asked, answer = fx.Query(by="zip", groups=[]), {"x": (mechanism, column)}
            for size in (None, 2):
                found = asked.sample(frame(form), answer, size=size)
                assert {name: len(column) for name, column in answers(found).items()} == {
                    "zip": 0,
                    "x": 0,
                }
        found = fx.Query(by="zip", groups=[1, 2]).sample(frame(form), answer, size=0)
        assert answers(found) == {"zip": [1, 2], "x": [[], []]}

    def test_frames_whose_columns_have_no_type(self):
        """All null, as of an empty file."""
        none = pa.table({"k": pa.nulls(1), "x": pa.nulls(1)})
        for form in FORMS:
            for groups in (["a", "b"], [1]):
                asked = fx.Query(by="k", groups=groups)
                found = asked.release(FORMS[form](none), {"x": (MEDIAN, "x")}, nan="drop")
                assert len(answers(found)["x"]) == len(groups)

    def test_a_column_may_be_its_own_group_and_person(self):
        mode, asked = fx.MostCommon(1.0, ["Oslo", "Rome"]), {"by": "town", "groups": ["Oslo"]}
        for form in FORMS:
            found = fx.Query(**asked).release(frame(form), {"mode": (mode, "town")})
            assert answers(found) == {"town": ["Oslo"], "mode": ["Oslo"]}
        q = fx.Query(**asked, person="town")
        assert answers(q.release(frame("polars"), {"mode": (mode, "town")}))["town"] == ["Oslo"]


class TestGroupsFromTheData:
    @forms
    @each("by", ["town", "zip"])
    def test_are_sorted_and_come_with_a_warning(self, form, by):
        there = sorted({g for g in DATA[by] if g is not None})
        answer = {"rent": (MEDIAN, "rent")}
        with pytest.warns(fx.PrivacyWarning, match=says("groups from the data")) as told:
            found = fx.Query(by=by, groups="from-data").release(frame(form), answer, key=KEY)
        assert told[0].filename == __file__
        told = {"groups": there, "key": KEY, "label": f"rent by {by}"}
        want = MEDIAN.release(DATA["rent"], by=DATA[by], **told)
        assert answers(found) == {by: there, "rent": want.tolist()}
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            fx.Query(by=by, groups="from-data").sample(frame(form), answer, rng=1)

    @pytest.mark.filterwarnings("ignore::fastexp.PrivacyWarning")
    @each("form", sorted(set(TYPED) - {"arrow-batch"}))
    def test_have_their_type_without_a_row(self, form):
        for by in ("town", "zip"):
            asked = fx.Query(by=by, groups="from-data")
            kinds = {
                str(types_of(asked.release(frame(form, data), {"x": (MEDIAN, "rent")})))
                for data in (DATA, cases.NONE)
            }
            assert len(kinds) == 1

    @pytest.mark.filterwarnings("ignore::fastexp.PrivacyWarning")
    @pytest.mark.parametrize("width", [1, 2])
    def test_days_that_python_has_no_dates_for(self, width):
        days = np.array([10**6, 0, -(10**6), 10**7, -1])
        column = pa.array(days, pa.int32()).cast(pa.date32())
        table = pa.table({"day": column, "k": [7] * 5, "x": [1.0] * 5})
        asked = fx.Query(by=["day", "k"][:width], groups="from-data")
        for form in ("arrow", "polars", "pandas-arrow", "stream", "arrow-dataset"):
            found = asked.release(FORMS[form](table), {"x": (MEDIAN, "x")})["day"]
            found = np.array(found, "M8[D]") if form == "pandas-arrow" else found.to_numpy()
            assert found.astype(np.int64).tolist() == sorted(days.tolist())


class TestCharges:
    @forms
    def test_once_for_a_call(self, form):
        q, budget = QUESTIONS["median"], fx.Budget(epsilon=2.5)
        answer = {"x": (MEDIAN, "rent")}
        fx.Query(by="town", groups=["Oslo"], max_groups=2).release(
            frame(form), answer, budget=budget
        )
        assert budget.spent == 2.0
        with pytest.raises(fx.BudgetExceeded):
            released(frame(form), q, key=None, budget=budget)
        assert (budget.spent, budget.charges) == (2.0, 1)

    def test_nothing_is_read_before(self):
        reader, q = cases.table().to_reader(100), QUESTIONS["median"]
        with pytest.raises(fx.BudgetExceeded):
            released(reader, q, budget=fx.Budget(epsilon=0.5))
        assert answers(released(reader, q))["rent"] == core_release(DATA, q, KEY)

    @forms
    def test_missing_records_are_found_after_it_and_their_message_holds_no_data(self, form):
        for column in ("holes", "nans"):
            budget = fx.Budget(epsilon=1.0)
            asked = fx.Query(by="town", groups=["Oslo"])
            named = says("missing records", records=f"records of column {column!r}")
            with pytest.raises(fx.InvalidRecords, match=says(named)) as told:
                asked.release(frame(form), {"x": (MEDIAN, column)}, budget=budget)
            assert not any(c.isdigit() for c in str(told.value))
            assert budget.remaining == 0.0

    @each("form", sorted(FORMS.keys() - {"stream"}))
    @each(
        ("by", "person", "column"),
        [("city", None, "rent"), ("town", "who", "rent"), ("town", None, "rents")],
    )
    def test_nothing_for_a_column_that_is_not_there(self, form, by, person, column):
        budget = fx.Budget(epsilon=1.0)
        asked = fx.Query(by=by, groups=["Oslo"], person=person)
        with raises(
            "column that is not there",
            column=re.compile("'(city|who|rents)'"),
            present="...'town', 'zip'...",
        ):
            asked.release(frame(form), {"x": (MEDIAN, column)}, budget=budget)
        assert budget.spent == 0.0

    def test_columns_of_a_wide_frame_are_not_all_listed(self):
        wide, asked = pl.DataFrame({f"c{i}": [1] for i in range(21)}), fx.Query(by="c1", groups=[1])
        for width, shown in {20: "'c18', 'c19'", 21: "'c18', 'c19', ..."}.items():
            with pytest.raises(fx.ParameterError) as told:
                asked.release(wide[:, :width], {"x": (MEDIAN, "x")})
            assert str(told.value).endswith(shown)

    @each("candidates", [[1, 2**63], [1, -(2**63) - 1], ["a", "\ud800"]])
    def test_nothing_for_candidates_or_names_that_no_column_holds(self, candidates):
        budget, mechanism = fx.Budget(epsilon=1.0), fx.MostCommon(1.0, candidates)
        for form in FORMS:
            asked = fx.Query(by="town", groups=["Oslo"])
            with raises("candidates of 64 bits", "candidates of valid text"):
                asked.release(frame(form), {"x": (mechanism, "drink")}, budget=budget)
            for name in ("", "\ud800"):
                with raises("names of columns"):
                    asked.release(frame(form), {name: (MEDIAN, "rent")}, budget=budget)
        assert budget.spent == 0.0

    @pytest.mark.parametrize(
        "rows",
        [
            pd.DataFrame([[1.0, 2.0, "Oslo"]], columns=["rent", "rent", "town"]),
            pa.table([[1.0], [2.0], ["Oslo"]], names=["rent", "rent", "town"]),
        ],
        ids=["pandas", "arrow"],
    )
    def test_nothing_for_a_column_that_is_there_twice(self, rows):
        budget = fx.Budget(epsilon=1.0)
        with raises("several columns of a name"):
            released(rows, QUESTIONS["median"], budget=budget)
        assert budget.spent == 0.0


TOWNS = ["Oslo", "Rome"]
FINE = fx.Median(epsilon=1.0, bounds=(-1000.0, 1000.0))  # keyed answers tell any other record
MONEY = [None, *map(Decimal, ("0.10", "99.99", "-3.35", "0.07", "512.29", "1e-2", "719.03"))]
ASKED = fx.Query(by="town", groups=TOWNS)
DRINK = fx.MostCommon(epsilon=1.0, candidates=["7", "8"])
ROOMS = fx.MostCommon(epsilon=1.0, candidates=[7, 8])
HOME = fx.MostCommon(epsilon=1.0, candidates=TOWNS)
NO_NUMBERS = {
    "booleans": pa.array([True, False]),
    "dates": pa.array([date(2020, 1, 2)] * 2),
    "times": pa.array([datetime(2020, 1, 2)] * 2),
    "text": pa.array(["7", "8"]),
    "categories": pa.array(["7", "8"]).dictionary_encode(),
    "lists": pa.array([[1.0], [2.0]]),
}
OBJECTS = dict.fromkeys(("pandas", "pandas-own-type", "pandas-nullable"), ("dates", "lists"))


class TestTypesOfRecords:
    @forms
    @each(
        "kind",
        [
            pa.decimal32(7, 2),
            pa.decimal64(12, 2),
            pa.decimal128(20, 4),
            pa.decimal128(38, 9),
            pa.decimal256(60, 9),
        ],
        ids=str,
    )
    def test_decimals_are_the_nearest_doubles(self, form, kind):
        arrow = form.startswith(("arrow", "stream", "narwhals-v2"))
        if kind.bit_width != 128 and not arrow:
            return  # other libraries have no such decimals
        towns = [TOWNS[i % 2] for i in range(len(MONEY))]
        table = pa.table(
            {"town": pa.array(towns, pa.large_string()), "rent": pa.array(MONEY, kind)}
        )
        doubles = [float("nan") if x is None else float(x) for x in MONEY]
        told = {"groups": TOWNS, "key": KEY, "label": "rent by town", "nan": "drop"}
        want = FINE.release(doubles, by=towns, **told)
        found = ASKED.release(FORMS[form](table), {"rent": (FINE, "rent")}, key=KEY, nan="drop")
        assert answers(found)["rent"] == want.tolist()
        with raises("missing records"):
            ASKED.release(FORMS[form](table), {"rent": (FINE, "rent")})

    @forms
    def test_money_is_the_nearest_double(self, form):
        """0.35 lies half-way, at the point of even index; the next double would not."""
        table = pa.table({"rent": pa.array([Decimal("0.35")] * 9, pa.decimal128(20, 2))})
        half = fx.Median(200.0, bounds=(0, 1), grid=[0.0, 0.7])
        assert answers(fx.Query().release(FORMS[form](table), {"x": (half, "rent")})) == {
            "x": [0.0]
        }

    @each("form", TYPED)
    @each("kind", ["integers", "floats", *NO_NUMBERS])
    @each("mechanism", [FINE, DRINK, ROOMS], ids=["numbers", "text", "integers"])
    def test_others_are_refused_by_column_and_type(self, form, mechanism, kind):
        if kind in OBJECTS.get(form, ()):
            return  # objects, of what type is not known
        columns = {"integers": pa.array([7, 8]), "floats": pa.array([7.0, 8.0]), **NO_NUMBERS}
        table = pa.table({"town": pa.array(TOWNS, pa.large_string()), "rent": columns[kind]})
        budget = fx.Budget(epsilon=1.0)
        answer = {"rent": (mechanism, "rent")}
        if kind in (("text", "categories") if mechanism is DRINK else ("integers", "floats")):
            ASKED.release(FORMS[form](table), answer, budget=budget)
            return
        wanted = "text" if mechanism is DRINK else "integers, floats or decimals"
        told = says(
            "column of a type", argument="answers['rent']", wanted=f"{wanted}...", column="'rent'"
        )
        with pytest.raises(fx.ParameterTypeError, match=says(told)):
            ASKED.release(FORMS[form](table), answer, budget=budget)
        assert budget.spent == (1.0 if form == "stream" else 0.0)

    @each("items", [[True, False], [date(2020, 1, 2)] * 2, [[1.0], [2.0]]])
    def test_objects_are_refused_by_what_they_are(self, items):
        rows = pd.DataFrame({"town": TOWNS, "rent": pd.Series(items, dtype=object)})
        told = says("numbers of a type", argument="records", got=re.compile(r"[\w ]+"))
        with pytest.raises(fx.ParameterTypeError, match=says(told)):
            ASKED.release(rows, {"rent": (FINE, "rent")})
        with raises("array of records", "numbers of a type", argument="records"):
            ASKED.release({"town": TOWNS, "rent": items}, {"rent": (FINE, "rent")})

    @forms
    @each("mechanism", [FINE, DRINK, ROOMS], ids=["numbers", "text", "integers"])
    def test_a_column_of_nothing_is_all_missing(self, form, mechanism):
        table = pa.table({"town": pa.array(TOWNS, pa.large_string()), "rent": pa.nulls(2)})
        ASKED.release(FORMS[form](table), {"rent": (mechanism, "rent")}, nan="drop")

    @forms
    def test_booleans_are_candidates(self, form):
        table = pa.table({"flag": pa.array([None, *[True] * 90, False, None, *[True] * 90])})
        asked = {"x": (fx.MostCommon(9.0, candidates=[False, True]), "flag")}
        assert answers(fx.Query().release(FORMS[form](table), asked)) == {"x": [True]}

    @each("form", TYPED)
    def test_keys_of_another_type_than_listed_are_refused_by_column(self, form):
        columns = {"a": ["x", "y"], "b": [7, 8], "c": [True, False], "v": [1.0, 2.0]}
        rows, listed = pa.table(columns), ("x", 7, True)
        for i, column in enumerate("abc"):
            others = {kind: listed[j] for j, kind in enumerate(("text", "integers", "booleans"))}
            for kind, other in others.items():
                if other == listed[i]:
                    continue
                groups = [(*listed[:i], other, *listed[i + 1 :])]
                asked, budget = fx.Query(by=["a", "b", "c"], groups=groups), fx.Budget(epsilon=1.0)
                told = says(
                    "column of the groups' kind", argument="by", reading=kind, column=repr(column)
                )
                with pytest.raises(fx.ParameterTypeError, match=says(told)):
                    asked.release(FORMS[form](rows), {"x": (MEDIAN, "v")}, budget=budget)
                assert budget.spent == (1.0 if form == "stream" else 0.0)
        asked = fx.Query(by=["a", "b"], groups=[])
        asked.release(FORMS[form](rows), {"x": (MEDIAN, "v")})

    @each("form", TYPED)
    def test_floats_are_no_groups_or_persons(self, form):
        budget = fx.Budget(epsilon=1.0)
        for asked in (
            fx.Query(by="rent", groups=[1]),
            fx.Query(by="town", groups=TOWNS, person="rent"),
            fx.Query(by=["town", "rent"], groups=[("Oslo", 1)]),
        ):
            for data in (DATA, cases.NONE):
                if form == "arrow-batch" and data is cases.NONE:
                    continue
                with raises("types of a column of keys", argument=re.compile("by|person")):
                    asked.release(frame(form, data), {"x": (MEDIAN, "holes")}, budget=budget)
                assert budget.spent in ((0.0, 1.0) if form == "stream" else (0.0,))
                budget = fx.Budget(epsilon=1.0)


class Source:
    """Rows that are others each time that they are read."""

    def __init__(self):
        self.reads = 0

    def frame(self):
        self.reads += 1
        return pd.DataFrame({"town": ["Oslo", "Rome"] * 50, "rent": float(self.reads)})


class TestDrawnOnce:
    """Where the release is called, whatever an engine does afterwards."""

    def test_of_a_file_that_changes(self, tmp_path):
        source, path, budget = Source(), tmp_path / "rents.csv", fx.Budget(epsilon=1.0)
        source.frame().to_csv(path, index=False)
        plan = ASKED.release(pl.scan_csv(path), {"rent": (FINE, "rent")}, budget=budget)
        drawn = set()
        for _ in range(20):
            source.frame().to_csv(path, index=False)
            drawn.add(tuple(plan.collect()["rent"]))
        assert len(drawn) == 1
        assert (budget.spent, budget.charges) == (1.0, 1)

    def test_rows_are_read_once_and_after_the_charge(self):
        source, budget, spent = Source(), fx.Budget(epsilon=1.0), []

        def read(_):
            spent.append(budget.spent)
            return pl.from_pandas(source.frame())

        rows = pl.LazyFrame({"town": ["Oslo"], "rent": [1.0]}).map_batches(read)
        plan = ASKED.release(rows, {"rent": (FINE, "rent")}, budget=budget)
        plan.collect()
        pl.concat([plan, plan]).collect()
        assert (source.reads, spent) == (1, [1.0])

    def test_what_a_plan_says_when_it_fails_is_withheld(self):
        def fail(_):
            raise ValueError("secret")

        rows, budget = (
            pl.LazyFrame({"town": ["Oslo"], "rent": [1.0]}).map_batches(fail),
            fx.Budget(1),
        )
        with raises("failed engine") as told:
            ASKED.release(rows, {"rent": (FINE, "rent")}, budget=budget)
        assert told.value.__cause__ is told.value.__context__ is None
        assert budget.charges == 1

    def test_no_plan_holds_a_key(self):
        secret = KEY.export().split("-")[3].encode()
        rows = pl.from_pandas(Source().frame()).lazy()
        plan = ASKED.release(rows, {"rent": (FINE, "rent")}, key=KEY)
        for text in (plan.serialize(), pickle.dumps(plan), plan.explain().encode()):
            assert secret not in text
        again = pl.LazyFrame.deserialize(io.BytesIO(plan.serialize()))
        assert again.collect().equals(plan.collect())


class TestReading:
    """What happens while rows are read depends on them: it is charged, and says nothing else."""

    @pytest.fixture
    def failing(self):
        def fail(_):
            raise ValueError("secret")

        rows = Source().frame()
        mixed = rows.assign(rent=pd.Series([1.0, "secret"] * 50, dtype=object))

        def batches():
            yield pa.RecordBatch.from_pandas(rows[:5])
            raise ValueError("secret")

        schema = pa.Schema.from_pandas(rows)
        return [
            Mixed(mixed),
            pl.from_pandas(rows).lazy().map_batches(fail),
            pa.RecordBatchReader.from_batches(schema, batches()),
            ds.Scanner.from_batches(batches(), schema=schema),
        ]

    def test_nothing_runs_before_the_charge(self, failing):
        for rows in failing:
            budget = fx.Budget(epsilon=0.5)
            with pytest.raises(fx.BudgetExceeded):
                ASKED.release(rows, {"rent": (FINE, "rent")}, budget=budget)

    def test_failures_are_charged_and_their_messages_withheld(self, failing):
        for rows in failing:
            budget = fx.Budget(epsilon=1.0)
            with pytest.raises(fx.InvalidRecords) as told:
                ASKED.release(rows, {"rent": (FINE, "rent")}, budget=budget)
            assert "secret" not in str(told.value)
            assert told.value.__cause__ is told.value.__context__ is None
            assert budget.remaining == 0.0

    @each("again", ["released_of", "session_of"])
    @each("before", ["released_of", "session_of"])
    def test_streams_that_were_read_are_refused_before_the_charge(self, before, again):
        """Of pyarrow, and of a library that fastexp does not know."""
        rows = pa.Table.from_pandas(Source().frame())
        for stream in (rows.to_reader(), Once(rows.to_reader())):
            budget = fx.Budget(epsilon=9.0)
            globals()[before](stream, budget)
            spent = budget.spent
            with raises("stream that was read"):
                globals()[again](stream, budget)
            assert budget.spent == spent
            released_of(rows.to_reader(), budget)
            released_of(rows.slice(0, 0).to_reader(), budget)  # no rows are none that were read

    def test_streams_that_say_that_they_are_closed_are_refused(self):
        stream, budget = Once(None), fx.Budget(epsilon=9.0)
        stream.closed = True
        with raises("stream that was read"):
            released_of(stream, budget)
        assert budget.charges == 0

    def test_a_mistake_of_ours_is_not_the_engines(self, monkeypatch):
        monkeypatch.setattr(Reader, "part", lambda *_: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            released(frame("stream"), QUESTIONS["median"])


def released_of(rows, budget):
    return ASKED.release(rows, {"rent": (FINE, "rent")}, budget=budget)


def session_of(rows, budget):
    return fx.Session(rows, budget=budget)


class Once:
    """A stream that is an iterator, as those of pyarrow are."""

    def __init__(self, reader):
        self._reader = reader

    def __next__(self):
        return next(self._reader)

    def __arrow_c_stream__(self, requested_schema=None):
        return self._reader.__arrow_c_stream__(requested_schema)


class Mixed:
    """A stream that its producer cannot give."""

    def __init__(self, rows):
        self._rows = rows

    def __arrow_c_stream__(self, requested_schema=None):
        return self._rows.__arrow_c_stream__(requested_schema)


class TestKept:
    """A label in a budget file: the same question again gives the kept answers, in any form."""

    def test_in_the_forms_own_kind_without_a_look_at_rows(self, tmp_path):
        path, answer = tmp_path / "rents.budget", {"rent": (FINE, "rent"), "home": (HOME, "town")}
        budget = fx.Budget.file(path, epsilon=2.0)
        first = ASKED.release(frame("polars"), answer, budget=budget, label="rents")
        again = fx.Budget.file(path)

        def fail(_):
            raise AssertionError

        plan = frame("polars-lazy").map_batches(fail)
        lazy = ASKED.release(plan, answer, budget=again, label="rents")
        assert lazy.collect().equals(first)
        for form in FORMS:
            rows = frame(form, cases.NONE if form != "arrow-batch" else DATA)
            found = ASKED.release(rows, answer, budget=again, label="rents")
            assert isinstance(found, KINDS.get(form, type(rows)))
            assert answers(found) == first.to_dict(as_series=False)
        assert (again.spent, again.charges) == (2.0, 1)

    @pytest.mark.parametrize(
        "change",
        [{"groups": TOWNS[:1]}, {"max_rows": 2}, {"by": "alias"}, {"person": "person"}],
        ids=str,
    )
    def test_another_question_is_refused(self, tmp_path, change):
        budget, answer = fx.Budget.file(tmp_path / "b", epsilon=9.0), {"rent": (FINE, "rent")}
        ASKED.release(frame("pandas"), answer, budget=budget, label="rents")
        other = fx.Query(**{"by": "town", "groups": TOWNS, **change})
        with pytest.raises(fx.BudgetError):
            other.release(frame("polars"), answer, budget=budget, label="rents")
        for changed in (
            {"rent": (FINE, "holes")},
            {"x": (FINE, "rent")},
            {"rent": (MEDIAN, "rent")},
        ):
            with pytest.raises(fx.BudgetError):
                ASKED.release(frame("polars"), changed, budget=budget, label="rents")
        with pytest.raises(fx.BudgetError):
            ASKED.release(frame("polars"), answer, budget=budget, label="rents", nan="drop")
        assert budget.spent == 1.0

    def test_without_a_label_every_call_is_charged(self, tmp_path):
        budget, answer = fx.Budget.file(tmp_path / "b", epsilon=9.0), {"rent": (FINE, "rent")}
        found = [answers(ASKED.release(frame("arrow"), answer, budget=budget)) for _ in range(2)]
        assert found[0] != found[1]
        assert budget.spent == 2.0

    @pytest.mark.filterwarnings("ignore::fastexp.PrivacyWarning")
    def test_groups_from_the_data(self, tmp_path):
        how = {"budget": fx.Budget.file(tmp_path / "b", epsilon=1.0), "label": "rents"}
        asked, answer = fx.Query(by="town", groups="from-data"), {"rent": (FINE, "rent")}
        first = asked.release(frame("pandas"), answer, **how)
        again = asked.release(pl.DataFrame({"town": [1], "rent": [2.0]}), answer, **how)
        assert answers(again) == answers(first)


@each("thing", [pl.DataFrame, pl.LazyFrame, pl.Series, pd.DataFrame, pd.Series])
def test_engines_are_left_as_they_are(thing):
    assert not hasattr(thing, "fx")
