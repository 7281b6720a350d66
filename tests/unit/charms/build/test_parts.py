"""What a source tree's parts ask for, and what of it cannot be built here."""

from __future__ import annotations

from pathlib import Path

import pytest

from pushjuju.charms.build import locks
from pushjuju.charms.build.parts import BuildPlan, plan
from pushjuju.core.base import Base
from pushjuju.core.errors import InvalidCharm
from pushjuju.services.supply import charm_build

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
        (
            "parts:\n  x: {plugin: reactive}\n",
            'part "x" uses the plugin "reactive", which runs the code of layers',
        ),
        ("parts:\n  x: {plugin: poetry}\n", "poetry.lock is missing from the tree"),
        ("parts:\n  charm: {override-build: make}\n", 'part "charm" has "override-build"'),
        ("parts:\n  charm: {stage-packages: [x]}\n", 'part "charm" has "stage-packages"'),
        (
            "parts:\n  charm: {source: 'https://x/y.git'}\n",
            'part "charm" has its source outside of the tree: "https://x/y.git"',
        ),
        ("parts:\n  charm: {source: ../x}\n", 'part "charm" has its source outside of the tree: "../x"'),
        ("parts:\n  charm: {charm-requirements: [r.txt]}\n", "r.txt is missing from the tree"),
        (
            "parts:\n  x: {plugin: uv, uv-extras: [a]}\n",
            'uv-extras: "a" is not in the project, which has: none',
        ),
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
    assert caught.value.detail.splitlines() == [
        "at charmcraft.yaml:3",
        "also:",
        '  part "b" uses the plugin "npm" (charmcraft.yaml:4)',
    ]


@pytest.mark.parametrize("text", ["parts: 3\n", "parts: [\n"])
def test_parts_that_are_none(text: str) -> None:
    with pytest.raises(InvalidCharm):
        planned(text)


@pytest.mark.parametrize("source", ['{path = "../ops"}', '{path = "/ops"}', '{git = "ftp://x/y"}', '"x"'])
def test_packages_from_elsewhere_are_refused(source: str) -> None:
    project = f'[project]\ndependencies = ["ops"]\n[tool.uv.sources]\nops = {source}\n'
    with pytest.raises(InvalidCharm, match="does not come from PyPI, a repository or the tree"):
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


EXTRAS = """
version = 1
[[package]]
name = "web"
version = "0"
source = { editable = "." }
dependencies = [{ name = "ops", extra = ["tracing"] }]
[package.optional-dependencies]
pg = [{ name = "psycopg" }]
[package.dev-dependencies]
lint = [{ name = "ruff" }]
tools = [{ name = "jinja2", marker = "python_full_version >= '3.9'" }]
[[package]]
name = "ops"
version = "3.0.0"
source = { registry = "https://pypi.org/simple" }
[package.optional-dependencies]
tracing = [{ name = "ops-tracing" }]
[[package]]
name = "ops-tracing"
version = "3.0.0"
source = { registry = "https://pypi.org/simple" }
dependencies = [{ name = "ops" }]
[[package]]
name = "psycopg"
version = "3.2"
source = { registry = "https://pypi.org/simple" }
dependencies = [{ name = "zoneinfo", version = "1", marker = "python_full_version < '3.9'" }]
[[package]]
name = "zoneinfo"
version = "1"
source = { registry = "https://pypi.org/simple" }
[[package]]
name = "zoneinfo"
version = "2"
source = { registry = "https://pypi.org/simple" }
[[package]]
name = "jinja2"
version = "3.1"
source = { registry = "https://pypi.org/simple" }
dependencies = [{ name = "markupsafe", marker = "sys_platform == 'linux'" }]
[[package]]
name = "markupsafe"
version = "3.0"
source = { registry = "https://pypi.org/simple" }
[[package]]
name = "ruff"
version = "1"
source = { registry = "https://pypi.org/simple" }
"""


