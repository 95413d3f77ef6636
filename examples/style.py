"""What the pictures have in common: light or dark colours, and the file that is written.

A script calls `begin` before it draws and `end` with what it drew, and then
``python SCRIPT PICTURE`` writes PICTURE in light colours, with ``--dark`` in dark ones. `table`
reads the records that the pages use.
"""

import argparse
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from cycler import cycler
from matplotlib.figure import Figure

DATA = Path(__file__).parents[1] / "docs" / "data"
# Text, quiet text and lines, and four colours. They also differ in lightness, for readers who do
# not see colours and for grey prints, and have a contrast of at least 3 to the background.
QUIET = "#788492"
LIGHT = ("#1b2430", QUIET, "#0b4f8a", "#d55e00", "#3a9a78", "#8e5aa8")
DARK = ("#e8ecf1", QUIET, "#7cc0ff", "#ff9d4d", "#3fae86", "#c79be0")


def begin(purpose: str, *words: str) -> argparse.Namespace:
    """Read the command line, with further words before the picture, and set the style."""
    parser = argparse.ArgumentParser(description=purpose)
    for word in words:
        parser.add_argument(word)
    parser.add_argument("picture", type=Path, help="the file to write: .svg, .png or .pdf")
    parser.add_argument("--dark", action="store_true", help="for a dark background")
    arguments = parser.parse_args()
    text, quiet, *colors = DARK if arguments.dark else LIGHT
    ground = "#14181e" if arguments.dark else "white"  # not saved: pictures are transparent
    mpl.use("agg")
    mpl.rcdefaults()
    mpl.rcParams.update(
        {
            "axes.axisbelow": True,
            "axes.edgecolor": quiet,
            "axes.facecolor": ground,
            "axes.formatter.min_exponent": 4,  # 0.01, not a power of ten
            "axes.grid": True,
            "axes.grid.axis": "y",
            "axes.labelcolor": text,
            "axes.prop_cycle": cycler(color=colors) + cycler(linestyle=["-", "--", "-.", ":"]),
            "axes.spines.right": False,
            "axes.spines.top": False,
            "axes.titlelocation": "left",
            "axes.titlesize": "medium",
            "figure.constrained_layout.use": True,
            "figure.figsize": (7, 3.8),
            "figure.facecolor": ground,  # fastexp chooses light or dark colours by this
            "font.size": 12,
            "grid.alpha": 0.25,
            "grid.color": quiet,
            "legend.frameon": False,
            "lines.linewidth": 2.2,
            "savefig.dpi": 150,
            "savefig.transparent": True,
            "svg.hashsalt": "fastexp",  # for the same bytes each time
            "text.color": text,
            "xtick.color": text,
            "xtick.major.size": 0,
            "xtick.minor.size": 0,
            "ytick.color": text,
            "ytick.major.size": 0,
            "ytick.minor.size": 0,
        }
    )
    return arguments


def table(file: str) -> np.ndarray:
    """Return the rows of a file of docs/data, with columns by their names."""
    return np.genfromtxt(DATA / file, delimiter=",", names=True, dtype=None, encoding="utf-8")


def end(figure: Figure, arguments: argparse.Namespace) -> None:
    """Write the picture without a date, and close it."""
    undated = {"Date": None} if arguments.picture.suffix == ".svg" else None
    figure.savefig(arguments.picture, metadata=undated)
    plt.close(figure)
