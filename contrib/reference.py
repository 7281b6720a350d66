"""Make the pages of the reference that come from the code: commands, plugins, settings, metrics, ...

`pages()` returns Markdown by path below docs/. contrib/docsite.py puts the pages beside those of docs/ when
it builds the site; nobody commits them. The same code gives the same pages.
"""

from __future__ import annotations

import ast
import json
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from contrib import setting_texts
from pushjuju.cli.app.root import Root
from pushjuju.cli.commands import registry
from pushjuju.cli.commands.plan import plannable
from pushjuju.cli.commands.program import schema
from pushjuju.cli.syntax.command import GLOBAL_FLAGS, Command
from pushjuju.cli.syntax.gnuflag import FlagSpec
from pushjuju.cli.work import blocking
from pushjuju.plugins.api.notices import TYPE
from pushjuju.portable.flags import dashed
from pushjuju.services.entities.basis import notices
from pushjuju.services.entities.model import controller_config, model_config
from pushjuju.services.views import hook_tools
from pushjuju.services.views.metrics.families import FAMILIES, PREFIX

ROOT = Path(__file__).resolve().parent.parent
COMMANDS = "reference/commands"
_SECTION = re.compile(r"(Args|Attributes|Raises|Returns|Yields):")


def pages() -> dict[str, str]:
    """Return the generated pages: path below docs/ -> Markdown."""
    found = commands()
    nouns = {noun: words.split() for noun, words in registry.NOUNS.items()}
    nouns["refused"] = registry.REFUSED.split()
    return {
        f"{COMMANDS}/index.md": _command_index(nouns, found),
        **{f"{COMMANDS}/{noun}.md": _noun(noun, words, found) for noun, words in nouns.items()},
        "reference/hook-tools.md": _hook_tools(),
        "reference/plugin-api.md": _plugin_api(),
        "reference/settings.md": _settings(),
        "reference/schemas.md": _schemas(),
        "reference/metrics.md": _metrics(),
        "reference/events.md": _events(),
    }


def commands() -> dict[str, Command]:
    """Return every command by its name, without aliases."""
    root = Root()
    context = click.Context(root)
    listed = (root.get_command(context, name) for name in root.list_commands(context))
    return {entry.name or "": entry for entry in listed if isinstance(entry, Command)}


def _command_index(nouns: Mapping[str, Iterable[str]], found: Mapping[str, Command]) -> str:
    rows = [
        f"| [`{word}`]({noun}.md#{word}) | {_cell(found[word].summary)} |"
        for word, noun in sorted((word, noun) for noun, words in nouns.items() for word in words)
    ]
    pages = "\n".join(nouns)
    return (
        "# Commands\n\nAll commands and flags, as `pushjuju help COMMAND` shows them. "
        "Juju's commands that pushjuju refuses are on a [page of their own](refused.md).\n\n"
        f"## Flags of every command\n\n{_flags(GLOBAL_FLAGS)}\n"
        f"## All commands\n\n| command | what it does |\n|---|---|\n{_lines(rows)}\n"
        f"```{{toctree}}\n:hidden:\n\n{pages}\n```\n"
    )


def _noun(noun: str, words: Iterable[str], found: Mapping[str, Command]) -> str:
    title = "Commands that pushjuju refuses" if noun == "refused" else f"Commands: {noun}"
    return f"# {title}\n\n" + "\n".join(_command(found[word]) for word in sorted(words))


def _command(command: Command) -> str:
    name = command.name or ""
    usage = " ".join(part for part in (f"pushjuju {name} [options]", command.usage) if part)
    parts = [
        f"## {name}\n",
        f"{_text(command.summary)}\n",
        _block(usage),
        f"Aliases: {', '.join(f'`{alias}`' for alias in command.aliases)}\n" if command.aliases else "",
        _flags(command.specs),
        _details(command.details),
        f"Examples:\n\n{_block(command.examples)}" if command.examples else "",
        _facts(name),
    ]
    return "\n".join(part for part in parts if part)


def _facts(name: str) -> str:
    """Return what the tables of the program say about a command."""
    act = blocking.act_of(name)
    facts = [
        f"`pushjuju plan -- {name} ...` shows what the command would do."
        if name in plannable.PLANNED
        else "",
        f"`disable-command {act}` forbids the command." if act else "",
        f"[JSON schema](../schemas.md#{name}) of `--format json`." if _has_schema(name) else "",
    ]
    return " ".join(fact for fact in facts if fact) + "\n" if any(facts) else ""