def test_plugin_uv_with_extras_and_groups() -> None:
    plain = planned("parts:\n  x: {plugin: uv}\n", uv__lock=EXTRAS)
    assert plain.requirements == ("ops-tracing==3.0.0", "ops==3.0.0")
    text = "parts:\n  x: {plugin: uv, uv-extras: [PG], uv-groups: [tools]}\n"
    assert planned(text, uv__lock=EXTRAS).requirements == (
        "jinja2==3.1 ; python_full_version >= '3.9'",
        "markupsafe==3.0 ; (python_full_version >= '3.9') and (sys_platform == 'linux')",
        "ops-tracing==3.0.0",
        "ops==3.0.0",
        "psycopg==3.2",
        "zoneinfo==1 ; python_full_version < '3.9'",
    )


def test_extras_and_groups_that_are_not_there_are_named() -> None:
    with pytest.raises(InvalidCharm) as caught:
        planned("parts:\n  x: {plugin: uv, uv-extras: [nope], uv-groups: [none]}\n", uv__lock=EXTRAS)
    told = caught.value.message + caught.value.detail
    assert 'uv-extras: "nope" is not in the project, which has: pg' in told
    assert 'uv-groups: "none" is not in the project, which has: lint, tools' in told


def test_groups_that_include_each_other_are_read_once_each() -> None:
    """Thirty levels of two includes are a thousand million ways; three thousand levels are deep."""
    text = "parts:\n  x: {plugin: uv, uv-groups: [g0]}\n"
    for levels in (30, 3000):
        project = "".join(
            f'g{level} = [{{include-group = "g{level + 1}"}}, {{include-group = "g{level + 1}"}}]\n'
            for level in range(levels)
        )
        project = f'[dependency-groups]\n{project}g{levels} = ["jinja2"]\n'
        assert planned(text, pyproject__toml=project).requirements == ("jinja2",)


def test_extras_and_groups_of_a_project_without_a_lock() -> None:
    project = """
[project]
dependencies = ["ops"]
[project.optional-dependencies]
pg = ["psycopg>=3"]
[dependency-groups]
base = ["jinja2", {include-group = "more"}]
more = ["pyyaml", {include-group = "base"}]
"""
    text = "parts:\n  x: {plugin: uv, uv-extras: [pg], uv-groups: [base]}\n"
    found = planned(text, pyproject__toml=project)
    assert (found.requirements, found.locked) == (("ops", "psycopg>=3", "jinja2", "pyyaml"), False)


POETRY = """
[[package]]
name = "ops"
version = "2.10.0"
optional = false
groups = ["main"]
[package.dependencies]
PyYAML = ">=6,<7"
[package.dependencies.tomli]
version = ">=1"
markers = "python_version < \\"3.11\\""
[[package]]
name = "pyyaml"
version = "6.0.3"
[[package]]
name = "tomli"
version = "2.0"
[[package]]
name = "requests"
version = "2.3"
[package.dependencies]
PySocks = {version = ">=1", optional = true, markers = "extra == \\"socks\\""}
[package.extras]
socks = ["PySocks (>=1)"]
[[package]]
name = "pysocks"
version = "1.7"
[[package]]
name = "pytest"
version = "8"
[[package]]
name = "cosl"
version = "1"
[package.source]
type = "git"
url = "https://x/cosl"
"""
TOOL = """
[tool.poetry]
name = "web"
[tool.poetry.dependencies]
python = "^3.10"
ops = "^2.10"
requests = {version = "^2", extras = ["socks"]}
[tool.poetry.group.dev.dependencies]
pytest = "*"
[tool.poetry.group.obs.dependencies]
cosl = {git = "https://x/cosl"}
"""


def test_plugin_poetry_takes_what_its_lock_leads_to() -> None:
    files = {"poetry__lock": POETRY, "pyproject__toml": TOOL}
    found = planned("parts:\n  x: {plugin: poetry, source: .}\n", **files)
    assert (found.locked, found.wanted_by) == (True, "poetry.lock")
    assert found.requirements == (
        "ops==2.10.0", "pysocks==1.7", "pyyaml==6.0.3", "requests==2.3",
        'tomli==2.0 ; python_version < "3.11"',
    )  # fmt: skip
    assert "pytest==8" in planned("parts:\n  x: {plugin: poetry, poetry-with: [dev]}\n", **files).requirements
    text = "parts:\n  x: {plugin: poetry, poetry-with: [obs]}\n"
    assert "cosl @ git+https://x/cosl" in planned(text, **files).requirements


