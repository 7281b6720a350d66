"""The docs site builds without a warning, asks no other host for anything, is searched from a file."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from contrib import docsite

ADDRESS = "https://docs.example.org/latest/"
ROOT = Path(__file__).parents[2]
# what a browser fetches without a click; `href` of <a> is a link
_FETCHED = {"src", "srcset", "poster", "data", "action", "href"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("sphinx", reason="Sphinx is missing; `make setup` installs what is new")
    folder = tmp_path_factory.mktemp("docs")
    command = [sys.executable, "-m", "contrib.docsite", folder]
    more = {"DOCS_VERSIONS": "latest 0.2 0.1", "DOCS_VERSION": "latest", "DOCS_URL": ADDRESS}
    environ = {**os.environ, **more}
    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "html"


class _Addresses(HTMLParser):
    """Collects the addresses that a browser fetches by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag != "a" and ("rel", "canonical") not in attrs:  # both are links that nobody follows by himself
            self.found += [value or "" for name, value in attrs if name in _FETCHED]


def test_a_page_asks_no_other_host_for_anything(site: Path) -> None:
    outside = re.compile(r"^\s*(https?:)?//")
    for page in site.rglob("*.html"):
        parser = _Addresses()
        parser.feed(page.read_text())
        assert parser.found, page
        assert not [address for address in parser.found if outside.match(address)], page
    for sheet in site.rglob("*.css"):
        assert not re.search(r"(url\(|@import)\s*[\"']?(https?:)?//", sheet.read_text()), sheet


def test_flags_keep_their_hyphens_where_they_are_no_code(site: Path) -> None:
    assert "with --no-wait at once" in (site / "reference/commands/unit.html").read_text()
    dashed = {page.name: re.findall("[–—][a-z]+", page.read_text()) for page in site.rglob("*.html")}
    assert {name: found for name, found in dashed.items() if found} == {}


def test_a_page_leads_to_the_other_versions_and_the_map_of_the_site_to_all_pages(site: Path) -> None:
    text = (site / "how-to/monitor.html").read_text()
    assert f'<link rel="canonical" href="{ADDRESS}how-to/monitor.html">' in text
    assert re.findall(r'href="([^"]+/index.html)"[^>]*>(latest|0\.\d)<', text) == [
        (f"../../{name}/index.html", name) for name in ("latest", "0.2", "0.1")
    ]
    pages = {page.relative_to(site).as_posix() for page in site.rglob("*.html")}
    listed = re.findall(f"<loc>{re.escape(ADDRESS)}(.*)</loc>", (site / "sitemap.xml").read_text())
    assert pages - {*listed} == {"genindex.html", "search.html"}
    assert listed == sorted(listed)
    assert (site / "objects.inv").exists()


def test_each_minor_version_is_built_from_its_newest_release() -> None:
    tags = ["v0.9.0", "v0.10.1", "v0.10.0", "v0.10.10", "v1.0.0", "v1.1.0rc1", "nightly"]
    assert list(docsite.minor_versions(tags).items()) == [
        ("1.0", "v1.0.0"), ("0.10", "v0.10.10"), ("0.9", "v0.9.0"),
    ]  # fmt: skip


def test_every_page_of_the_docs_is_in_the_site(site: Path) -> None:
    pages = {page.relative_to(ROOT / "docs").with_suffix("") for page in (ROOT / "docs").rglob("*.md")}
    assert pages <= {page.relative_to(site).with_suffix("") for page in site.rglob("*.html")}


@pytest.mark.skipif(not shutil.which("chromium"), reason="chromium is not installed")
def test_search_works_from_a_file_without_a_network(site: Path, tmp_path: Path) -> None:
    browser = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}"]
    browser += ["--host-resolver-rules=MAP * ~NOTFOUND", "--virtual-time-budget=20000", "--dump-dom"]
    address = f"{(site / 'search.html').as_uri()}?q=jump+host"
    done = subprocess.run([*browser, address], capture_output=True, text=True, check=True, timeout=120)
    assert "how-to/go-through-a-jump-host.html" in done.stdout
