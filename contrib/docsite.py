"""Build the docs site: the pages of docs/ and those that contrib/reference.py makes, with Sphinx.

    python -m contrib.docsite [--versions | --links] [FOLDER]

The script writes FOLDER/source and FOLDER/html; FOLDER is build/docs unless the argument names another. With
--versions, FOLDER/html has a folder for the checkout (`latest`) and one for the newest release of each minor
version (`0.1`), with a switch in the sidebar; each is built by the script of its own tag. With --links, the
script opens the links that lead to other sites instead, and FOLDER/linkcheck/output.txt has those that fail.

With DOCS_URL, the address of the site, pages name their own address and sitemap.xml lists them all.

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
import tempfile
from collections.abc import Mapping
from pathlib import Path
from subprocess import PIPE
from xml.sax.saxutils import escape

from contrib import reference

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
_FENCE = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s#]+)(#[^)\s]+)?\)")


def main(arguments: list[str]) -> int:
    """Build the site, and return Sphinx's exit code."""
    if arguments[:1] == ["--versions"]:
        return build_versions(folder_of(arguments[1:]))
    builder = "linkcheck" if arguments[:1] == ["--links"] else "html"
    folder = folder_of([word for word in arguments if word != "--links"])
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
    target = str(folder / builder)
    command = [sys.executable, "-m", "sphinx", "-b", builder, *options, str(source), target]
    code = subprocess.run(command, cwd=ROOT, check=False).returncode
    if not code and builder == "html":
        write_sitemap(folder / "html", os.environ.get("DOCS_URL", ""))
        print(f"open {folder / 'html' / 'index.html'}")
    return code


def folder_of(arguments: list[str]) -> Path:
    """Return the folder that the arguments name."""
    return Path(arguments[0] if arguments else ROOT / "build" / "docs").resolve()


def build_versions(folder: Path) -> int:
    """Build the site of the checkout and of each minor version; return the first exit code that is not 0."""
    tags = minor_versions(git("tag", "--list", "v*").split())
    address = os.environ.get("DOCS_URL", "")
    site = folder / "html"
    shutil.rmtree(folder, ignore_errors=True)
    for name, tag in {"latest": "", **tags}.items():
        with tempfile.TemporaryDirectory(prefix="pushjuju-docs-") as work:
            place = checked_out(tag, Path(work) / "tree") if tag else ROOT
            names = " ".join(["latest", *tags])
            more = {"DOCS_VERSIONS": names, "DOCS_VERSION": name, "DOCS_URL": address and f"{address}{name}/"}
            command = [sys.executable, "-m", "contrib.docsite", f"{work}/built"]
            environ = {**os.environ, **more}
            code = subprocess.run(command, cwd=place, env=environ, stdout=PIPE, check=False).returncode
            if code:
                return code
            shutil.move(f"{work}/built/html", site / name)
    (site / "index.html").write_text('<!doctype html><meta http-equiv="refresh" content="0; url=latest/">\n')
    write_sitemap(site, address)
    print(f"open {site / 'index.html'}")
    return 0


def minor_versions(tags: list[str]) -> dict[str, str]:
    """Return minor version -> its newest tag, the newest version first; other tags are left out."""
    found: dict[tuple[int, int], tuple[int, str]] = {}
    for tag in tags:
        if numbers := re.fullmatch(r"v(\d+)\.(\d+)\.(\d+)", tag):
            major, minor, patch = map(int, numbers.groups())
            found[major, minor] = max(found.get((major, minor), (-1, "")), (patch, tag))
    return {f"{major}.{minor}": found[major, minor][1] for major, minor in sorted(found, reverse=True)}


def checked_out(tag: str, folder: Path) -> Path:
    """Write the files of a tag into a new folder, and return the folder."""
    folder.mkdir()
    archive = subprocess.run(["git", "archive", tag], cwd=ROOT, check=True, capture_output=True).stdout
    subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)
    return folder


def git(*words: str) -> str:
    """Return the output of git in the checkout."""
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def write_sitemap(site: Path, address: str) -> None:
    """Write sitemap.xml with the pages below a folder; without an address there is none."""
    if not address:
        return
    pages = (page.relative_to(site).as_posix() for page in site.rglob("*.html"))
    shown = sorted(page for page in pages if page.rpartition("/")[2] not in ("genindex.html", "search.html"))
    rows = "".join(f"  <url><loc>{escape(address + page)}</loc></url>\n" for page in shown)
    text = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{rows}</urlset>\n'
    (site / "sitemap.xml").write_text(f'<?xml version="1.0" encoding="utf-8"?>\n{text}', encoding="utf-8")


def write_sources(folder: Path, repository: str) -> None:
    """Write the pages from which Sphinx builds the site."""
    made = reference.pages()
    shutil.copytree(DOCS, folder, ignore=shutil.ignore_patterns("*.py", "__pycache__", "_templates"))
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