def test_plugin_poetry_with_a_standard_project() -> None:
    project = '[project]\ndependencies = ["ops (>=2.10,<3)", "requests[socks] ; python_version >= \\"3\\""]\n'
    found = planned("parts:\n  x: {plugin: poetry}\n", poetry__lock=POETRY, pyproject__toml=project)
    assert "ops==2.10.0" in found.requirements
    assert 'pysocks==1.7 ; python_version >= "3"' in found.requirements


def test_a_lock_that_leads_to_too_many_ways_is_refused_not_cut_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "_MOST", 2)
    with pytest.raises(InvalidCharm, match="reach packages on more than 2 paths"):
        planned("parts:\n  x: {plugin: uv}\n", uv__lock=LOCK)


@pytest.mark.parametrize("extra", ["3", "true", "{}"])
def test_extras_of_a_lock_that_are_no_list_are_passed_over(extra: str) -> None:
    lock = LOCK.replace('{ name = "ops" }', f'{{ name = "ops", extra = {extra} }}')
    assert "ops==3.0.0" in planned("parts:\n  x: {plugin: uv}\n", uv__lock=lock).requirements
    tool = f'[tool.poetry.dependencies]\nops = {{ version = "^3", extras = {extra} }}\n'
    lines = '[[package]]\nname = "ops"\nversion = "3.0.0"\n'
    found = planned("parts:\n  x: {plugin: poetry}\n", poetry__lock=lines, pyproject__toml=tool)
    assert found.requirements == ("ops==3.0.0",)


RUST = "parts:\n  x:\n    plugin: {}\n    source: .\n    build-snaps: [rustup]\n    override-build: |\n{}"


def test_a_script_that_only_gets_a_compiler_is_left_out() -> None:
    script = "      # for cryptography\n      rustup default stable\n      craftctl default\n"
    found = planned(RUST.format("charm", script), requirements__txt="ops\n")
    assert found.files == ("requirements.txt",)
    assert found.left_out == ('rustup default stable (part "x"): packages are installed as wheels',)
    assert found.scripts == ()


@pytest.mark.parametrize(
    "script",
    [
        "if [[ $X == ubuntu@22.04:* || $X == 1 ]]\nthen\nsnap install rustup --classic\nfi\ncraftctl default",
        "if [ -z $HOME ]; then\nset -x\nelse\napt-get install rustup -y\nfi\ncraftctl default\n",
        "rustup set profile minimal  # small\ncraftctl default\n",
        "craftctl default # all of it\ngit describe --always --dirty > $CRAFT_PART_INSTALL/version\n",
        'craftctl default\ncp requirements.txt "${CRAFT_PART_INSTALL}/requirements.txt"\n',
    ],
)
def test_scripts_of_public_charms_that_wheels_make_pointless(script: str) -> None:
    text = RUST.format("charm", "".join(f"      {line}\n" for line in script.splitlines()))
    found = planned(text, requirements__txt="ops\n")
    assert (found.files, found.scripts) == (("requirements.txt",), ())
    assert found.left_out


@pytest.mark.parametrize(
    "script",
    [
        'if [[ "$(id)" == 0 ]]\nthen\nrustup default stable\nfi\ncraftctl default',
        "if [ -f x ]\nthen\ncraftctl default\nfi",
        "if [[ a ]] || id [[ ]]; then\nfi\ncraftctl default",
        "if [ -f x ]\nthen\nrustup default stable\ncraftctl default",
        "then\ncraftctl default",
        "apt-get install jq rustup\ncraftctl default",
        "git describe --always > $CRAFT_PART_INSTALL/src/version.py\ncraftctl default",
        "cp requirements.txt /etc/requirements.txt\ncraftctl default",
        "rustup default stable #`id`\nid # rustup\ncraftctl default",
    ],
)
def test_nothing_is_left_out_of_a_script_that_does_more(script: str) -> None:
    text = RUST.format("charm", "".join(f"      {line}\n" for line in script.splitlines()))
    with pytest.raises(InvalidCharm, match='part "x" has "override-build"'):
        planned(text)


def test_a_compiler_is_not_left_out_where_no_packages_are_installed() -> None:
    with pytest.raises(InvalidCharm, match='part "x" has "override-build"'):
        planned(RUST.format("nil", "      rustup default stable\n      craftctl default\n"))


