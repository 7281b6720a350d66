"""What a source tree's parts ask for, and what of it cannot be built here."""

from __future__ import annotations

from pathlib import Path

import pytest

from pushjuju.charms.parts import BuildPlan, plan
from pushjuju.core.base import Base
from pushjuju.core.errors import InvalidCharm
from pushjuju.services import charm_build

LOCK = """
version = 1
[[package]]
name = "web"
version = "0"
source = { virtual = "." }
dependencies = [{ name = "ops" }, { name = "tomli", marker = "python_full_version < '3.11'" }]
[[package]]
name = "ops"
version = "3.0.0"
source = { registry = "https://pypi.org/simple" }
dependencies = [{ name = "PyYAML" }]
[[package]]
name = "pyyaml"
version = "6.0.3"
source = { registry = "https://pypi.org/simple" }
[[package]]
name = "tomli"
version = "2.0"
source = { registry = "https://pypi.org/simple" }
[[package]]
name = "pytest"
version = "8"
source = { registry = "https://pypi.org/simple" }
"""


def planned(text: str, **files: str) -> BuildPlan:
    named = {name.replace("__", ".").replace("_", "-"): body.encode() for name, body in files.items()}
    return plan(f"name: web\n{text}".encode(), named.get)


def test_without_parts_it_is_the_plugin_charm() -> None:
    found = planned("", requirements__txt="ops>=2\n")
    assert (found.files, found.wanted_by, found.installs) == (("requirements.txt",), "requirements.txt", True)
    assert not planned("", requirements__txt="# nothing\n").installs
    assert not planned("").installs


def test_plugin_charm() -> None:
    text = "parts:\n  charm:\n    charm-python-packages: [a]\n    charm-binary-python-packages: [b]\n"
    assert planned(text).requirements == ("a", "b")


def test_plugin_python() -> None:
    text = (
        "parts:\n  x: {plugin: python, source: ., python-requirements: [r.txt], python-packages: [pip, c]}\n"
    )
    found = planned(text, r__txt="d\n")
    assert (found.files, found.requirements) == (("r.txt",), ("c",))


def test_plugin_uv_with_a_lock_takes_what_the_charm_leads_to() -> None:
    found = planned("parts:\n  x: {plugin: uv, source: ., build-snaps: [astral-uv]}\n", uv__lock=LOCK)
    assert found.locked
    assert found.requirements == ("ops==3.0.0", "pyyaml==6.0.3", "tomli==2.0 ; python_full_version < '3.11'")


def test_plugin_uv_without_a_lock() -> None:
    project = '[project]\ndependencies = ["ops>=2", "mine"]\n[tool.uv.sources]\nmine = {path = "mine__tgz"}\n'
    text = "parts:\n  x: {plugin: uv, source: .}\n"
    found = planned(text, pyproject__toml=project.replace("__", "."), mine__tgz="x")
    assert (found.requirements, found.local, found.locked) == (("ops>=2",), ("mine.tgz",), False)


def test_dump_and_nil() -> None:
    found = planned("parts:\n  a: {plugin: dump, source: extra}\n  b: {plugin: nil}\n")
    assert (found.dumps, found.installs) == (("extra",), False)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("parts:\n  x: {plugin: reactive}\n", 'part "x" uses the plugin "reactive"'),
        ("parts:\n  x: {plugin: poetry}\n", 'part "x" uses the plugin "poetry"'),
        ("parts:\n  charm: {override-build: make}\n", 'part "charm" has "override-build"'),
        ("parts:\n  charm: {stage-packages: [x]}\n", 'part "charm" has "stage-packages"'),
        (
            "parts:\n  charm: {source: 'https://x/y.git'}\n",
            'part "charm" has its source at "https://x/y.git"',
        ),
        ("parts:\n  charm: {source: ../x}\n", 'part "charm" has its source at "../x"'),
        ("parts:\n  charm: {charm-requirements: [r.txt]}\n", "r.txt is missing from the tree"),
        ("parts:\n  x: {plugin: uv, uv-extras: [a]}\n", "uv-extras: a"),
    ],
)
def test_what_cannot_be_built_is_named(text: str, problem: str) -> None:
    with pytest.raises(InvalidCharm) as caught:
        planned(text)
    assert caught.value.message == f"charm cannot be built here: {problem}"
    assert "charmcraft pack" in caught.value.hint


def test_all_of_it_is_named() -> None:
    with pytest.raises(InvalidCharm) as caught:
        planned("parts:\n  a: {plugin: go}\n  b: {plugin: npm}\n")
    assert caught.value.detail == 'part "b" uses the plugin "npm"'


@pytest.mark.parametrize("text", ["parts: 3\n", "parts: [\n"])
def test_parts_that_are_none(text: str) -> None:
    with pytest.raises(InvalidCharm):
        planned(text)


@pytest.mark.parametrize("source", ['{path = "../ops"}', '{path = "/ops"}', '{git = "https://x/y"}', '"x"'])
def test_packages_from_elsewhere_are_refused(source: str) -> None:
    project = f'[project]\ndependencies = ["ops"]\n[tool.uv.sources]\nops = {source}\n'
    with pytest.raises(InvalidCharm, match="does not come from PyPI or the tree"):
        planned("parts:\n  x: {plugin: uv, source: .}\n", pyproject__toml=project)


def test_dumped_folders_come_to_the_root(tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "extra").mkdir(parents=True)
    (source / "tests").mkdir()
    (source / "extra" / "tool.sh").write_text("#!/bin/sh\n")
    (source / "charmcraft.yaml").write_text("name: web\nparts:\n  a: {plugin: dump, source: extra}\n")
    work = tmp_path / "work"
    work.mkdir()
    found = charm_build.built(source, work, base=Base("ubuntu", "24.04"), environ={})
    assert sorted(path.name for path in found.iterdir()) == ["charmcraft.yaml", "extra", "tool.sh"]


def test_a_tree_that_needs_nothing_is_taken_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "charmcraft.yaml").write_text("name: web\n")
    found = charm_build.built(tmp_path, tmp_path, base=Base("ubuntu", "24.04"), environ={})
    assert found == tmp_path


def test_packages_outside_of_the_tree_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("ops\n")
    source = tmp_path / "source"
    source.mkdir()
    (source / "requirements.txt").symlink_to(tmp_path / "secret.txt")
    assert charm_build._read(source, "requirements.txt") is None
