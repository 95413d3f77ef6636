"""A study's figures: what is on which axis, in which units, and that all of it can be read."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from tests.doors.pictures import DARK
from tests.doors.studies import Line, Panel, Picture, drawing, pictures, rendering, report
from tests.messages import raises
from tests.support.each import each


def row(**values: Any) -> dict[str, Any]:
    known = {"data": "normal", "n": 100, "mechanism": "median", "epsilon": 1.0, "level": None}
    numbers = {"figure": "error", "exact": 1.0, "monte_carlo": 1.1, "low": 0.8, "high": 1.3}
    return {**known, **numbers, **values}


def test_a_panel_for_each_data_and_size_with_units_on_the_axes(results: Any) -> None:
    made = pictures(results.rows, report.takes(results.study.to_dict()))
    assert [p.figure for p in made] == ["error", "bias", "error_quantile"]
    assert [len(p.panels) for p in made] == [2, 2, 4]
    assert made[0].panels[1].title == "<b>&\"'</b> $x_1$ \\x1b[31m"
    figure = rendering.drawn(made[0], 7.0)
    assert figure.get_supylabel() == "expected error\n(units of the records)"
    labels = [axes.get_xlabel() for axes in figure.axes]
    assert labels == ["epsilon (nats)", "epsilon (nats)"]
    assert [t.get_text() for t in figure.axes[1].get_xticklabels()] == ["0.5", "1", "2"]


def test_the_axis_is_epsilon_where_there_are_several_else_n() -> None:
    by_n = [row(n=n) for n in (10, 100)]
    assert [p.x for p in pictures(by_n, {})] == ["n"]
    assert [p.x for p in pictures([*by_n, row(n=10, epsilon=2.0)], {})] == ["epsilon"]
    assert [p.x for p in pictures([row()], {})] == [None]
    assert pictures(by_n, {"median": "utilities"})[0].x_label == "n (candidates)"
    assert pictures([], {}) == []


def test_units_are_those_of_what_the_mechanism_takes() -> None:
    rows = [row(), row(mechanism="exponential")]
    first, second = pictures(rows, {"exponential": "utilities"})
    assert first.y_label == "expected error (units of the records)"
    assert second.y_label == "wrong selections (probability)"
    assert [line.mechanism for line in second.panels[0].lines] == ["exponential"]


def test_many_panels_are_several_pictures() -> None:
    made = pictures([row(data=f"d{i}", epsilon=e) for i in range(30) for e in (1.0, 2.0)], {})
    assert [len(p.panels) for p in made] == [12, 12, 6]
    assert {p.columns for p in made} == {3}


def sized(word: str, values: list[int], epsilons: list[float]) -> list[dict[str, Any]]:
    labels = [f"{kind}, {word} = {v}" for v in values for kind in "abc"]
    return [row(mechanism=x, epsilon=e) for x in labels for e in epsilons]


def test_of_many_labels_that_end_in_a_size_this_is_the_axis_or_has_panels() -> None:
    (picture,) = pictures(sized("m", [3, 9, 19], [1.0, 2.0]), {})
    assert (picture.x, picture.x_label, picture.places) == ("m", "m", [3, 9, 19])
    assert [panel.title for panel in picture.panels] == ["epsilon = 1", "epsilon = 2"]
    lines = [(line.mechanism, line.place) for line in picture.panels[0].lines]
    assert lines == [("a", 0), ("b", 1), ("c", 2)]
    (picture,) = pictures(sized("k", [20, 50, 70], [1.0, 2.0, 3.0]), {})
    assert [panel.title for panel in picture.panels] == ["k = 20", "k = 50", "k = 70"]
    assert [len(panel.lines) for panel in picture.panels] == [3, 3, 3]


def test_few_labels_or_unlike_ones_are_lines_of_one_panel() -> None:
    few, by_n = sized("m", [3, 9], [1.0, 2.0]), sized("n", [3, 9, 19], [1.0, 2.0])
    unlike = [*sized("m", [3, 9, 19], [1.0, 2.0]), row(mechanism="median")]
    for rows, lines in (few, 6), (by_n, 9), (unlike, 10):
        (picture,) = pictures(rows, {})
        assert [len(panel.lines) for panel in picture.panels] == [lines]
        assert picture.x == "epsilon"


def test_exact_is_a_line_and_draws_are_points_with_their_interval() -> None:
    rows = [row(epsilon=2.0, exact=3.0), row(epsilon=1.0, exact=4.0)]
    (picture,) = pictures(rows, {})
    axes = rendering.drawn(picture, 3.4).axes[0]
    line = axes.lines[0]
    assert (list(line.get_xdata()), list(line.get_ydata())) == ([1.0, 2.0], [4.0, 3.0])
    (bars,) = axes.containers
    assert list(bars.lines[0].get_ydata()) == [1.1, 1.1]
    ends = bars.lines[2][0].get_segments()[0]
    assert ends.tolist() == [[1.0, pytest.approx(0.8)], [1.0, pytest.approx(1.3)]]


def test_points_are_joined_where_a_law_has_not_all_of_them() -> None:
    rows = [row(epsilon=1.0, exact=4.0), row(epsilon=2.0, exact=None)]
    axes = rendering.drawn(pictures(rows, {})[0], 3.4).axes[0]
    (bars,) = axes.containers
    assert list(bars.lines[0].get_xdata()) == [1.0, 2.0]
    assert bars.lines[0].get_linestyle() == "-"


def test_mechanisms_differ_in_colour_marker_and_dashes_alike_everywhere() -> None:
    axes = Figure().subplots()
    looks = [drawing.look(i, axes) for i in range(140)]
    assert len({(k["color"], k["marker"], str(k["linestyle"])) for k in looks}) == 140
    assert len({str(k["linestyle"]) for k in looks[:4]}) == 4
    assert len({k["marker"] for k in looks[:5]}) == 5
    rows = [
        row(mechanism=m, data=d) for d in ("a", "b") for m in ("x", "y") if (m, d) != ("x", "b")
    ]
    first, second = pictures(rows, {})[0].panels
    assert [line.place for line in first.lines] == [0, 1]
    assert [line.place for line in second.lines] == [1]


@each(
    ("values", "kind"),
    [
        ([1.0, 19.0], "linear"),
        ([1.0, 21.0], "log"),
        ([-1.0, 21.0], "symlog"),
        ([0.0, 2.0], "linear"),
        ([0.0, 1.0, 30.0], "symlog"),
    ],
)
def test_the_axis_is_logarithmic_where_the_range_asks_for_it(
    values: list[float], kind: str
) -> None:
    rows = [
        row(epsilon=1.0 + i, exact=v, monte_carlo=None, low=None, high=None)
        for i, v in enumerate(values)
    ]
    axes = rendering.drawn(pictures(rows, {})[0], 3.4).axes[0]
    assert axes.get_yscale() == kind
    low, high = axes.get_ylim()
    assert low < min(values) < max(values) < high


def test_a_rare_error_that_was_not_drawn_leaves_the_axis_as_it_is() -> None:
    """Draws that are all 0, and intervals that reach below it, are no part of the scale."""
    none = {"monte_carlo": 0.0, "low": -0.5, "high": 0.5}
    rows = [row(), row(epsilon=2.0, exact=0.01, **none), row(epsilon=3.0, exact=1e-30, **none)]
    axes = rendering.drawn(pictures(rows, {})[0], 3.4).axes[0]
    assert axes.get_yscale() == "log"
    assert 1e-7 < axes.get_ylim()[0] < 1e-6
    bias = [{**r, "figure": "bias"} for r in rows]
    axes = rendering.drawn(pictures(bias, {})[0], 3.4).axes[0]
    assert axes.get_yscale() == "symlog"
    assert axes.get_ylim()[0] < -0.5


def test_one_value_of_x_is_a_row_for_each_mechanism() -> None:
    rows = [row(mechanism=m) for m in ("b", "a", "_a very long name of some mechanism")]
    (picture,) = pictures(rows, {})
    figure = rendering.drawn(picture, 3.4)
    axes = figure.axes[0]
    shown = [t.get_text().replace("\n", " ") for t in axes.get_yticklabels()]
    assert shown == [r["mechanism"] for r in rows]
    assert axes.yaxis_inverted()
    assert axes.get_xlabel() == "expected error\n(units of the records)"


@pytest.mark.slow
def test_nothing_is_outside_the_picture_or_over_another(results: Any) -> None:
    """Labels, ticks and the legend of each picture have places of their own."""
    import matplotlib.style

    with matplotlib.style.context(["default", rendering.style()]):
        for picture in pictures(results.rows, report.takes(results.study.to_dict())):
            figure = rendering.drawn(picture, 7.0)
            figure.draw_without_rendering()
            whole = figure.bbox
            (legend,) = figure.legends
            boxes = [legend.get_window_extent()]
            boxes += [axes.get_tightbbox() for axes in figure.axes]
            for box in boxes:
                assert box.x0 >= -1
                assert box.y0 >= -1
                assert box.x1 <= whole.x1 + 1
                assert box.y1 <= whole.y1 + 1
            for i, one in enumerate(boxes):
                for other in boxes[i + 1 :]:
                    assert not _overlap(one, other)
            for axes in figure.axes:
                for labels in (axes.get_xticklabels(), axes.get_yticklabels()):
                    texts = [t.get_window_extent() for t in labels if t.get_text()]
                    assert not any(_overlap(a, b) for a, b in pairwise(texts))


def _overlap(one: Any, other: Any) -> bool:
    wide = min(one.x1, other.x1) - max(one.x0, other.x0)
    high = min(one.y1, other.y1) - max(one.y0, other.y0)
    return bool(wide > 0.5 and high > 0.5)


def test_draw_takes_axes_and_returns_them() -> None:
    line = Line("median", 0)
    line.add(1.0, row())
    line.add(2.0, row(exact=None, low=None, high=None))
    panel = Panel("a panel", [line])
    picture = Picture("error", "epsilon", "epsilon (nats)", "error", [panel], 1)
    axes = Figure().subplots()
    assert drawing.draw(panel, picture, axes) is axes
    assert axes.get_title(loc="left") == "a panel"


@pytest.mark.slow
def test_results_are_drawn_below_a_heading_or_on_ones_own_axes(results: Any) -> None:
    axes = results.plot("error_quantile")
    assert axes.shape == (4,)
    assert axes[0].figure.texts[0].get_text() == "small"
    heading, remarks = (text.get_window_extent() for text in axes[0].figure.texts[:2])
    axes[0].figure.draw_without_rendering()
    assert not any(_overlap(axes[0].get_tightbbox(), box) for box in (heading, remarks))
    mine = Figure().subplots(1, 2)
    drawn = results.plot(ax=mine)
    assert list(drawn) == list(mine)
    assert [a.get_title(loc="left") for a in mine] == ["normal", "<b>&\"'</b> $x_1$ \\x1b[31m"]
    lines = mine[0].lines
    exact = [r["exact"] for r in results.rows if (r["figure"], r["data"]) == ("error", "normal")]
    assert list(lines[0].get_ydata()) == exact[:3]
    with raises("2: number of axes, got 1"):
        results.plot(ax=Figure().subplots())
    with raises("error, bias...: figure of a study"):
        results.plot("nothing")


def test_a_notebook_shows_all_panels(results: Any) -> None:
    panels = results.plot()
    assert len(panels) == 2
    data, metadata = panels._repr_png_()
    assert data.startswith(b"\x89PNG")
    assert metadata["width"] == pytest.approx(96 * panels[0].figure.get_figwidth())


def test_pyplot_and_its_settings_are_left_alone(results: Any) -> None:
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    results.plot()
    assert dict(mpl.rcParams) == before


def test_dark_ground_has_light_ink(results: Any) -> None:
    figure = Figure(facecolor="black")
    mine = figure.subplots(1, 2)
    for axes in mine:
        axes.set_facecolor("black")
    results.plot(ax=mine)
    assert mine[0].lines[0].get_color() == DARK.series[0]
    assert to_hex(mine[0].get_legend().get_texts()[0].get_color()) == DARK.mark
