"""How the site is built: ``nox -s docs``, from the repository alone, with no network."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

from public_members import public_members  # noqa: E402  # likewise

import fastexp  # noqa: E402  # the extensions' folder comes first

project = "fastexp"
author = copyright = "The fastexp developers"  # noqa: A001  # Sphinx calls it so
version = release = fastexp.__version__

extensions = [
    "command_line",
    "docstrings",
    "error_page",
    "mechanism_table",
    "myst_nb",
    "notebooks",
    "numpydoc",
    "pictures",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx-mathjax-offline",
    "decision_picture",
    "unused_files",
]
exclude_patterns = ["_build", "data", "README.md"]
source_suffix = {".rst": "restructuredtext", ".md": "myst-nb"}  # autosummary writes the first
templates_path = ["_templates"]
smartquotes = False  # words in quotes are to be copied
default_role = "py:obj"  # a name in backquotes in a docstring is a link

# Cells run in a folder of their own that holds what is in data/ (see _kernel), and run again
# when the package has changed.
os.environ["IPYTHONDIR"] = str(HERE / "_kernel")
os.environ["FASTEXP_DOCS_DATA"] = str(HERE / "data")
os.environ["MATPLOTLIBRC"] = str(HERE / "_kernel" / "matplotlibrc")
os.environ["COLUMNS"] = "80"
os.environ["PYTHONPATH"] = str(HERE.parent)  # for cells that use `tests.twins`
package = hashlib.sha256()
for source in sorted(Path(fastexp.__file__).parent.rglob("*.py")):
    package.update(source.read_bytes())
nb_execution_mode = "cache"
nb_execution_cache_path = str(HERE / "_build" / "cells" / package.hexdigest()[:16])
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_merge_streams = True

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "attrs_inline", "attrs_block"]
myst_heading_anchors = 3

autosummary_generate = True
autosummary_ignore_module_all = False
autosummary_context = {"public": public_members(fastexp, fastexp.privacy)}
autodoc_typehints = "none"  # numpydoc's sections have them
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

html_context = {"default_mode": "auto"}
html_theme = "pydata_sphinx_theme"
html_title = "fastexp"
html_favicon = "_static/favicon.svg"
html_static_path = ["_static"]
html_css_files = ["fastexp.css"]
html_show_sourcelink = False
html_copy_source = False
html_search_scorer = str(HERE / "_ext" / "search_order.js")
html_theme_options = {
    "navbar_align": "left",
    "show_prev_next": True,
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "header_links_before_dropdown": 7,
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {
    page: [] for page in ("changelog", "cite", "contributing", "faq", "gallery", "start")
}
copybutton_exclude = ".linenos, .gp, .go"


def setup(app: Any) -> None:
    """Read pages in parallel: the extension with the formulas only adds files."""
    app.extensions["sphinx-mathjax-offline"].parallel_read_safe = True
