"""A study's figures: what is on which axis, in which units, and that all of it can be read."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from matplotlib import rc_params_from_file
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from tests.doors.pictures import DARK
from tests.doors.studies import parts, report
from tests.messages import raises
from tests.support.each import each


def row(**values: Any) -> dict[str, Any]:
    known = {"data": "normal", "n": 100, "mechanism": "median", "epsilon": 1.0, "level": None}
    numbers = {"figure": "error", "exact": 1.0, "monte_carlo": 1.1, "low": 0.8, "high": 1.3}
    return {**known, **numbers, **values}


def drawn(*rows: dict[str, Any], takes: dict[str, str] | None = None) -> Any:
    (part,) = parts(list(rows), takes or {})
    return report.draw_figure(part, "a study", ["notes"])


def test_a_panel_for_each_data_and_size_with_units_on_the_axes(results: Any) -> None:
    made = parts(results.rows, report.takes(results.study.to_dict()))
    assert [part.figure for part in made] == ["error", "bias", "error_quantile"]
    first, second = report.draw_figure(made[0], "small", []).axes
    assert second.get_title(loc="left") == "<b>&\"'</b> $x_1$ \\x1b[31m"
    assert first.get_ylabel() == "expected error\n(units of the records)"
    assert first.get_xlabel() == second.get_xlabel() == "epsilon (nats)"
    assert [t.get_text() for t in second.get_xticklabels()] == ["0.5", "1", "2"]
    titles = [axes.get_title(loc="left") for axes in report.draw_figure(made[2], "small", []).axes]
    assert titles[:2] == ["normal, level\xa0=\xa00.5", "normal, level\xa0=\xa00.95"]
    assert len(titles) == 4


def test_the_axis_is_epsilon_where_there_are_several_else_n() -> None:
    by_n = [row(n=n) for n in (10, 100)]
    (axes,) = drawn(*by_n).axes
    assert axes.get_xlabel() == "n (records in a data set)"
    (axes,) = drawn(*by_n, takes={"median": "utilities"}).axes
    assert axes.get_xlabel() == "n (candidates)"
    panels = drawn(*by_n, row(n=10, epsilon=2.0)).axes
    assert [axes.get_title(loc="left") for axes in panels] == ["n\xa0=\xa010", "n\xa0=\xa0100"]
    assert panels[0].get_xlabel() == "epsilon (nats)"
    assert parts([], {}) == []


def test_units_are_those_of_what_the_mechanism_takes() -> None:
    first, second = parts([row(), row(mechanism="exponential")], {"exponential": "utilities"})
    assert first.words == "expected error (units of the records)"
    assert second.words == "wrong selections (probability)"
    assert [r["mechanism"] for r in second.rows] == ["exponential"]


@each(("count", "shape"), [(2, (1, 2)), (4, (2, 3)), (7, (3, 3))])
def test_panels_stand_in_rows_of_three(count: int, shape: tuple[int, int]) -> None:
    all_axes = drawn(*(row(data=f"d{i}", epsilon=e) for i in range(count) for e in (1, 2))).axes
    assert len(all_axes) == count
    grid = all_axes[0].get_gridspec()
    assert (grid.nrows, grid.ncols) == shape
    for place, axes in enumerate(all_axes):  # labels where nothing stands below, or to the left
        assert bool(axes.get_xlabel()) == (place + shape[1] >= count)
        assert bool(axes.get_ylabel()) == (place % shape[1] == 0)


def test_a_row_has_the_panels_of_what_varies_last() -> None:
    rows = [row(data=d, level=p, epsilon=e) for d in "abc" for p in (0.5, 0.9) for e in (1, 2)]
    assert drawn(*rows).axes[0].get_gridspec().ncols == 2


def test_exact_is_a_line_and_draws_are_points_with_their_interval() -> None:
    (axes,) = drawn(row(epsilon=2.0, exact=3.0), row(epsilon=1.0, exact=4.0)).axes
    line = axes.lines[0]
    assert (list(line.get_xdata()), list(line.get_ydata())) == ([1.0, 2.0], [4.0, 3.0])
    (bars,) = axes.containers
    assert list(bars.lines[0].get_ydata()) == [1.1, 1.1]
    assert bars.lines[0].get_linestyle() == "None"
    ends = bars.lines[2][0].get_segments()[0]
    assert ends.tolist() == [[1.0, pytest.approx(0.8)], [1.0, pytest.approx(1.3)]]


def test_points_are_joined_where_a_law_has_not_all_of_them() -> None:
    (axes,) = drawn(row(epsilon=1.0, exact=4.0), row(epsilon=2.0, exact=None)).axes
    (bars,) = axes.containers
    assert list(bars.lines[0].get_xdata()) == [1.0, 2.0]
    assert bars.lines[0].get_linestyle() == "-"


def test_draws_without_an_interval_are_points() -> None:
    (axes,) = drawn(row(exact=None, low=None, high=None)).axes
    (bars,) = axes.containers
    ends = bars.lines[2][0].get_segments()[0]
    assert ends[0].tolist() == ends[1].tolist() == [0.0, 1.1]


def test_mechanisms_look_alike_in_all_panels_and_figures() -> None:
    rows = [
        row(mechanism=m, data=d, figure=f, epsilon=e, monte_carlo=None)
        for f in ("error", "loss")
        for d in ("a", "b")
        for m in ("x", "y")
        for e in (1.0, 2.0)
        if (m, f) != ("x", "loss") and (m, d) != ("x", "b")
    ]
    error, loss = (report.draw_figure(part, "a study", []).axes for part in parts(rows, {}))
    (x, y), (alone,), (other,) = error[0].lines, error[1].lines, loss[0].lines
    assert y.get_color() == alone.get_color() == other.get_color() != x.get_color()
    assert y.get_linestyle() == alone.get_linestyle() == other.get_linestyle() != x.get_linestyle()
    assert len({y.get_marker(), x.get_marker()}) == 2


def test_mechanisms_differ_in_colour_marker_and_dashes() -> None:
    (axes,) = drawn(*(row(mechanism=f"m{i}", monte_carlo=None) for i in range(140))).axes
    looks = [
        {"color": k.get_color(), "marker": k.get_marker(), "linestyle": k.get_linestyle()}
        for k in axes.lines
    ]
    assert len({(k["color"], k["marker"], str(k["linestyle"])) for k in looks}) == 140
    assert len({str(k["linestyle"]) for k in looks[:4]}) == 4
    assert len({k["marker"] for k in looks[:5]}) == 5


@each(
    ("values", "kind"),
    [
        ([1.0, 19.0], "linear"),
        ([1.0, 21.0], "log"),
        ([-1.0, 21.0], "linear"),
        ([0.0, 2.0], "linear"),
        ([0.0, 1.0, 30.0], "log"),
        ([0.0, 0.0], "linear"),
    ],
)
def test_the_axis_is_logarithmic_where_the_range_asks_for_it(
    values: list[float], kind: str
) -> None:
    rows = [
        row(epsilon=1.0 + i, exact=v, monte_carlo=None, low=None, high=None)
        for i, v in enumerate(values)
    ]
    (axes,) = drawn(*rows).axes
    assert axes.get_yscale() == kind
    low, high = axes.get_ylim()
    least = min(v for v in values if v > 0 or kind == "linear")
    assert low < least
    assert low <= 0 or kind == "log"
    assert max(values) < high


def test_a_rare_error_that_was_not_drawn_leaves_the_axis_as_it_is() -> None:
    """Draws that are all 0, and intervals that reach below it, are no part of the scale."""
    none = {"monte_carlo": 0.0, "low": -0.5, "high": 0.5}
    rows = [row(), row(epsilon=2.0, exact=0.01, **none), row(epsilon=3.0, exact=1e-30, **none)]
    (axes,) = drawn(*rows).axes
    assert axes.get_yscale() == "log"
    assert 1e-7 < axes.get_ylim()[0] < 2e-6


def test_no_probability_is_beyond_1() -> None:
    rows = [row(exact=x, monte_carlo=x, low=x - 0.1, high=x + 0.1) for x in (0.99, 0.5)]
    for few in (rows, [*rows, row(exact=1e-3)]):
        settings = [{**r, "epsilon": 1.0 + i} for i, r in enumerate(few)]
        (axes,) = drawn(*settings, takes={"median": "utilities"}).axes
        assert axes.get_ylim()[1] == 1


def test_mechanisms_stand_beside_each_other_where_nothing_varies() -> None:
    rows = [row(mechanism=m) for m in ("b", "a", "_a very long name of some mechanism")]
    picture = drawn(*rows)
    (axes,) = picture.axes
    bars = [line for line in axes.lines if line.get_markersize() == 12]
    assert [list(bar.get_xdata()) for bar in bars] == [[0], [1], [2]]
    assert list(axes.get_xticks()) == []
    (legend,) = picture.legends
    assert [t.get_text().strip() for t in legend.get_texts()] == [r["mechanism"] for r in rows]


@pytest.mark.slow
def test_nothing_is_outside_the_picture_or_over_another(results: Any) -> None:
    """Labels, ticks and the legend of each picture have places of their own."""
    for part in parts(results.rows, report.takes(results.study.to_dict())):
        picture = report.draw_figure(part, "small", ["a remark"])
        picture.draw_without_rendering()
        whole = picture.bbox
        (legend,) = picture.legends
        boxes = [legend.get_window_extent(), *(text.get_window_extent() for text in picture.texts)]
        boxes += [axes.get_tightbbox() for axes in picture.axes]
        for box in boxes:
            assert box.x0 >= -1
            assert box.y0 >= -1
            assert box.x1 <= whole.x1 + 1
            assert box.y1 <= whole.y1 + 1
        for i, one in enumerate(boxes):
            for other in boxes[i + 1 :]:
                assert not _overlap(one, other)
        for axes in picture.axes:
            for labels in (axes.get_xticklabels(), axes.get_yticklabels()):
                texts = [t.get_window_extent() for t in labels if t.get_text()]
                assert not any(_overlap(a, b) for a, b in pairwise(texts))


def _overlap(one: Any, other: Any) -> bool:
    wide = min(one.x1, other.x1) - max(one.x0, other.x0)
    high = min(one.y1, other.y1) - max(one.y0, other.y0)
    return bool(wide > 0.5 and high > 0.5)


@pytest.mark.slow
def test_results_are_drawn_below_a_heading_or_on_ones_own_axes(results: Any) -> None:
    picture = results.plot("error_quantile")
    assert isinstance(picture, Figure)
    assert len(picture.axes) == 4
    assert picture.texts[0].get_text() == "small"
    remarks = " ".join(picture.texts[1].get_text().split())
    assert "n = 100 · lines: exact; points: draws, with 95 % intervals" in remarks
    mine = Figure().subplots(1, 2)
    assert results.plot(ax=mine) is mine[0].figure
    assert [a.get_title(loc="left") for a in mine] == ["normal", "<b>&\"'</b> $x_1$ \\x1b[31m"]
    lines = mine[0].lines
    exact = [r["exact"] for r in results.rows if (r["figure"], r["data"]) == ("error", "normal")]
    assert list(lines[0].get_ydata()) == exact[:3]
    inside = Figure().subfigures(1, 2)[0].subplots(1, 2)
    assert isinstance(results.plot(ax=inside), Figure)
    with raises("2: number of axes, got 1"):
        results.plot(ax=Figure().subplots())
    with raises("figure: one of several words, got 'nothing'"):
        results.plot("nothing")


JOINED = (
    "lines: exact; points: draws, with 95 % intervals, joined by lines where there are no exact "
    "figures"
)


@each(
    ("rows", "signs"),
    [
        ([row(), row(epsilon=2.0)], "lines: exact; points: draws, with 95 % intervals"),
        ([row(exact=None), row(epsilon=2.0, exact=None)], "points: draws, with 95 % intervals"),
        ([row(monte_carlo=None)], "all figures are exact"),
        ([row()], "dashes: exact; points: draws, with 95 % intervals"),
        (
            [
                row(epsilon=e, mechanism=m, exact=x)
                for e in (1, 2)
                for m, x in (("a", 1), ("b", None))
            ],
            JOINED,
        ),
    ],
)
def test_signs_are_those_of_what_is_drawn(rows: list[dict[str, Any]], signs: str) -> None:
    remarks = " ".join(drawn(*rows).texts[1].get_text().split())
    assert f" · {signs} · " in remarks


def test_what_does_not_vary_is_in_the_heading() -> None:
    remarks = " ".join(drawn(row(data="ages", level=0.9, epsilon=0.3)).texts[1].get_text().split())
    assert "notes · ages, n = 100, epsilon = 0.3, level = 0.9 · dashes" in remarks
    remarks = " ".join(drawn(*(row(n=n) for n in (10, 100))).texts[1].get_text().split())
    assert "notes · normal, epsilon = 1 · lines" in remarks


def test_zeros_are_told_where_the_axis_has_none() -> None:
    wide = [row(), row(epsilon=2.0, exact=100.0)]
    (axes,) = drawn(*wide).axes
    assert axes.get_ylabel() == "expected error\n(units of the records)"
    (axes,) = drawn(*wide, row(epsilon=3.0, exact=0.0)).axes
    assert axes.get_ylabel() == "expected error\n(units of the records); 0 is off the axis"


def test_a_notebook_shows_all_panels_and_savefig_writes_them(results: Any, tmp_path: Any) -> None:
    picture = results.plot()
    data, metadata = picture._repr_png_()
    assert data.startswith(b"\x89PNG")
    assert metadata["width"] == pytest.approx(96 * picture.get_figwidth())
    picture.savefig(tmp_path / "one.svg")
    assert picture.figure is picture


def test_pyplot_and_its_settings_are_left_alone(results: Any) -> None:
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    results.plot()
    assert dict(mpl.rcParams) == before


def test_dark_ground_has_light_ink(results: Any) -> None:
    mine = Figure(facecolor="black").subplots(1, 2)
    for axes in mine:
        axes.set_facecolor("black")
    results.plot(ax=mine)
    style = rc_params_from_file(DARK, use_default_template=False)
    (color, *_) = style["axes.prop_cycle"].by_key()["color"]
    assert to_hex(mine[0].lines[0].get_color()) == to_hex(color)
    ink = mine[0].get_legend().get_texts()[0].get_color()
    assert to_hex(ink) == to_hex(style["text.color"])
