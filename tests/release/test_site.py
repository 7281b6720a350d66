"""The docs site builds without a warning, asks no other host for anything, is searched from a file."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# what a browser fetches without a click; `href` of <a> is a link
_FETCHED = {"src", "srcset", "poster", "data", "action", "href"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("sphinx", reason="Sphinx is missing; `make setup` installs what is new")
    folder = tmp_path_factory.mktemp("docs")
    command = [sys.executable, "-m", "contrib.docsite", folder]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "html"


class _Addresses(HTMLParser):
    """Collects the addresses that a browser fetches by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value or "" for name, value in attrs if tag != "a" and name in _FETCHED]


def test_a_page_asks_no_other_host_for_anything(site: Path) -> None:
    outside = re.compile(r"^\s*(https?:)?//")
    for page in site.rglob("*.html"):
        parser = _Addresses()
        parser.feed(page.read_text())
        assert parser.found, page
        assert not [address for address in parser.found if outside.match(address)], page
    for sheet in site.rglob("*.css"):
        assert not re.search(r"(url\(|@import)\s*[\"']?(https?:)?//", sheet.read_text()), sheet


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
