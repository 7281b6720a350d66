"""Sphinx's settings of the docs site; `make docs` (contrib/docsite.py) makes the sources and builds."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

_PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))[
    "project"
]

project = _PROJECT["name"]
version = release = _PROJECT["version"]
extensions = ["myst_parser", "sphinx_copybutton"]
source_suffix = {".md": "markdown"}
myst_heading_anchors = 4
html_theme = "furo"
html_baseurl = os.environ.get("DOCS_URL", "")  # where this version will be; pages name their address there
templates_path = ["_templates"]
_PARTS = ("brand", "search", "versions", "scroll-start", "navigation", "scroll-end")
html_sidebars = {"**": [f"sidebar/{part}.html" for part in _PARTS]}
# the names of all versions of the site, in folders beside each other; contrib/docsite.py sets both variables
html_context = {
    "versions": os.environ.get("DOCS_VERSIONS", "").split(),
    "this_version": os.environ.get("DOCS_VERSION", ""),
}
html_title = f"{project} {release}"
html_copy_source = False
html_show_copyright = False
html_last_updated_fmt = None  # a date would differ between two builds of the same source
highlight_language = "text"
smartquotes = False  # flags keep their two hyphens, and what readers copy keeps its quotes
copybutton_exclude = ".linenos, .gp, .go"
# a site that is slow tonight is no broken link, and a page may move
linkcheck_retries = 3
linkcheck_timeout = 30
linkcheck_workers = 4
linkcheck_anchors = False  # pages of GitHub make theirs with scripts
linkcheck_ignore = [r"https?://(127\.0\.0\.1|localhost|[\w.-]*\bexample\b)"]