def test_a_part_that_only_brings_the_tool_of_a_plugin_is_left_out() -> None:
    tools = "  poetry-deps: {plugin: nil, override-build: curl}\n"
    files = {"poetry__lock": POETRY, "pyproject__toml": TOOL}
    found = planned(f"parts:\n{tools}  x: {{plugin: poetry}}\n", **files)
    assert found.left_out == ('part "poetry-deps": packages are installed as wheels',)
    with pytest.raises(InvalidCharm, match='part "poetry-deps" has "override-build"'):
        planned(f"parts:\n{tools}  x: {{plugin: charm}}\n", **files)


@pytest.mark.parametrize(
    "script",
    ["      rustup default stable; id\n      craftctl default\n",
     "      rustup default $(id)\n      craftctl default\n",
     "      rustup default stable\n", "      make\n      craftctl default\n"],
)  # fmt: skip
def test_other_scripts_are_refused_unless_they_may_run(script: str) -> None:
    with pytest.raises(InvalidCharm) as caught:
        planned(RUST.format("charm", script))
    assert caught.value.message == 'charm cannot be built here: part "x" has "override-build"'
    assert "--allow-build-scripts" in caught.value.hint


def test_scripts_that_may_run_are_planned() -> None:
    text = RUST.format("charm", "      make\n      craftctl default\n").replace(
        "build-snaps: [rustup]", "build-packages: [jq]"
    )
    (script,) = plan(f"name: web\n{text}".encode(), {}.get, scripts=True).scripts
    assert (script.part, script.text, script.packages) == ("x", "make\ncraftctl default\n", ("jq",))


def test_a_list_that_a_script_makes_is_installed_when_the_part_names_the_list() -> None:
    text = "parts:\n  x: {plugin: charm, charm-requirements: [requirements.txt], override-build: make}\n"
    assert plan(f"name: web\n{text}".encode(), {}.get, scripts=True).files == ("requirements.txt",)
    with pytest.raises(InvalidCharm, match=r"requirements\.txt is missing from the tree"):
        planned(text.replace(", override-build: make", ""))
    unnamed = text.replace("charm-requirements: [requirements.txt], ", "")
    assert plan(f"name: web\n{unnamed}".encode(), {}.get, scripts=True).files == ()


def test_a_script_that_needs_the_snap_of_uv_gets_the_package() -> None:
    text = "parts:\n  x: {plugin: nil, build-snaps: [astral-uv/latest/edge, go], override-build: make}\n"
    (script,) = plan(f"name: web\n{text}".encode(), {}.get, scripts=True).scripts
    assert script.tools == ("uv",)


@pytest.mark.parametrize(
    "line",
    [
        "uv export --frozen --no-dev -o requirements.txt",
        "uv export --locked --no-default-groups --format=requirements-txt --no-hashes > requirements.txt",
        "uv export --output-file=requirements.txt --no-dev  # for the plugin",
    ],
)
def test_a_list_that_a_script_would_export_comes_from_uv_lock(line: str) -> None:
    text = RUST.format("charm", f"      rustup default stable\n      {line}\n      craftctl default\n")
    found = planned(text, uv__lock=LOCK)
    assert "ops==3.0.0" in found.requirements
    assert (found.locked, found.files, found.scripts) == (True, (), ())
    told = f'{line.partition("  #")[0]} (part "x"): the packages of uv.lock are installed'
    assert told in found.left_out
    with pytest.raises(InvalidCharm, match=r"requirements\.txt is missing from the tree"):
        planned(text)


@pytest.mark.parametrize(
    "line",
    [
        "uv export --frozen -o requirements.txt",
        "uv export --no-dev --extra more -o requirements.txt",
        "uv export --no-dev -o ../requirements.txt",
        "uv export --no-dev -o requirements.txt && id",
        "uv export --no-dev",
        "uv pip compile --no-dev -o requirements.txt",
    ],
)
def test_other_exports_are_scripts_that_have_to_run(line: str) -> None:
    text = RUST.format("charm", f"      {line}\n      craftctl default\n")
    with pytest.raises(InvalidCharm, match='part "x" has "override-build"'):
        planned(text, uv__lock=LOCK)


