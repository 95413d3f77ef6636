"""Do pictures of laws and draws show what the laws say, with every text in its place?"""

from __future__ import annotations

import json
import struct
import sys
from itertools import combinations

import numpy as np
import pytest

import fastexp as fx
from tests.doors.cli import law_tables
from tests.doors.pictures import canvas, law_painters
from tests.support.each import each

GROUPS = {
    "a": [20] * 300 + [37] * 500,
    "b & c": [50, 51, 53, 60],
    "a long name of a town": [90] * 9,
}
EVERY = [age for own in GROUPS.values() for age in own]
MARKER = "SECRET-7341"


@pytest.fixture
def ages(tmp_path):
    path = tmp_path / "ages.csv"
    rows = [f"{group},{age},{age % 7}" for group, own in GROUPS.items() for age in own]
    path.write_text("\n".join(["$g_,age,digit", *rows, ""]))
    return [path, "--column", "age"]


@pytest.fixture
def figures(monkeypatch):
    """The figures that were saved, laid out."""
    from matplotlib.figure import Figure

    saved = []

    def save(self, path):
        self.draw_without_rendering()
        saved.append(self)

    monkeypatch.setattr(Figure, "savefig", save)
    return saved


BY = ["--by", "$g_", "--groups", "a,b & c,a long name of a town,nobody"]
GRID = ["--bounds", 0, 120, "--step", 1, "--epsilon", 0.01]
SELECT = ["--column", "digit", "--candidates", "2,6,4,1,0", "--epsilon", 0.05]


@pytest.mark.slow
def test_pictures_are_files_of_three_kinds(run, ages, tmp_path, monkeypatch):
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    calls = {
        "png": ["median", *ages, *GRID, "--law"],
        "svg": ["select", ages[0], *SELECT, "--draws", 100, *BY],
        "pdf": ["price", *ages, *GRID, "--law"],
    }
    starts = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
    for suffix, call in calls.items():
        target = tmp_path / f"picture.{suffix}"
        code, out, err = run(*call, "--plot", target)
        assert (code, err.splitlines()[-1]) == (0, f"picture: {target}")
        assert out.startswith("NOT PRIVATE")
        assert target.read_bytes().startswith(starts[suffix])
    head = (tmp_path / "picture.png").read_bytes()[:24]
    assert min(struct.unpack(">II", head[16:])) > 300  # pixels
    facts = json.loads(run(*calls["svg"], "--plot", target, "--json").out)
    assert facts["plot"] == str(target)
    assert "matplotlib.pyplot" not in sys.modules


PICTURES = {
    "median": ["median", *GRID],
    "far": ["median", "--bounds", 0, "1e12", "--epsilon", 1e-3],
    "uneven": ["median", "--grid", "0,1,9,60,100", "--epsilon", 0.01],
    "truth outside": ["median", "--bounds", 0, 9, "--step", 0.001, "--epsilon", 1],
    "quantile": [
        *["quantile", "--q", "123456789/1000000000", "--bounds", 0, 120, "--epsilon", 0.123456],
        *["--neighbors", "replace", "--convention", "lower", "--widen", 0.25, "--nan", "lower"],
    ],
    "mode": ["mode", *GRID],
    "maximum": ["maximum", "--bounds", 0, 120, "--epsilon", 1],
    "prices": ["price", "--bounds", 0, 100, "--step", 1, "--epsilon", 0.02],
    "many prices": ["price", "--bounds", 0, 100, "--step", 0.01, "--epsilon", 1],
    "certain price": ["price", "--bounds", 0, 100, "--epsilon", "1e6"],
    "select": ["select", *SELECT],
}


def pictured(name: str) -> object:
    mark = pytest.mark.fast if name in ("median", "select") else pytest.mark.slow
    return pytest.param(name, marks=mark)


