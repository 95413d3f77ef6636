"""The pictures and tables of the gallery and of the benchmarks, made when the site is built.

They come into docs/_build/pictures, each picture light and dark, and are made again when what
they are from has changed: scripts, records, results or the package. As a program, it makes those
of a theme in one process, so that the libraries are imported once:
``python docs/_ext/pictures.py FOLDER light``. The directive ``{picture} NAME``, with ``:alt:``,
shows one as the page is, light or dark.
"""

from __future__ import annotations

import hashlib
import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted(path for path in (ROOT / "examples").glob("*.py") if path.stem != "style")
SOURCES = ("fastexp", "examples", "benchmarks", "bench_results", "docs/data", "docs/_ext")
DIGEST = "sources.txt"
VARIANTS: dict[str, tuple[str, ...]] = {"light": (), "dark": ("--dark",)}


def digest() -> str:
    """A hash of everything that pictures are made from."""
    whole = hashlib.sha256()
    for folder in SOURCES:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in {".py", ".csv", ".json"}:
                whole.update(path.read_bytes())
    return whole.hexdigest()


def make(folder: Path, theme: str) -> None:
    """Draw every picture in a theme; with the first theme, write the tables."""
    sys.path[:0] = [str(ROOT), str(ROOT / "examples")]
    from benchmarks import growth, page, report

    records = report.results()
    if theme == next(iter(VARIANTS)):
        (folder / "benchmarks.md").write_text(page.tables(records), encoding="utf-8")
    options = VARIANTS[theme]
    for script in SCRIPTS:
        sys.argv = [str(script), str(folder / f"{script.stem}-{theme}.svg"), *options]
        runpy.run_path(str(script), run_name="__main__")
    for case in growth.curves(records):
        picture = folder / f"growth-{case.replace(' ', '-')}-{theme}.svg"
        sys.argv = ["growth", case, str(picture), *options]
        growth.main()


def renew(app: Any) -> None:
    """Make them, each theme in a process of its own, unless nothing has changed."""
    folder = Path(app.srcdir, "_build", "pictures")
    state = digest()
    written = folder / DIGEST
    if written.is_file() and written.read_text(encoding="utf-8") == state:
        return
    folder.mkdir(parents=True, exist_ok=True)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, __file__, str(folder)]
    started = [subprocess.Popen([*command, theme], env=environment) for theme in VARIANTS]  # noqa: S603  # this file
    codes = [process.wait() for process in started]
    if any(codes):
        raise RuntimeError("the pictures could not be drawn: see above")
    written.write_text(state, encoding="utf-8")


class Picture(SphinxDirective):
    """One of these pictures; the theme hides the variant that does not fit."""

    required_arguments = 1
    option_spec: ClassVar = {"alt": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        """Both variants."""
        if "alt" not in self.options:
            raise self.error("a picture needs :alt:")
        return [
            nodes.image(
                uri=f"/_build/pictures/{self.arguments[0]}-{theme}.svg",
                alt=self.options["alt"],
                classes=[f"only-{theme}", "picture"],
            )
            for theme in VARIANTS
        ]


def setup(app: Any) -> dict[str, bool]:
    """Before any page is read."""
    app.add_directive("picture", Picture)
    app.connect("builder-inited", renew)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


if __name__ == "__main__":
    make(Path(sys.argv[1]), sys.argv[2])
