"""Saves the plan of `apply` in a file, and checks a saved plan before it is carried out.

The file is JSON, as `docs/reference/bundles.md` describes it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pushjuju.charms.archive import named_files
from pushjuju.core.errors import NotFound, NotValid
from pushjuju.core.values import dataclass
from pushjuju.services.bundles.planning import Prepared
from pushjuju.store.files.private import put_text

FORM = 1
_LARGEST = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedPlan:
    """A plan that was read from a file."""

    path: Path
    model: str
    fingerprint: str  # the digest of the model when the plan was made
    changes: list[Any]  # the steps of the plan, as `Change.to_wire` returns them


def write(path: Path, model: str, prepared: Prepared) -> None:
    """Write a plan to a file, with the digest of the model that the plan is for."""
    document = {
        "format": FORM,
        "model-uuid": model,
        "fingerprint": prepared.facts.digest(),
        "changes": [change.to_wire() for change in prepared.changes],
    }
    put_text(path, json.dumps(document, indent=2) + "\n")


def read(path: Path) -> SavedPlan:
    """Read a plan from a file, or raise NotFound or NotValid when the file is missing or holds no plan."""
    try:
        document = json.loads(named_files.read(path, _LARGEST))
    except FileNotFoundError:
        raise NotFound(f"open {path}: no such file or directory") from None
    except OSError as error:
        raise NotValid(f"open {path}: {(error.strerror or str(error)).lower()}") from None
    except (ValueError, RecursionError) as error:
        raise NotValid(f"{path} is not a plan: {error}") from None
    known = isinstance(document, dict) and document.get("format") == FORM
    texts = known and all(isinstance(document.get(key), str) for key in ("model-uuid", "fingerprint"))
    if not texts or not isinstance(document.get("changes"), list):
        raise NotValid(f"{path} is not a plan", hint="pushjuju apply BUNDLE --save-plan FILE    writes one")
    return SavedPlan(
        path=path,
        model=document["model-uuid"],
        fingerprint=document["fingerprint"],
        changes=document["changes"],
    )


def require_same(plan: SavedPlan, model: str, prepared: Prepared) -> None:
    """Refuse a saved plan when the model, the bundle or the flags have changed since the plan was made."""
    hint = "make a new plan with --save-plan, and read it"
    if plan.model != model:
        raise NotValid(f"the plan in {plan.path} is for another model")
    if plan.fingerprint != prepared.facts.digest():
        raise NotValid("the model changed since the plan was made", hint=hint)
    now = json.loads(json.dumps([change.to_wire() for change in prepared.changes]))
    if now != plan.changes:
        raise NotValid("the bundle or the flags are not those that the plan was made from", hint=hint)
