"""Tests wait for conditions: a sleep outside of a loop is a guess at how fast the machine is."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
# What is left: lengths that are the thing under test, and waits for what shows no sign of its end. A number
# may become smaller, never larger: use `until`, `stays` or `remains` of tests/waiting.py.
LEFT = {
    "pushjuju/testing/provider_contract.py": 1,  # a machine has been told to reboot
    "tests/bench/fleet/__main__.py": 1,  # how long a measured command rests
    "tests/bench/test_api.py": 1,  # processor time is measured at rest
    "tests/bench/test_machine.py": 1,  # memory is measured at rest
    "tests/chaos/breakage.py": 5,  # how long faults last
    "tests/charms/test_exec.py": 1,  # a controller process has nothing to do
    "tests/charms/test_storage.py": 1,  # a step is due again; a process is killed early or late
    "tests/charms/test_terminal.py": 1,  # a window stays small; `wait-for` has seen the unit
    "tests/charms_tools/hubstore.py": 1,  # a slow store
    "tests/clouds/maas_fake.py": 2,  # a server that hangs
    "tests/contract/test_local_provider.py": 1,  # Ctrl-C in the midst of a start
    "tests/ssh/test_machine.py": 2,  # memory at rest; the linger time
    "tests/ssh/test_survive.py": 2,  # how long a fault lasts; two processes begin close together
    "tests/unit/testing/test_blocking.py": 1,  # a call that blocks
    "tests/unit/store/hammer.py": 1,  # chance
}


def _waits(call: ast.Call) -> bool:
    return ast.unparse(call.func).endswith(".sleep") and ast.unparse(call.args[0]) != "0"


def _sleeps(node: ast.AST, *, looped: bool = False) -> Iterator[ast.Call]:
    """Yield the calls that sleep for a time and are no pause of a loop that looks again."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from _sleeps(child)
            continue
        if isinstance(child, ast.Call) and not looped and _waits(child):
            yield child
        yield from _sleeps(child, looped=looped or isinstance(child, ast.While | ast.For | ast.AsyncFor))


def test_waits_are_conditions() -> None:
    found: Counter[str] = Counter()
    for folder in ("tests", "pushjuju/testing"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            name = str(file.relative_to(ROOT))
            found[name] += sum(1 for _ in _sleeps(ast.parse(file.read_text())))
    assert {name: number for name, number in found.items() if number} == LEFT
