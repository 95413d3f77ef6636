"""What is seen of a law: nothing private in its repr and card, in its picture what the law says."""

from __future__ import annotations

import io
import pickle
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest

import fastexp as fx
from tests.doors.laws import HIDDEN
from tests.doors.pictures import DARK, LIGHT, canvas, paper
from tests.messages import raises, says

SECRET = 73.41  # a record, the true number, a loss: in no text
RECORDS = [3.0, SECRET, 90.5]
FINE = {"bounds": (0, 100), "epsilon": 0.5}


def scored(data, candidate):
    return float(candidate == "a") * data


MADE = {
    "median": (fx.Median(**FINE), RECORDS),
    "steps": (fx.Median(**FINE, step=1), RECORDS),
    "quantile": (fx.Quantile(0.9, **FINE, grid=[0, 20, 73.41, 100]), RECORDS),
    "mode": (fx.Mode(**FINE, step=1), RECORDS),
    "maximum": (fx.Maximum(**FINE), RECORDS),
    "price": (fx.Price(**FINE, step=1), RECORDS),
    "line": (fx.Laplace(epsilon=1.0, sensitivity=1, step=0.01), SECRET),
    "within": (fx.Laplace(epsilon=1.0, sensitivity=1, bounds=(0, 100), step=0.01), SECRET),
    "laplace": (fx.LaplaceMedian(**FINE), RECORDS),
    "smooth": (fx.SmoothSensitivityMedian(**FINE), RECORDS),
    "exponential": (fx.Exponential(epsilon=1.0, sensitivity=100.0), RECORDS),
    "flips": (fx.PermuteAndFlip(epsilon=1.0, sensitivity=100.0, candidates=list("abc")), RECORDS),
    "places": (fx.TopK(2, epsilon=1.0, sensitivity=100.0), RECORDS),
    "joint places": (fx.JointTopK(2, epsilon=1.0, sensitivity=100.0), [3, int(SECRET), 90]),
    "bit": (fx.RandomizedResponse(epsilon=1.0), 1),
    "score": (
        fx.Exponential.from_score(
            lambda *args: scored(*args), list("ab"), epsilon=1.0, sensitivity=100
        ),
        SECRET,
    ),
}
LAWS = {name: mechanism.law(data) for name, (mechanism, data) in MADE.items()}
LAWS["density"] = MADE["median"][0].continuous_law(RECORDS)
LAWS["price density"] = fx.Price(**FINE).continuous_law(RECORDS)
NAMES = [pytest.param(name, marks=[] if name == "steps" else pytest.mark.slow) for name in LAWS]


def seen(law):
    """All that is shown unasked: the repr, a notebook's page, and what rich prints."""
    from rich.console import Console

    out = io.StringIO()
    Console(file=out, width=200).print(law)
    return repr(law), law._repr_html_(), out.getvalue()


@pytest.mark.parametrize("name", NAMES)
def test_nothing_of_the_data_is_seen(name):
    texts = seen(LAWS[name])
    if name != "quantile":  # whose public grid has that number
        assert not any("73" in text for text in texts)
    assert all(HIDDEN in text for text in texts[1:])
    assert f"epsilon={LAWS[name].mechanism.epsilon!r}" in texts[0]


def test_a_law_that_tells_is_noticed(monkeypatch):
    law = MADE["steps"][0].law(RECORDS)
    monkeypatch.setattr(law, "_sizes", lambda: {"truth": law.truth})
    assert all("73.41" in text for text in seen(law))


@pytest.mark.parametrize("name", MADE)
def test_a_law_knows_its_mechanism_at_its_epsilon(name):
    mechanism, law = MADE[name][0], LAWS[name]
    known = law.mechanism
    if name == "score":
        assert type(known) is fx.Exponential
        assert (known.candidates, known.sensitivity) == (("a", "b"), 100)
    else:
        assert known == mechanism
    assert f"({known!r}" in repr(law)
    assert repr(pickle.loads(pickle.dumps(law))) == repr(law)
    if hasattr(law, "with_epsilon"):
        for other in (0.25, 1e7):
            at = law.with_epsilon(other, any_epsilon=True)
            if name == "price" and other > 1e6:  # beyond the greatest of a price
                assert at.mechanism is None
                assert repr(at) == f"GridLaw(epsilon={other!r})"
            else:
                assert at.mechanism.epsilon == at.epsilon == other
            assert at.with_epsilon(law.epsilon).mechanism == known
    assert law.mechanism == known