def test_beside_a_script_the_other_parts_are_built_in_the_machine_too() -> None:
    text = """parts:
  charm: {build-packages: [jq]}
  data: {plugin: dump, source: some data}
  deps: {plugin: nil}
  wheels: {plugin: nil, override-build: make}
"""
    found = plan(f"name: web\n{text}".encode(), {"requirements.txt": b"ops"}.get, scripts=True)
    assert [(script.part, script.text, script.packages) for script in found.scripts] == [
        ("charm", "craftctl default", ("jq",)),
        ("data", """cp -a 'some data'/. "$CRAFT_PART_INSTALL/\"""", ()),
        ("wheels", "make", ()),
    ]
    assert found.files == ("requirements.txt",)


def test_plugin_poetry_takes_extras_of_its_arguments() -> None:
    project = TOOL + '[tool.poetry.extras]\nmore = ["pysocks"]\n'
    text = "parts:\n  x: {plugin: poetry, poetry-export-extra-args: [--without-hashes, --extras=more]}\n"
    found = planned(text, poetry__lock=POETRY, pyproject__toml=project)
    assert "pysocks==1.7" in found.requirements
    with pytest.raises(InvalidCharm, match='"poetry-export-extra-args" has "--format=json"'):
        planned(text.replace("--extras=more", "--format=json"), poetry__lock=POETRY, pyproject__toml=project)


@pytest.mark.parametrize(
    ("arguments", "has", "lacks"),
    [
        ("['--only', 'main,dev']", {"ops==2.10.0", "pytest==8"}, {"cosl @ git+https://x/cosl"}),
        ("[--only=dev]", {"pytest==8"}, {"ops==2.10.0"}),
        ("[--with=dev, --with, obs]", {"ops==2.10.0", "pytest==8", "cosl @ git+https://x/cosl"}, set()),
        ("[--with=dev, --without=dev]", {"ops==2.10.0"}, {"pytest==8"}),
        ("[--only, main, --with, dev]", {"ops==2.10.0"}, {"pytest==8"}),
    ],
)
def test_plugin_poetry_takes_groups_of_its_arguments(arguments: str, has: set[str], lacks: set[str]) -> None:
    text = f"parts:\n  x: {{plugin: poetry, poetry-export-extra-args: {arguments}}}\n"
    found = set(planned(text, poetry__lock=POETRY, pyproject__toml=TOOL).requirements)
    assert has <= found
    assert not lacks & found


def test_groups_of_arguments_that_are_not_there_are_named() -> None:
    text = "parts:\n  x: {plugin: poetry, poetry-export-extra-args: [--only=none]}\n"
    with pytest.raises(InvalidCharm, match='--only: "none" is not in the project, which has: dev, obs'):
        planned(text, poetry__lock=POETRY, pyproject__toml=TOOL)


REACTIVE = (
    "parts:\n  charm-tools: {plugin: python, source: https://x/tools.git}\n  x:\n    plugin: reactive\n"
)


def test_plugin_reactive_is_refused_unless_scripts_may_run() -> None:
    with pytest.raises(InvalidCharm) as caught:
        planned(REACTIVE)
    assert 'part "x" uses the plugin "reactive", which runs the code of layers' in str(caught.value)
    assert "--allow-build-scripts" in caught.value.hint


def test_plugin_reactive_is_planned_where_scripts_may_run() -> None:
    text = (
        f"{REACTIVE}    build-packages: [jq]\n    reactive-charm-build-arguments: [--log-level DEBUG, -F]\n"
    )
    found = plan(f"name: web\n{text}".encode(), {}.get, scripts=True)
    (script,) = found.scripts
    assert (script.part, script.plugin, script.text) == ("x", "reactive", "craftctl default\n")
    assert (script.packages, script.arguments) == (("jq",), ("--log-level", "DEBUG", "-F"))
    assert found.left_out == ('part "charm-tools": charm-tools are installed from the package index',)


def test_constraints_that_are_missing_are_named() -> None:
    text = "parts:\n  x: {plugin: python, python-constraints: [limits.txt]}\n"
    with pytest.raises(InvalidCharm, match=r"limits\.txt is missing from the tree"):
        planned(text)
