"""No sentence steers the program: errors, problems and statuses are known by type, subject or code."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2] / "pushjuju"
_METHODS = (
    "startswith", "endswith", "removeprefix", "removesuffix", "partition", "rpartition", "split", "rsplit",
    "find", "index",
)  # fmt: skip
_PATTERNS = ("search", "match", "fullmatch", "findall", "finditer")

_SAME = "a status that says the same as before is not written again"
_FOREIGN = "the text of another program or server, which gives no code"
# File and function -> why a text is compared there.
ALLOWED = {
    ("charms/format/actions.py", "*"): _FOREIGN,
    ("charms/hub/wire.py", "error"): "the store's own text is shown only where it says more",
    ("charms/format/places.py", "of"): "a YAML parser tells the line in its text",
    (
        "services/requests/secret/user_secrets.py",
        "read_settings",
    ): "the YAML reader of machines tells the line in its text",
    ("core/status.py", "is_before_agent"): "Juju's own statuses: the store keeps the text alone",
    ("core/status.py", "is_of_removed_offer"): "the store keeps the text alone",
    ("workers/driver.py", "_claim_if_usable"): "whether a warning would be the same line again",
    ("plugins/providers/libcloud", "*"): _FOREIGN,
    ("plugins/providers/lxd/profiles.py", "*"): _FOREIGN,
    ("plugins/providers/lxd/provider.py", "*"): _FOREIGN,
    ("plugins/providers/lxd/volumes.py", "*"): _FOREIGN,
    ("plugins/providers/lxd/server.py", "name_in"): "an error without a text of its own names the cloud",
    ("plugins/sources/charmhub.py", "_renamed"): "the answer 404 has no code",
    ("services/entities/basis/statuses.py", "*"): _SAME,
    ("services/requests/controller/backups.py", "*"): _FOREIGN,
    ("store/files/waits.py", "*"): _FOREIGN,
    ("web/facades/client.py", "status_history"): "a client names the messages to leave out",
    ("testing", "*"): "what tests of plugins assert",
}


def _is_sentence(node: ast.AST, caught: frozenset[str]) -> bool:
    """Return True for the message of an error, a problem or a status, and for an error as text."""

    def is_caught(item: ast.AST) -> bool:
        return isinstance(item, ast.Name) and item.id in caught

    if isinstance(node, ast.Attribute):
        return node.attr == "message" or (node.attr == "text" and is_caught(node.value))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "str":
        return bool(node.args) and is_caught(node.args[0])
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute):
        return node.value.attr == "args" and is_caught(node.value.value)
    return False


def _compares(node: ast.AST, caught: frozenset[str]) -> bool:
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        parts = [part for side in sides for part in (side.elts if isinstance(side, ast.Tuple) else [side])]
        return any(_is_sentence(part, caught) for part in parts)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in _METHODS:
            return _is_sentence(node.func.value, caught)
        return node.func.attr in _PATTERNS and any(_is_sentence(item, caught) for item in node.args)
    return False


def _breaches(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield function and line where a sentence decides."""

    def walk(node: ast.AST, function: str, caught: frozenset[str]) -> Iterator[tuple[str, int]]:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            function = node.name
            named = [arg.arg for arg in node.args.args if "error" in arg.arg or "problem" in arg.arg]
            caught = caught.union(named)
        if isinstance(node, ast.ExceptHandler) and node.name:
            caught = caught.union([node.name])
        if _compares(node, caught):
            yield function, node.lineno  # type: ignore[attr-defined]
        for child in ast.iter_child_nodes(node):
            yield from walk(child, function, caught)

    return walk(tree, "", frozenset())


def _reason(path: str, function: str) -> tuple[str, str] | None:
    keys = ((where, name) for where, name in ALLOWED if path == where or path.startswith(f"{where}/"))
    return next((key for key in keys if key[1] in ("*", function)), None)


def _found() -> list[tuple[str, str, int]]:
    found = []
    for file in sorted(ROOT.rglob("*.py")):
        path = str(file.relative_to(ROOT))
        found += [(path, *breach) for breach in _breaches(ast.parse(file.read_text()))]
    return found


def test_no_sentence_steers() -> None:
    breaches = [item for item in _found() if _reason(item[0], item[1]) is None]
    assert breaches == [], "compare a type, a subject or a code; or say in ALLOWED why there is none"


def test_each_exception_is_needed() -> None:
    used = {_reason(path, function) for path, function, _ in _found()}
    assert set(ALLOWED) - used == set()


def test_the_ways_to_read_a_sentence_are_seen() -> None:
    steering = """
def judge(error, status):
    if error.message.startswith("a"): pass
    if "a" in str(error): pass
    if (status.status, status.message) == ("a", "b"): pass
    if re.search("a", error.message): pass
    if error.args[0] == "a": pass
    if error.text.partition(":")[0]: pass
"""
    assert [line for _, line in _breaches(ast.parse(steering))] == [3, 4, 5, 6, 7, 8]
