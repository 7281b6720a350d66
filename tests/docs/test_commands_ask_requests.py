"""Commands parse, ask `services.requests`, print and drive: what changes something is a request."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from pushjuju.cli.commands import registry
from pushjuju.cli.commands.plan.plannable import PLANNED
from pushjuju.cli.work import blocking

ROOT = Path(__file__).parents[2] / "pushjuju"
COMMANDS = ROOT / "cli" / "commands"
_ROOMS = tuple(f"pushjuju.services.{room}" for room in ("requests", "bundles", "views", "pictures"))

_REQUESTS = ("pushjuju.services.requests.", "pushjuju.services.bundles.requests.")
_CHARM = "a charm is made or fetched: nothing of a model changes"
_MEANS = "which controller and model a word means"
_MOVES = "where this client is"
_READS = "one thing is looked up, without a document"
# Function of another room of services -> why commands call it. This list only shrinks.
ALLOWED = {
    "charm_build.is_source": _CHARM,
    "charm_places.bring": _CHARM,
    "charm_places.built": _CHARM,
    "charm_places.is_brought": _CHARM,
    "charm_places.kind_of": _CHARM,
    "clouds.auth_types": _READS,
    "clouds.kind_of": _READS,
    "constraints.own_arch": _CHARM,
    "logs.newest": _READS,
    "logs.newest_first": _READS,
    "logs.pages_after": _READS,
    "logs.unknown": _READS,
    "model_defaults.document": _READS,
    "models.being_worked": _READS,
    "models.exists": _READS,
    "models.is_controller": _READS,
    "models.list_models": _READS,
    "models.resolve": _MEANS,
    "sessions.current_model": _MOVES,
    "sessions.focus": _MOVES,
    "sessions.require": "a disabled command is refused",
    "store_charms.alike": _CHARM,
    "store_charms.cached": _CHARM,
    "store_charms.open_store": _CHARM,
    "store_charms.store_at": _CHARM,
    "store_charms.suggested": _CHARM,
    "users.is_name": _READS,
}
# A command that changes a model, and whose work is no request -> why.
OTHERWISE = {
    "import-filesystem": "a worker looks for it in the cloud, and asks for the request",
    "upgrade-model": "there are no agents to upgrade",
}


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def _imported(path: Path) -> dict[str, str]:
    """Return name in a module -> what it stands for, of pushjuju alone."""
    nodes = [node for node in ast.walk(_tree(path)) if isinstance(node, ast.ImportFrom)]
    return {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in nodes
        if node.module and node.module.startswith("pushjuju.")
        for alias in node.names
    }


def _used(path: Path) -> Iterator[str]:
    """Yield the functions of services that a module calls or hands on, as dotted names."""
    names = _imported(path)
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found = f"{names.get(node.value.id, '')}.{node.attr}"
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            found = names.get(node.id, "")
        else:
            continue
        if found.startswith("pushjuju.services.") and _is_function(found):
            yield found


@cache
def _is_function(dotted: str) -> bool:
    module, _, name = dotted.rpartition(".")
    path = ROOT.parent / f"{module.replace('.', '/')}.py"
    return path.is_file() and any(
        isinstance(node, ast.FunctionDef) and node.name == name for node in _tree(path).body
    )


def _short(dotted: str) -> str:
    return ".".join(dotted.split(".")[-2:])


def test_commands_ask_requests_and_views_alone() -> None:
    found = {
        _short(function): str(path.relative_to(COMMANDS))
        for path in sorted(COMMANDS.rglob("*.py"))
        for function in _used(path)
        if not function.startswith(_ROOMS)
    }
    new = {function: path for function, path in found.items() if function not in ALLOWED}
    assert new == {}, "make it a request in services/requests, or a view"
    assert set(ALLOWED) - set(found) == set(), "take it out of ALLOWED"


def _requests_of(path: Path, seen: set[Path]) -> set[str]:
    """Return the requests of a command's module and of what it shares with other commands."""
    if path in seen:
        return set()
    seen.add(path)
    found = {function for function in _used(path) if function.startswith(_REQUESTS)}
    for dotted in _imported(path).values():
        for name in (dotted, dotted.rpartition(".")[0]):
            shared = ROOT.parent / f"{name.replace('.', '/')}.py"
            if name.startswith("pushjuju.cli.commands.") and shared.is_file():
                found |= _requests_of(shared, seen)
    return found


_CHANGING = sorted(blocking.CHANGES | blocking.REMOVES | blocking.DESTROYS | blocking.MIXED | PLANNED)


@pytest.mark.parametrize("word", _CHANGING)
def test_a_command_that_changes_something_has_a_request(word: str) -> None:
    path = COMMANDS / f"{registry.words()[word].replace('.', '/')}.py"
    assert bool(_requests_of(path, set())) != (word in OTHERWISE)


def test_commands_write_no_files_of_a_controller() -> None:
    writes = {"put_cloud", "put_credential", "remove_cloud", "remove_credential", "set_default"}
    found = {
        f"{path.relative_to(COMMANDS)}: {node.func.attr}"
        for path in COMMANDS.rglob("*.py")
        for node in ast.walk(_tree(path))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Attribute)
        and node.func.attr in writes
    }
    assert found == set()