def _has_schema(name: str) -> bool:
    return (schema.FOLDER / f"{name}.json").exists()


def _flags(specs: Iterable[FlagSpec]) -> str:
    """Return a table of flags, or an empty text when there are none."""
    shown = sorted((spec for spec in specs if not spec.hidden), key=lambda spec: spec.name)
    rows = [f"| {_names(spec.names)} | {_cell(spec.help)} | {_default(spec)} |" for spec in shown]
    return f"| flag | effect | default |\n|---|---|---|\n{_lines(rows)}" if rows else ""


def _default(spec: FlagSpec) -> str:
    """Return the default of a flag as the command's help shows it; empty when the flag is then unset."""
    if spec.default in (None, "", "unset", False) or isinstance(spec.default, (tuple, list, dict)):
        return ""
    return f"`{_cell(str(spec.default).lower() if spec.default is True else str(spec.default))}`"


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{dashed(name)}`" for name in sorted(names, key=lambda name: (len(name) > 1, name)))


def _hook_tools() -> str:
    found = hook_tools.tools({"PUSHJUJU_DISABLE_PLUGINS": "all"}, print)
    return (
        "# Hook tools\n\nThe commands that charms call in hooks and actions, as `pushjuju help-hook-commands "
        "TOOL` shows them. pushjuju's own plugins bring all of these.\n\n"
        + "\n".join(_hook_tool(found[name]) for name in sorted(found))
    )


def _hook_tool(tool: hook_tools.Tool) -> str:
    usage = " ".join(part for part in (f"{tool.name} [options]", tool.usage) if part)
    rows = [f"| {_names(flag.names)} | {_cell(flag.help)} |" for flag in tool.flags]
    table = f"| flag | effect |\n|---|---|\n{_lines(rows)}" if rows else ""
    parts = [f"## {tool.name}\n", f"{_text(tool.summary)}\n", _block(usage), table, _details(tool.details)]
    return "\n".join(part for part in parts if part)


def _plugin_api() -> str:
    """Return the page of the hooks that plugins implement, and of the types of the hooks."""
    api = sorted((ROOT / "pushjuju/plugins/api").glob("[!_]*.py"))
    parts = ["# Plugin API\n", "How to write a plugin: [plugins](plugins.md).\n"]
    for file in [ROOT / "pushjuju/plugins/hookspecs.py", *api]:
        tree = ast.parse(file.read_text(encoding="utf-8"))
        dotted = str(file.relative_to(ROOT).with_suffix("")).replace("/", ".")
        parts += [f"## `{dotted}`\n", _docstring(tree)]
        parts += [_definition(node) for node in tree.body if _is_public(node)]
    return "\n".join(part for part in parts if part)


def _is_public(node: ast.stmt) -> bool:
    named = isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
    return named and not node.name.startswith("_")


def _definition(node: Any) -> str:
    if not isinstance(node, ast.ClassDef):
        return f"### {node.name}\n\n{_function(node)}"
    bases = ", ".join(map(ast.unparse, node.bases))
    fields = [
        f"    {ast.unparse(line)}" for line in node.body if isinstance(line, (ast.AnnAssign, ast.Assign))
    ]
    stub = "\n".join([f"class {node.name}{f'({bases})' if bases else ''}:", *(fields or ["    ..."])])
    methods = [
        _function(part) for part in node.body if not isinstance(part, ast.ClassDef) and _is_public(part)
    ]
    return "\n".join([f"### {node.name}\n", f"```python\n{stub}\n```\n", _docstring(node), *methods])


def _function(node: Any) -> str:
    word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    stub = f"{word} {node.name}({ast.unparse(node.args)}){returns}: ..."
    return f"```python\n{stub}\n```\n\n{_docstring(node)}"


def _docstring(node: Any) -> str:
    """Return a docstring of Google's form as Markdown; its sections become lists."""
    lines = list(_markdown_lines((ast.get_docstring(node) or "").splitlines()))
    return "\n".join(lines) + "\n" if lines else ""