@pytest.mark.parametrize("by", [[], BY], ids=["one", "by group"])
@pytest.mark.parametrize("kind", [["--law"], ["--draws", 50]], ids=["law", "draws"])
@pytest.mark.parametrize("name", [pictured(name) for name in PICTURES])
def test_every_text_has_its_place(run, ages, figures, tmp_path, name, kind, by):
    which, *options = PICTURES[name]
    call = [which, *(ages[:1] if which == "select" else ages), *options, *kind, *by]
    code, _, err = run(*call, "--plot", tmp_path / "p.png")
    assert code == 0, err
    (figure,) = figures
    shown = [text for text in texts(figure) if text.get_text() and text.get_visible()]
    boxes = [(text.get_text(), text.get_window_extent()) for text in shown]
    width, height = figure.bbox.size
    for text, box in boxes:
        assert box.x0 >= 0, text
        assert box.y0 >= 0, text
        assert box.x1 <= width, text
        assert box.y1 <= height, text
    for (one, box), (other, second) in combinations(boxes, 2):
        assert not overlap(box, second), (one, other)
    words = [" ".join(text.split()) for text, _ in boxes]
    assert any("not private: for analysis only" in text for text in words)
    if by:
        titles = [ax.get_title(loc="left").split("\n")[0] for ax in figure.axes]
        assert titles == ["a", "b & c", "a long name of a town", "nobody"]
    else:
        assert any(text.startswith("probability") for text in words)
    upright = which != "select"
    ends = {ax.get_ylim() if upright else ax.get_xlim() for ax in figure.axes}
    assert len(ends) == 1  # of all groups
    if "probability" in words:
        assert 0 <= min(ends)[0] < min(ends)[1] <= 1


@pytest.mark.parametrize("count", [0, 40])
def test_no_probability_axis_goes_beyond_1(count):
    from matplotlib.figure import Figure

    median = fx.Median(50, (0, 9), step=1)
    law = median.law([4] * 99)
    draws = median.sample([4] * 99, count, rng=1) if count else None
    for ax in (None, Figure().subplots()):
        assert law.plot(draws=draws, ax=ax).get_ylim() == (0, 1)
    assert median.accuracy([4] * 99).plot().get_ylim() == (0, 1)


def texts(figure):
    """All texts that are seen: of ticks those within their axes."""
    found = [*figure.texts, *(t for legend in figure.legends for t in legend.get_texts())]
    for ax in figure.axes:
        found += [*ax.texts, ax.title, ax._left_title, ax.xaxis.label, ax.yaxis.label]
        for axis, ends in ((ax.xaxis, ax.get_xlim()), (ax.yaxis, ax.get_ylim())):
            low, high = sorted(ends)
            found += [
                tick.label1
                for tick in axis.get_major_ticks()
                if low <= tick.get_loc() <= high and tick.label1.get_visible()
            ]
    return found


def overlap(one, other):
    """By more than rounding."""
    wide = min(one.x1, other.x1) - max(one.x0, other.x0)
    return wide > 1 and min(one.y1, other.y1) - max(one.y0, other.y0) > 1


@each("step", [1, 0.01, 0.001, None, "grid"])
def test_what_is_drawn_sums_to_what_is_in_sight(step):
    grid = {"grid": [0, 1, 10, 11, 50, 120]} if step == "grid" else {"step": step}
    law = fx.Median(0.1, (0, 120), **grid).law(np.linspace(1, 99, 41))
    window = law_painters.in_sight([law], [50], law.grid)
    heights = law_painters.heights_of(law, window)
    few = window.points.size > 0
    wide = 1.0 if few else np.diff(window.edges)
    low, high = law.cdf(window.edges[[0, -1]])
    assert (heights * wide).sum() == pytest.approx(high - low, rel=1e-9)
    assert high - low >= 0.98
    assert few == (step in (1, "grid"))
    assert window.edges[0] <= 50 <= window.edges[-1]


@pytest.mark.slow
def test_panels_share_what_they_are_compared_by(run, ages, figures, tmp_path):
    call = ["median", *ages, *GRID, "--law", *BY, "--plot", tmp_path / "p.png"]
    assert run(*call).code == 0
    (figure,) = figures
    assert len(figure.axes) == 4
    assert len({ax.get_xlim() for ax in figure.axes}) == 1
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    assert titles == [
        *["a\nn = 800 · true 37", "b & c\nn = 4 · true 52"],
        *["a long name of a town\nn = 9 · true 90", "nobody\nn = 0"],
    ]
    for ax, own in zip(figure.axes, GROUPS.values(), strict=False):
        law = fx.Median(0.01, (0, 120), step=1).law(own)
        assert ax.dataLim.y1 == pytest.approx(law.probabilities.max())
        assert len(ax.lines) == 1  # the truth
    assert [ax.get_xlabel() for ax in figure.axes] == ["", "age", "age", "age"]


