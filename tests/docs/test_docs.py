"""The docs are complete and true where a program can tell: links, variables, targets, the two commands."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path
    for path in [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/**/*.md"),
        *ROOT.glob("state/*.md"),
        *ROOT.glob("contrib/**/*.md"),
    ]
)
MODULES = sorted((ROOT / "pushjuju").rglob("*.py"))
TEST_COMMAND = "python3 contrib/dev.py test"
DEMO_COMMAND = "python3 contrib/dev.py demo"


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def prose(page: Path) -> str:
    return re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)


def anchors(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if link.startswith(("http://", "https://")):
            continue
        target, _, anchor = link.partition("#")
        found = (page.parent / target).resolve() if target else page
        assert found.exists(), f"{link} does not exist"
        assert not anchor or anchor in anchors(found), f"{link}: no such heading"


def test_every_page_of_the_docs_can_be_reached() -> None:
    reached: set[Path] = set()
    todo = [ROOT / "README.md"]
    while todo:
        page = todo.pop()
        if page in reached or page.suffix != ".md":
            continue
        reached.add(page)
        links = [
            link.partition("#")[0]
            for link in re.findall(r"\]\(([^)\s]+)\)", prose(page))
            if "://" not in link
        ]
        todo += [(page.parent / link).resolve() for link in links if link]
    assert {path for path in PAGES if "docs" in path.relative_to(ROOT).parts} <= reached


def test_environment_variables_are_documented() -> None:
    text = "\n".join(path.read_text() for path in MODULES)
    used = set(re.findall(r"""["'](PUSHJUJU_[A-Z_]+)["']""", text)) - {
        "PUSHJUJU_API"
    }  # an attribute of plugins
    shown = set(re.findall(r"`(PUSHJUJU_[A-Z_]+)`", (ROOT / "docs/reference/environment.md").read_text()))
    assert used <= shown
    assert {variable for variable in shown if variable not in text} == set()


@pytest.mark.parametrize("page", ["docs/architecture.md", "CONTRIBUTING.md"])
def test_the_paths_and_modules_that_say_where_things_live_are_there(page: str) -> None:
    """A path is what has a slash, a module what begins with `pushjuju.`."""
    words = re.findall(r"`([^`\s]+)`", prose(ROOT / page))
    paths = [word for word in words if re.fullmatch(r"\.?[a-z_]+(/[\w.-]+)+/?", word)]
    modules = [word.replace(".", "/") for word in words if re.fullmatch(r"pushjuju(\.\w+)+", word)]
    assert paths
    missing = [path for path in paths if not (ROOT / path).exists()]
    missing += [path for path in modules if not (ROOT / path).is_dir() and not (ROOT / f"{path}.py").exists()]
    assert missing == []


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_a_module_says_what_it_is_for(path: Path) -> None:
    tree = ast.parse(path.read_text())
    assert not tree.body or ast.get_docstring(tree)


def test_make_help_lists_every_target() -> None:
    text = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z][a-z-]*):", text, re.MULTILINE))
    assert targets == set(re.findall(r"^([a-z][a-z-]*):.*##", text, re.MULTILINE))
    phony = re.search(r"^\.PHONY: (.*)$", text, re.MULTILINE)
    assert phony
    assert set(phony[1].split()) == targets


def test_ci_runs_the_readmes_test_command() -> None:
    assert f"    {TEST_COMMAND}\n" in (ROOT / "README.md").read_text()
    assert f"    {DEMO_COMMAND}\n" in (ROOT / "README.md").read_text()
    script = ROOT / ".ci" / "run"
    assert script.read_text().rstrip().endswith(TEST_COMMAND)
    assert script.stat().st_mode & 0o100
    subprocess.run(["bash", "-n", script], check=True)


def test_the_set_up_script_starts_without_anything_installed() -> None:
    run = [sys.executable, "-I", "-S", ROOT / "contrib" / "dev.py"]
    assert "demo" in subprocess.run([*run, "--help"], capture_output=True, text=True, check=True).stdout
    for wrong in ([], ["dance"], ["demo", "--extra"]):
        ended = subprocess.run([*run, *wrong], capture_output=True, text=True, check=False)
        assert ended.returncode == 2
        assert "usage:" in ended.stderr


