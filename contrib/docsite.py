"""Build the docs site: the pages of docs/ and those that contrib/reference.py makes, with Sphinx.

    python -m contrib.docsite [FOLDER]

The script writes FOLDER/source and FOLDER/html; FOLDER is build/docs unless the argument names another.

The pages of docs/ are plain Markdown for GitHub. A copy of them gets what a site needs: the table of contents
from the lists of index.md, and links that leave docs/ lead to the repository that REPOSITORY_URL names, or
become text when the variable is not set. Every warning of Sphinx is an error.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from contrib import reference

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
_FENCE = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s#]+)(#[^)\s]+)?\)")


def main(arguments: list[str]) -> int:
    """Build the site, and return Sphinx's exit code."""
    folder = Path(arguments[0] if arguments else ROOT / "build" / "docs").resolve()
    source = folder / "source"
    shutil.rmtree(folder, ignore_errors=True)
    write_sources(source, os.environ.get("REPOSITORY_URL", ""))
    options = [
        "-q",
        "-W",
        "--keep-going",
        "-n",
        "-j",
        "auto",
        "-c",
        str(DOCS),
        "-d",
        str(folder / "doctrees"),
    ]
    command = [sys.executable, "-m", "sphinx", "-b", "html", *options, str(source), str(folder / "html")]
    code = subprocess.run(command, cwd=ROOT, check=False).returncode
    if not code:
        print(f"open {folder / 'html' / 'index.html'}")
    return code


def write_sources(folder: Path, repository: str) -> None:
    """Write the pages from which Sphinx builds the site."""
    made = reference.pages()
    shutil.copytree(DOCS, folder, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    for page in folder.rglob("*.md"):
        here = DOCS / page.relative_to(folder)
        page.write_text(linked(page.read_text(encoding="utf-8"), here, repository), encoding="utf-8")
    for name, text in made.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    index = folder / "index.md"
    index.write_text(with_contents(index.read_text(encoding="utf-8"), made), encoding="utf-8")


def linked(text: str, page: Path, repository: str) -> str:
    """Return the text of a page in which links that leave docs/ lead to the repository, or are text."""

    def outside(link: re.Match[str]) -> str:
        title, target = link[1], link[2]
        path = (page.parent / target).resolve()
        if "://" in target or path.is_relative_to(DOCS):
            return link[0]
        name = path.relative_to(ROOT)
        if repository:
            return f"[{title}]({repository}/blob/main/{name}{link[3] or ''})"
        return title if str(name) in title else f"{title} (`{name}`)"

    parts = _FENCE.split(text)
    return "".join(part if part.startswith("```") else _LINK.sub(outside, part) for part in parts)


def with_contents(index: str, made: Mapping[str, str]) -> str:
    """Return index.md with a table of contents: what its sections list, and the generated pages."""
    generated = [name for name in made if name.count("/") == 1 or name.endswith("/index.md")]
    titles = {name: made[name].partition("\n")[0].removeprefix("# ") for name in generated}
    listed = "".join(f"- [{titles[name]}]({name})\n" for name in generated)
    index = index.replace("\n## Explanation\n", f"\nMade from the code:\n\n{listed}\n## Explanation\n")
    contents = []
    for section in index.split("\n## ")[1:]:
        pages = re.findall(r"^- \[[^\]]+\]\(([\w/-]+\.md)\)", section, re.MULTILINE)
        heading = section.partition("\n")[0]
        contents.append("\n".join(["```{toctree}", ":hidden:", f":caption: {heading}", "", *pages, "```"]))
    return index + "\n" + "\n\n".join(contents) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
