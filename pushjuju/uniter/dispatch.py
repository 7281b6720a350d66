"""An operation for a machine: its row in the store, its statuses, its request."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pushjuju.core.errors import NotFound
from pushjuju.core.status import Agent, StatusKind
from pushjuju.core.values import dataclass
from pushjuju.services.entities.basis import statuses
from pushjuju.services.entities.charm import charms
from pushjuju.services.entities.model import model_config, models
from pushjuju.store.tx import ModelTx
from pushjuju.uniter.action_runs import action_frame
from pushjuju.uniter.decide.decision import Answer, Decision, Operation, OperationName
from pushjuju.uniter.decide.naming import hook_name
from pushjuju.uniter.decide.state import LocalState
from pushjuju.uniter.decide.wire import from_wire, to_wire
from pushjuju.uniter.input.environment import hook_environment
from pushjuju.uniter.input.hookcontext import Sent, hook_context
from pushjuju.uniter.input.snapshot import View, own_charm_url
from pushjuju.uniter.requests import TITLE, Request, read_request, request_frame
from pushjuju.uniter.state.messages import executing_message, workload_before

if TYPE_CHECKING:
    from pushjuju.portable.frames import Op


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispatch:
    """An operation that must run on the machine now."""

    id: str  # the operation's id, which the machine runs once
    unit: str
    title: str  # the name for users: `install`, `config-changed`, `charm local:web-0`
    frame: Op  # the complete request
    blob: str = ""  # SHA-256 of the archive that the machine needs first, or ""
    like: str = ""  # SHA-256 of a similar archive that the machine may have, or ""
    charm: str = ""  # the URL of the unit's charm, or ""


def document_of(operation: Operation, request: Request | None) -> dict[str, Any]:
    """Return the part of an operation that its row stores."""
    document = {"operation": to_wire(Decision(answer=Answer.RUN, operation=operation))["operation"]}
    return {**document, "request": request.document()} if request else document


def read_operation(document: Mapping[str, Any]) -> Operation:
    """Return the operation that a row stores."""
    return from_wire(Operation, document["operation"])


def announce(tx: ModelTx, view: View, local: LocalState, operation: Operation, now: datetime) -> None:
    """Set the statuses of the beginning of an operation."""
    unit = view.unit
    if before := workload_before(local, operation):
        statuses.set_status(tx, StatusKind.WORKLOAD, unit.name, before.status, before.message, now=now)
    message = executing_message(operation)
    if message is not None:
        statuses.set_agent_status(tx, unit.name, Agent.EXECUTING, message, now=now)


def prepared_operation(
    tx: ModelTx,
    view: View,
    operation: Operation,
    operation_id: str,
    request: Mapping[str, Any] | None = None,
    before: Sent | None = None,
) -> Dispatch:
    """Build the request for an operation from the present state of the model.

    Args:
        request: The request of `juju-exec` in the operation's row.
        before: What the machine gets with the hook before this one, in a plan.
    """
    if operation.name in (OperationName.INSTALL, OperationName.UPGRADE):
        return _deploy(tx, view, operation, operation_id)
    model, charm = models.get(tx), own_charm_url(view.unit, view.application)
    if operation.name is OperationName.RUN_ACTION:
        order = action_frame(tx, view, operation, model, operation_id)
        title, name = operation.action_name, view.unit.name
        return Dispatch(id=operation_id, unit=name, title=title, frame=order, charm=charm)
    if operation.name is OperationName.RUN_COMMANDS and request is not None:
        order = request_frame(tx, view, operation, model, operation_id, read_request(request))
        return Dispatch(id=operation_id, unit=view.unit.name, title=TITLE, frame=order, charm=charm)
    if operation.name is not OperationName.RUN_HOOK or operation.hook is None:
        raise AssertionError(f"no snapshot of this version leads to {operation.text}")
    title = hook_name(operation.hook, operation.endpoint)
    frame: Op = {
        "t": "op",
        "id": operation_id,
        "kind": "hook",
        "unit": view.unit.name,
        "hook": title,
        "env": hook_environment(tx, view, operation, model),
        "context": hook_context(tx, view, operation, model, before),
        "logging": model_config.get(tx, "logging-config"),
    }
    return Dispatch(id=operation_id, unit=view.unit.name, title=title, frame=frame, charm=charm)


def _deploy(tx: ModelTx, view: View, operation: Operation, operation_id: str) -> Dispatch:
    blob = charms.archive(tx, operation.charm_url)
    if not blob:
        raise NotFound(f'charm "{operation.charm_url}" not found')
    frame: Op = {
        "t": "op",
        "id": operation_id,
        "kind": "deploy",
        "unit": view.unit.name,
        "url": operation.charm_url,
        "sha256": blob,
    }
    title = f"charm {operation.charm_url}"
    return Dispatch(
        id=operation_id, unit=view.unit.name, title=title, frame=frame, blob=blob,
        like=charms.archive(tx, view.unit.charm_url), charm=operation.charm_url,
    )  # fmt: skip
