"""Sphinx's settings of the docs site; `make docs` (contrib/docsite.py) makes the sources and builds."""

from __future__ import annotations

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
html_title = f"{project} {release}"
html_copy_source = False
html_show_copyright = False
html_last_updated_fmt = None  # a date would differ between two builds of the same source
highlight_language = "text"
copybutton_exclude = ".linenos, .gp, .go"
