"""Makes the plan of a change in a process of its own, on a copy of the store: `pushjuju plan`."""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from pushjuju.core import children
from pushjuju.core.errors import NotValid
from pushjuju.core.names import application_of
from pushjuju.core.values import dataclass
from pushjuju.services.entities.basis.context import Context
from pushjuju.store.rows.model import Model

_LONGEST_S = 30.0
_START_MIB = 72  # address space of the program when it begins to plan, with the library of PostgreSQL
_MOST_MIB = 512  # what the plan itself may need; that of 2,000 units needs 100
_SAME, _CHANGES = 0, 2  # exit codes of `plan`
_MARK_CHARS = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a change would do."""

    # the document of `pushjuju plan --format json`, without hooks that run anyway
    document: Mapping[str, Any]
    mark: str  # another text for another plan


def make(ctx: Context, model: Model, words: Sequence[str], stdin: str, only: Collection[str] | None) -> Plan:
    """Return the plan of a command line, which may take some seconds.

    Args:
        only: None for a user who may see all models; else the applications of the model: what the plan tells
            of other models is left out.
        stdin: What the command reads from its standard input.
    """
    place = f"{ctx.controller.name}:{model.qualified}"
    argv = [sys.executable, "-m", "pushjuju.cli", "plan", "--format", "json", "-m", place, "--", *words]
    environ = {**children.environment(ctx.environ), "PUSHJUJU_DATA": str(ctx.datadir.root)}
    ended = _run(argv, environ, stdin)
    document = json.loads(ended.stdout)
    if not document["changed"] and "WARNING " in ended.stderr:  # an action that the charm's schema refuses
        raise NotValid(_told(ended.stderr, "WARNING "))
    # What runs anyway changes from moment to moment, and does not come from the change.
    document["hooks"] = [step for step in document["hooks"] if not step["anyway"]]
    shown = document if only is None else _of_model(document, model.name, only)
    text = json.dumps(shown, sort_keys=True)
    return Plan(document=shown, mark=hashlib.sha256(text.encode()).hexdigest()[:_MARK_CHARS])


def _run(argv: Sequence[str], environ: Mapping[str, str], stdin: str) -> children.Ended:
    memory = (_START_MIB + _MOST_MIB) << 20
    try:
        # A plan that is killed cannot delete its copy of the store.
        with tempfile.TemporaryDirectory(prefix="pushjuju-") as folder:
            environ = {**environ, "TMPDIR": folder}
            ended = children.run_within(memory, argv, environ=environ, stdin=stdin, timeout=_LONGEST_S)
    except children.TimedOut:
        raise NotValid(
            f"the plan took more than {_LONGEST_S:.0f} seconds: make the change in a terminal"
        ) from None
    if ended.returncode in (_SAME, _CHANGES):
        return ended
    if ended.stderr.startswith("ERROR internal error: MemoryError"):
        raise NotValid(f"the plan needs more than {_MOST_MIB} MiB of memory: make the change in a terminal")
    raise NotValid(_told(ended.stderr, "ERROR "))


def _of_model(document: Mapping[str, Any], model: str, applications: Collection[str]) -> dict[str, Any]:
    """Return the part of a plan that tells nothing of other models."""
    changes = [item for item in document["changes"] if item["model"] == model]
    named = {*applications, *(item["name"] for item in changes if item["kind"] == "application")}
    hooks = [step for step in document["hooks"] if application_of(step["unit"]) in named]
    return {"changed": document["changed"], "changes": changes, "hooks": hooks}


def _told(stderr: str, level: str) -> str:
    """Return the error or warning that a command printed."""
    lines = stderr.strip().splitlines()
    begun = next((at for at, line in enumerate(lines) if line.startswith(level)), None)
    return "\n".join(lines[begun:]).removeprefix(level) if begun is not None else "the plan failed"