@pytest.mark.slow
def test_candidates_of_panels_are_in_one_order(run, ages, figures, tmp_path):
    call = ["select", ages[0], *SELECT, "--draws", 60, "--seed", 1, *BY]
    assert run(*call, "--plot", tmp_path / "p.png").code == 0
    (figure,) = figures
    labels = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    mechanism = fx.MostCommon(0.05, [2, 6, 4, 1, 0])
    laws = [mechanism.law([x % 7 for x in own]) for own in (*GROUPS.values(), [])]
    whole = np.sum([law.probabilities for law in laws], axis=0)
    assert labels == [str(mechanism.candidates[i]) for i in np.argsort(-whole, kind="stable")]
    facts = json.loads(run(*call, "--json").out)
    for ax, group in zip(figure.axes, facts["groups"], strict=True):
        frequencies = {str(row["candidate"]): row["frequency"] for row in group["rows"]}
        bars = [bar.get_width() for bar in ax.patches]
        assert bars == [frequencies[name] for name in labels]
        assert max(bars) <= ax.get_xlim()[1]


@pytest.mark.slow
def test_of_many_groups_the_first_are_drawn(run, tmp_path, figures):
    path = tmp_path / "many.csv"
    path.write_text("g,x\n" + "".join(f"{i},{i % 9}\n" for i in range(90)))
    call = ["median", path, "--column", "x", "--bounds", 0, 9, "--step", 1, "--epsilon", 1]
    by = ["--by", "g", "--groups", ",".join(map(str, range(90)))]
    code, out, _ = run(*call, *by, "--law", "--plot", tmp_path / "p.png")
    assert code == 0
    assert len(out.splitlines()) == 95  # the table has all of them
    assert len(figures[0].axes) == 24
    assert any("the first 24 of 90 groups" in text.get_text() for text in figures[0].texts)


@pytest.mark.slow
def test_accuracies_are_bars_of_groups(run, ages, figures, tmp_path, monkeypatch):
    quantiles = ["quantiles", *ages, *GRID, "--q", "0.25,0.75"]
    for call, names in (
        (["median", *ages, *GRID, *BY], ["a", "b & c", "a long name of a town", "nobody"]),
        (["median", *ages, *GRID], ["all rows"]),
        (quantiles, ["age_0.25", "age_0.75"]),
    ):
        code, _, err = run(*call, "--accuracy", "--plot", tmp_path / "a.png")
        assert (code, err.splitlines()[-1]) == (0, f"picture: {tmp_path / 'a.png'}")
        (axes,) = figures.pop().axes
        shown = [label.get_text() for label in axes.get_yticklabels()]
        rows = json.loads(run(*call, "--accuracy", "--json").out)["rows"]
        assert shown == names
        assert [bar.get_width() for bar in axes.patches] == [row["expected"] or 0 for row in rows]
    monkeypatch.setattr(law_tables, "MOST_BARS", 3)
    err = run("median", *ages, *GRID, *BY, "--accuracy", "--plot", tmp_path / "a.png").err
    assert "the picture shows the first 3 of 4 rows" in err
    assert len(figures.pop().axes[0].patches) == 3


def test_prices_are_drawn_at_three_epsilons(run, ages, figures, tmp_path):
    call = ["price", *ages, "--bounds", 0, 100, "--step", 1, "--epsilon", 0.02, "--law"]
    assert run(*call, "--plot", tmp_path / "p.png").code == 0
    named = [text.get_text() for text in figures[0].legends[0].get_texts()]
    best = "best price 37, revenue 18,981"
    assert named == ["ε = 0.004", "ε = 0.02", "ε = 0.1", best]
    *curves, line = figures[0].axes[0].lines
    assert len(curves) == len({curve.get_linestyle() for curve in curves}) == 3
    assert line.get_xdata() == [37, 37]