def test_laws_in_a_list_are_told_apart():
    medians = [fx.Median(e, bounds=(0, 9), step=s) for e, s in ((1, 1), (1, 3), (2, 3))]
    assert len({repr(m.law([4])) for m in medians}) == 3


def test_a_law_of_parts_has_no_mechanism():
    first = LAWS["places"].first_place
    assert first.mechanism is None
    assert repr(first) == f"FiniteLaw(epsilon={first.epsilon!r}, k=3)"


@pytest.mark.slow
@pytest.mark.parametrize("ground", ["white", "black"])
@pytest.mark.parametrize("name", NAMES)
def test_a_picture_of_every_law(name, ground):
    """Of one law in every way on either ground: the same lines choose the inks of all."""
    import matplotlib as mpl
    from matplotlib.colors import to_rgb
    from matplotlib.figure import Figure

    law = LAWS[name]
    with mpl.rc_context({"figure.facecolor": ground, "axes.facecolor": ground}):
        figure = Figure()
        given = figure.subplots()
        pictures = [law.plot(draws=law.sample(50, rng=1))]
        if ground == "white" or name == "steps":
            pictures += [law.plot(), law.plot(given)]
            assert pictures[-1] is given
        for ax in pictures:
            ax.figure.draw_without_rendering()
            inks = [text.get_color() for text in ax.figure.texts or [ax._left_title]]
            inks += [tick.label1.get_color() for tick in ax.xaxis.get_major_ticks()]
            for ink in inks:
                assert contrast(to_rgb(ink), to_rgb(ground)) > 4


def contrast(one, other):
    """The ratio of luminances, as WCAG 2 defines it."""

    def luminance(color):
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in color]
        return np.dot(linear, [0.2126, 0.7152, 0.0722])

    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize(
    ("ground", "sheets"),
    [("none", [LIGHT]), ("white", [LIGHT]), ("black", [LIGHT, DARK])],
)
def test_the_ground_chooses_the_style_whose_inks_are_seen_on_it(ground, sheets):
    """On no ground they are those of paper."""
    import matplotlib as mpl
    import matplotlib.style
    from matplotlib.colors import to_rgb
    from matplotlib.figure import Figure

    with mpl.style.context(sheets):
        expected = dict(mpl.rcParams)
    figure = Figure(facecolor=ground)
    axes = figure.subplots()
    axes.set_facecolor(ground)
    with paper(axes, "", [], 1.0):
        style = dict(mpl.rcParams)
    assert style == expected
    paper_or_ground = to_rgb("white" if ground == "none" else ground)
    inks = [style[f"{name}.color"] for name in ("text", "lines", "xtick")]
    inks += [style["axes.edgecolor"], *style["axes.prop_cycle"].by_key()["color"]]
    for ink in inks:
        assert contrast(to_rgb(ink), paper_or_ground) >= 3, ink
    line = np.array(to_rgb(inks[4]))
    bar = canvas.FILLED * line + (1 - canvas.FILLED) * np.array(paper_or_ground)
    assert contrast(line, bar) >= 3


def test_bars_are_the_probabilities():
    law = fx.Median(epsilon=2.0, bounds=(0, 100), step=1).law(RECORDS * 9)
    ax = law.plot()
    bars = {round(bar.get_x() + bar.get_width() / 2): bar.get_height() for bar in ax.patches}
    assert sum(bars.values()) > 0.98
    assert all(height == law.pmf(point) for point, height in bars.items())
    (line,) = ax.lines
    assert line.get_xdata() == [law.truth, law.truth]
    (legend,) = ax.figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [f"true median {SECRET}"]