def _markdown_lines(lines: Iterable[str]) -> Iterator[str]:
    inside = False
    for line in lines:
        if section := _SECTION.fullmatch(line):
            inside = True
            yield f"{section[1]}:\n"
        elif inside and (item := re.fullmatch(r" {4}(\S[^:]*): (.*)", line)):
            yield f"- `{item[1]}`: {item[2]}"
        elif inside and line.startswith("    "):
            yield f"  {line.strip()}"
        else:
            inside = inside and not line
            yield line


def _settings() -> str:
    models = {**model_config.ATTRIBUTES, **model_config.OWN}
    return (
        "# Settings\n\n## Settings of a model\n\n`pushjuju model-config` shows and sets them.\n\n"
        "| key | type | default | what it does |\n|---|---|---|---|\n"
        + _lines(
            f"| `{key}` | {found.type} | {_value(found.default)} | {_model_note(key, found.choices)} |"
            for key, found in sorted(models.items())
        )
        + "\n## Settings of a controller\n\n`pushjuju controller-config` shows and sets them.\n\n"
        "| key | type | default | what it does |\n|---|---|---|---|\n"
        + _lines(
            f"| `{key}` | {found.type} | {_value(found.default)} | {_controller_note(key, found.changes)} |"
            for key, found in sorted(controller_config.SETTINGS.items())
        )
    )


def _model_note(key: str, choices: Iterable[str]) -> str:
    notes = [
        setting_texts.MODEL.get(key, setting_texts.KEPT),
        "one of " + ", ".join(f"`{choice}`" for choice in choices if choice) if choices else "",
        "only when the model is added" if key in model_config.FIXED else "",
        "Juju does not have this key" if key in model_config.OWN else "",
    ]
    return "; ".join(note for note in notes if note)


def _controller_note(key: str, changes: bool) -> str:
    text = setting_texts.CONTROLLER.get(key, setting_texts.KEPT)
    return text if changes else f"{text}; only at bootstrap"


def _value(value: object) -> str:
    return "" if value in (None, "") else f"`{json.dumps(value) if not isinstance(value, str) else value}`"


def _schemas() -> str:
    files = sorted(schema.FOLDER.glob("*.json"))
    return (
        "# JSON schemas\n\nWhat `--format json` of pushjuju's own commands writes "
        "([more](own-commands.md#json-schemas)).\n\n"
        + "\n".join(
            f"## {file.stem}\n\n```json\n{file.read_text(encoding='utf-8').strip()}\n```\n" for file in files
        )
    )


def _metrics() -> str:
    rows = (
        f"| `{PREFIX}{name}` | {family.kind} | {', '.join(f'`{label}`' for label in family.labels.split())} "
        f"| {_cell(family.help)} |"
        for name, family in FAMILIES.items()
    )
    return (
        "# Metrics\n\nWhat `pushjuju metrics` and `/metrics` of the API write "
        "([monitor a controller](../how-to/monitor.md)). A histogram has the names `_bucket`, `_sum` and "
        "`_count` behind its own, a summary the last two. The label `model` is OWNER/NAME; hooks of "
        "relations and storage are counted by their kind, such as `relation-changed`.\n\n"
        f"| metric | type | labels | |\n|---|---|---|---|\n{_lines(rows)}"
    )


def _events() -> str:
    rows = (f"| `{name}` | `{TYPE.format(name)}` | {_cell(when)} |" for name, when in notices.EVENTS.items())
    return (
        "# Events\n\nWhat `pushjuju notify` can tell of ([get notified](../how-to/get-notified.md)). "
        "`type` is the field of the CloudEvent.\n\n"
        f"| event | type | when it comes |\n|---|---|---|\n{_lines(rows)}"
    )


def _details(text: str) -> str:
    """Return a text as paragraphs, or unchanged in a block when it has indented lines."""
    return (
        _block(text) if re.search(r"^ ", text, re.MULTILINE) else f"{_text(text.strip())}\n" if text else ""
    )


def _block(text: str) -> str:
    shown = textwrap.dedent(text).strip("\n").rstrip()
    return f"```text\n{shown}\n```\n" if shown else ""


def _text(text: str) -> str:
    """Return a plain text escaped for Markdown."""
    return re.sub(r"([\\<*_\[\]#$])", r"\\\1", text)


def _cell(text: str) -> str:
    return _text(" ".join(text.split())).replace("|", "\\|")


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