def test_the_set_up_script_puts_no_value_on_the_command_line_of_sudo(tmp_path: Path) -> None:
    program = f"""
import os, runpy, shutil
os.geteuid = lambda: 1000
shutil.which = lambda name: name
script = runpy.run_path({str(ROOT / "contrib" / "dev.py")!r})
print(*script["as_root"]("apt-get", "update"))
"""
    environ = {
        "PATH": "/bin",
        "HTTPS_PROXY": "http://me:hush@proxy",
        "PIP_INDEX_URL": "https://me:hush@index",
    }
    done = subprocess.run(
        [sys.executable, "-c", program], env=environ, capture_output=True, text=True, check=True
    )
    assert done.stdout == "sudo --preserve-env=HTTPS_PROXY,PIP_INDEX_URL -- env PATH=/bin apt-get update\n"


@pytest.mark.parametrize("name", ["run", "dev"])
def test_the_locks_hold_what_is_needed_with_hashes_and_name_no_index(name: str) -> None:
    """pip installs a lock from any index; a dependency that `make lock` has not seen fails here."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    groups = project["dependency-groups"]
    dev = groups["docs"] + [one for one in groups["dev"] if one != {"include-group": "docs"}]
    needed = project["project"]["dependencies"] + (dev if name == "dev" else [])
    text = (ROOT / "contrib" / "locks" / f"{name}.txt").read_text()
    assert "://" not in text
    assert not re.search(r"^ *--(?!hash=sha256:)", text, re.MULTILINE)
    entries = re.findall(r"^([a-z0-9-]+)(?:\[.*?\])?==([^ ;]+).*\\\n +--hash=sha256:", text, re.MULTILINE)
    assert len(entries) == len(re.findall(r"^\S", text, re.MULTILINE))
    locked = {canonicalize_name(package): version for package, version in entries}
    for requirement in map(Requirement, needed):
        assert requirement.specifier.contains(locked[canonicalize_name(requirement.name)]), requirement


def test_an_old_python_can_read_the_set_up_script_to_say_that_it_is_too_old() -> None:
    text = (ROOT / "contrib" / "dev.py").read_text()
    ast.parse(text, feature_version=(3, 8))


def test_the_demos_charm_exists() -> None:
    text = (ROOT / "contrib" / "dev.py").read_text()
    charm = re.search(r'^CHARM = "(.+)"$', text, re.MULTILINE)
    assert charm
    assert (ROOT / charm[1] / "metadata.yaml").exists()
    assert charm[1].removeprefix("./") in (ROOT / "README.md").read_text()


def test_every_difference_for_scripts_names_a_test_that_is_there() -> None:
    page = (ROOT / "docs/how-to/use-juju-scripts.md").read_text()
    rows = [line for line in page.partition("by decision")[2].splitlines() if line.startswith("| ")][1:]
    assert rows
    for row in rows:
        named = re.findall(r"`(tests/[\w/]+\.py)::(?:Test\w+::)?(test_\w+)`", row)
        assert named, row
        assert not [one for file, one in named if f"def {one}(" not in (ROOT / file).read_text()], row


def test_every_rule_of_security_names_a_test_that_is_there() -> None:
    page = (ROOT / "docs/explanation/security.md").read_text()
    own = "tests/fuzz/test_trust.py"  # what stands alone in its table
    named = [(own, one) for one in re.findall(r"`(test_\w+)`", page)]
    named += re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", page)
    missing = [(file, one) for file, one in named if f"def {one}(" not in (ROOT / file).read_text()]
    assert not missing
    assert not [file for file in re.findall(r"`(tests/[\w/]+\.py)`", page) if not (ROOT / file).exists()]
    rules = [int(number) for number in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)]
    assert rules == list(range(1, len(rules) + 1))