@pytest.mark.slow
def test_long_lists_are_cut_and_labels_are_no_markup(run, tmp_path, figures):
    path, listed = tmp_path / "f.csv", tmp_path / "listed.txt"
    path.write_text("c\nx\n")
    names = ["$x_", "日本", "[bold]", "long" * 20 + "end", *map(str, range(36))]
    listed.write_text("\n".join([*names, ""]))
    call = ["select", path, "--column", "c", "--candidates", listed, "--epsilon", 1]
    assert run(*call, "--law", "--plot", tmp_path / "a.svg").code == 0
    labels = [text.get_text() for text in figures[0].axes[0].get_yticklabels()]
    assert labels == ["$x_", "日本", "[bold]", "long" * 5 + "lo…longlongend", *map(str, range(16))]
    notes = " ".join(text.get_text() for text in figures[0].texts)
    assert "the 20 likeliest of 40 candidates" in notes


@pytest.mark.slow
def test_what_stands_beside_a_row_of_groups_ends_below_the_heading(run, ages, figures, tmp_path):
    call = ["median", *ages, "--bounds", 0, 120, "--step", 1e-6, "--epsilon", 1, "--law"]
    by = ["--by", "$g_", "--groups", "a,b & c"]
    assert run(*call, *by, "--plot", tmp_path / "p.png").code == 0
    (figure,) = figures
    label = figure.axes[0].yaxis.label
    assert label.get_text().replace("\n", " ") == "probability density (per unit of age)"
    beside = label.get_window_extent()
    assert beside.y1 <= min(text.get_window_extent().y0 for text in figure.texts[:2])
    assert beside.y0 >= 0


@pytest.mark.slow
def test_pictures_of_no_records(run, tmp_path):
    path = tmp_path / "f.csv"
    path.write_text("$x_\n")
    call = [path, "--column", "$x_", "--epsilon", 1, "--bounds", 0, 9]
    for which in ("median", "price"):
        for kind in (["--law"], ["--draws", 1]):
            assert run(which, *call, *kind, "--plot", tmp_path / "p.svg").code == 0
    by = ["--by", "$x_", "--groups", "from-data"]
    call = ["select", path, "--column", "$x_", "--candidates", "a,b", "--epsilon", 1, "--law"]
    assert run(*call, "--plot", tmp_path / "p.svg").code == 0
    path.write_text("g,x\n")
    call = ["median", path, "--column", "x", *call[6:], "--bounds", 0, 9]
    by[1] = "g"
    code, out, err = run(*call, *by, "--plot", tmp_path / "p.svg")
    assert (code, out) == (2, "")
    assert "no group to draw" in err


def test_a_picture_that_cannot_be_written_is_a_failure(run, ages, tmp_path, monkeypatch):
    from matplotlib.figure import Figure

    def full(*_):
        raise OSError(28, "No space left on device", MARKER)

    monkeypatch.setattr(Figure, "savefig", full)
    ended = run("median", *ages, *GRID, "--law", "--plot", tmp_path / "p.png")
    assert (ended.code, ended.out) == (1, "")
    assert "could not be written: No space left on device" in ended.err
    assert MARKER not in ended.err


def test_a_picture_needs_matplotlib(run, ages, tmp_path, monkeypatch):
    monkeypatch.setattr(canvas, "find_spec", lambda name: None)
    ended = run("median", *ages, *GRID, "--law", "--plot", tmp_path / "p.png")
    assert (ended.code, ended.out) == (2, "")
    assert "pip install matplotlib" in ended.err


@each(
    ("options", "message"),
    [
        (["--law", "--plot", "a.doc"], ".png, .svg, .pdf"),
        (["--law", "--plot", "/no/a.png"], "folder that exists"),
        (["--plot", "a.png"], "--plot needs --law, --draws or --accuracy"),
    ],
)
def test_what_is_no_picture_is_refused_before_the_file_is_read(run, options, message):
    ended = run("median", "/no/such.csv", "--column", "x", *GRID, *options)
    assert (ended.code, ended.out) == (2, "")
    assert message in ended.err