def test_draws_are_counted():
    law = LAWS["flips"]
    ax = law.plot(draws=[2, 2, 2, 0])
    widths = [bar.get_width() for bar in ax.patches]
    order = np.argsort(-law.probabilities)
    assert widths == [[0.25, 0, 0.75][i] for i in order]
    assert [text.get_text() for text in ax.get_yticklabels()] == ["abc"[i] for i in order]


def test_masses_at_bounds_are_said_and_not_drawn_as_a_density():
    law = fx.LaplaceMedian(epsilon=0.1, bounds=(0, 100)).law(RECORDS)
    ax = law.plot(draws=law.sample(1_000, rng=1))
    left, right = law.cdf(0), 1 - law.cdf(np.nextafter(100, 0))
    note = f"{left:.1%} lies at the left end or beyond, {right:.1%} at the right"
    assert note in " ".join(ax.figure.texts[1].get_text().split())
    assert ax.get_ylim()[1] < 0.02


@pytest.mark.slow
def test_callers_axes_have_no_heading_but_a_title_and_the_true_value():
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    LAWS["steps"].plot(ax)
    assert ax.get_title(loc="left") == "median, epsilon 0.5, neighbors add-remove"
    figure = Figure(layout="constrained", figsize=(6, 3))
    for ax in figure.subplots(1, 3):
        LAWS["steps"].plot(ax)
    figure.draw_without_rendering()
    boxes = [ax._left_title.get_window_extent() for ax in figure.axes]
    assert all(one.x1 <= other.x0 for one, other in pairwise(boxes))
    assert boxes[-1].x1 <= figure.bbox.x1
    ax = Figure().subplots()
    LAWS["steps"].plot(ax)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["true median 73.41"]
    assert ax.figure.texts == []


@pytest.mark.parametrize("inches", [3.9, 8])
def test_on_callers_axes_the_legend_is_above_draws_and_within(inches):
    from matplotlib.figure import Figure

    ax = Figure(figsize=(inches, 3), layout="constrained").subplots()
    law = LAWS["steps"]
    law.plot(ax, draws=law.sample(1_000, rng=1))
    ax.figure.draw_without_rendering()
    legend = ax.get_legend().get_window_extent()
    *marks, truth = ax.lines
    for drawn in (*ax.patches, *marks):
        assert drawn.get_window_extent().y1 <= legend.y0
    assert truth.get_zorder() < ax.get_legend().get_zorder()  # which is opaque
    assert ax.get_legend().get_frame().get_facecolor() == ax.get_facecolor() == (1, 1, 1, 1)
    assert legend.x0 >= ax.bbox.x0


@pytest.mark.slow
def test_a_notebook_shows_a_new_figure():
    ax = LAWS["steps"].plot()
    for shown_object in (ax, ax.figure):
        data, metadata = shown_object._repr_png_()
        assert data.startswith(b"\x89PNG")
        assert metadata["width"] == pytest.approx(6.4 * 96)
    again = pickle.loads(pickle.dumps(ax.figure))
    assert again._repr_png_()[0].startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("name", "draws", "message"),
    [
        ("steps", 3.0, "at least one draw"),
        ("steps", [], "at least one draw"),
        ("flips", [0, 3], "draws of candidates"),
        ("flips", [-1], "draws of candidates"),
        ("flips", [0.5], "draws of candidates"),
    ],
)
def test_what_are_no_draws_is_refused(name, draws, message):
    with pytest.raises(fx.ParameterError, match=says(message)):
        LAWS[name].plot(draws=draws)
    with raises("draws: numbers of one type"):
        LAWS[name].plot(draws=["a"])


def test_axes_of_another_number_are_refused():
    from matplotlib.figure import Figure

    with raises("1: number of axes, got 2"):
        LAWS["steps"].plot(Figure().subplots(1, 2))


@pytest.mark.process
def test_pyplot_stays_out():
    code = (
        "import sys, fastexp as fx; law = fx.Median(1, (0, 9), step=1).law([4]); "
        "assert not {'matplotlib', 'rich'} & set(sys.modules); "
        "law.plot()._repr_png_(); assert 'matplotlib.pyplot' not in sys.modules"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], check=False, timeout=300).returncode == 0
    )  # this Python
