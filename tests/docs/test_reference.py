"""The generated reference has a line for each command, flag, setting, hook tool, hook and schema."""

from __future__ import annotations

import ast
import functools
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from contrib import docsite, reference, setting_texts
from pushjuju.cli.commands import registry
from pushjuju.cli.commands.program import schema
from pushjuju.cli.help import manpage
from pushjuju.plugins import hookspecs
from pushjuju.services.entities.basis import notices
from pushjuju.services.entities.model import controller_config, model_config
from pushjuju.services.views import hook_tools

ROOT = Path(__file__).parents[2]
UNREAD = {"agent-stream"}  # also the name of a flag
pages = functools.cache(reference.pages)


@functools.cache
def sections() -> dict[str, str]:
    """Return the sections of all commands by the name of the command."""
    text = "\n".join(page for path, page in pages().items() if path.startswith(reference.COMMANDS))
    return {part.partition("\n")[0]: part for part in re.split(r"^## ", text, flags=re.MULTILINE)}


def test_every_command_has_a_section_and_a_line_in_the_list() -> None:
    listed = pages()["reference/commands/index.md"]
    assert registry.known() <= set(sections())
    assert [word for word in registry.known() if f"[`{word}`](" not in listed] == []
    assert [alias for alias, word in registry.ALIASES.items() if f"`{alias}`" not in sections()[word]] == []


def test_every_flag_has_a_line_that_says_what_it_does() -> None:
    flags = [(name, spec) for name, entry in reference.commands().items() for spec in entry.specs]
    shown = [(name, spec) for name, spec in flags if not spec.hidden]
    assert len(shown) > 500
    for name, spec in shown:
        assert re.search(rf"^\|[^|]*`--?{re.escape(spec.name)}`[^|]*\| \S", sections()[name], re.MULTILINE), (
            f"{name}: {spec.name}"
        )


def test_defaults_of_flags_are_beside_them() -> None:
    assert re.search(r"^\| `-n`, `--lines` \| .* \| `10` \|$", sections()["debug-log"], re.MULTILINE)
    assert re.search(r"^\| `--replay` \| .* \|  \|$", sections()["debug-log"], re.MULTILINE)


def test_every_event_has_a_line() -> None:
    page = pages()["reference/events.md"]
    assert [name for name in notices.EVENTS if f"\n| `{name}` | `io.pushjuju.{name}.v1` | " not in page] == []


def test_every_setting_has_a_line() -> None:
    page = pages()["reference/settings.md"]
    keys = {*model_config.ATTRIBUTES, *model_config.OWN, *controller_config.SETTINGS}
    assert [key for key in keys if f"\n| `{key}` | " not in page] == []


def test_a_setting_that_the_code_reads_says_what_it_does() -> None:
    declared = ("model_config.py", "controller_config.py")
    code = [path.read_text() for path in (ROOT / "pushjuju").rglob("*.py") if path.name not in declared]
    for known, texts in (
        ({*model_config.ATTRIBUTES, *model_config.OWN}, setting_texts.MODEL),
        ({*controller_config.SETTINGS}, setting_texts.CONTROLLER),
    ):
        assert texts.keys() <= known
        read = {key for key in known if any(f'"{key}"' in text for text in code)} - UNREAD
        assert read <= texts.keys()
    page = pages()["reference/settings.md"]
    assert "| `ssh-allow` | cidrs | `0.0.0.0/0,::/0` | sources from which machines accept SSH |" in page
    assert "| `test-mode` | bool | `false` | kept and shown, without effect |" in page


def test_every_hook_tool_hook_of_plugins_and_schema_is_described() -> None:
    tools = pages()["reference/hook-tools.md"]
    named = hook_tools.tools({"PUSHJUJU_DISABLE_PLUGINS": "all"}, pytest.fail)
    assert [name for name in named if f"## {name}\n" not in tools] == []
    api = pages()["reference/plugin-api.md"]
    hooks = [
        name for name, _ in inspect.getmembers(hookspecs, inspect.isfunction) if name.startswith("pushjuju_")
    ]
    assert hooks
    assert [name for name in hooks if f"### {name}\n" not in api] == []
    schemas = pages()["reference/schemas.md"]
    assert [file.stem for file in schema.FOLDER.glob("*.json") if f"## {file.stem}\n" not in schemas] == []


def test_the_pages_of_exit_codes_and_variables_have_those_of_the_manual_page() -> None:
    page = (ROOT / "docs/reference/exit-codes.md").read_text()
    assert [code for code, _ in manpage._EXIT if f"\n| {code} |" not in page] == []
    page = (ROOT / "docs/reference/environment.md").read_text()
    assert [name for name, _ in manpage._ENVIRONMENT if f"\n| `{name}`" not in page] == []


def _read(tree: ast.Module) -> Iterator[str]:
    """Yield the environment variables that a module reads by their name or by a constant of the module."""
    constants = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        name: ast.expr | None = None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            is_get = node.func.attr in ("get", "pop") and _is_environment(node.func.value)
            name = node.args[0] if is_get or node.func.attr == "getenv" else None
        elif isinstance(node, ast.Subscript) and _is_environment(node.value):
            name = node.slice if isinstance(node.ctx, ast.Load) else None
        elif isinstance(node, ast.Compare) and _is_environment(node.comparators[0]):
            name = node.left
        if isinstance(name, ast.Name):
            name = constants.get(name.id)
        if isinstance(name, ast.Constant) and isinstance(name.value, str):
            yield name.value


def _is_environment(node: ast.expr) -> bool:
    return ast.unparse(node).endswith(("env", "environ", "environment"))


def test_every_variable_that_the_code_reads_is_on_a_page() -> None:
    pages_ = [(ROOT / "docs/reference" / name).read_text() for name in ("environment.md", "clouds.md")]
    known = set(re.findall(r"`([A-Za-z0-9_]+)`", "".join(pages_)))
    of_machines = ROOT / "pushjuju/runner/remote"  # reads the variables of hooks
    code = [path for path in (ROOT / "pushjuju").rglob("*.py") if of_machines not in path.parents]
    read = {name for path in code for name in _read(ast.parse(path.read_text()))}
    assert len(read) > 40
    assert read - known == set()


def test_links_that_leave_the_docs_lead_to_the_repository_or_become_text() -> None:
    page = docsite.DOCS / "how-to" / "one.md"
    text = "[Words](../style.md), [notes](../../CHANGES.md#new), `x`\n\n```\n[a](../../b)\n```\n"
    far = docsite.linked(text, page, "https://example.org/p")
    assert far == text.replace("../../CHANGES.md", "https://example.org/p/blob/main/CHANGES.md")
    assert docsite.linked(text, page, "") == text.replace(
        "[notes](../../CHANGES.md#new)", "notes (`CHANGES.md`)"
    )
