"""Requests of `juju-exec` on a machine: their relation context, their operation, their result.

The requests wait in files on the machine; a session reports them. A request that names a relation is compared
with what the unit has seen of the relation, and may be refused without a run.

Mirrors: juju worker/uniter/runcommands, worker/uniter/operation/runcommands.go, worker/uniter/runlistener.go
inferRemoteUnit (3.6)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pushjuju.core.errors import NotValid
from pushjuju.core.values import dataclass
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.model import model_config
from pushjuju.store.rows.records import Model
from pushjuju.store.rows.records import Operation as OperationRecord
from pushjuju.store.tx import ModelTx
from pushjuju.uniter.apply.flush import Writes, flush, refusal
from pushjuju.uniter.decide.decision import Operation
from pushjuju.uniter.input.environment import hook_environment
from pushjuju.uniter.input.hookcontext import hook_context
from pushjuju.uniter.input.snapshot import View, store_local
from pushjuju.uniter.state.operation import Outcome, committed, executed

if TYPE_CHECKING:
    from pushjuju.portable.frames import Op

TITLE = "juju-exec"
AT_ONCE = 50  # requests of a unit per turn; the next turn reads the others
CUT_OFF = "the commands were cut off"
Result = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Commands that wait on a machine."""

    id: str
    unit: str
    script: str
    relation: int | None = None  # id of the relation for the context, or None
    remote_unit: str = ""  # the remote unit, or "" to infer it
    remote_app: str = ""
    force: bool = False  # True when the remote unit need not be a member of the relation

    def document(self) -> dict[str, object]:
        """Return the request as a document for the row of its operation."""
        return {
            "id": self.id,
            "unit": self.unit,
            "script": self.script,
            "relation": self.relation,
            "remote_unit": self.remote_unit,
            "remote_app": self.remote_app,
            "force": self.force,
        }


def read_request(document: Mapping[str, Any]) -> Request:
    """Read a request from the machine's document, or from a document of `Request.document`."""
    number = document.get("relation")
    return Request(
        id=str(document["id"]),
        unit=str(document.get("unit", "")),
        script=str(document.get("script", "")),
        relation=None if number is None else int(number),
        remote_unit=str(document.get("remote_unit") or ""),
        remote_app=str(document.get("remote_app") or ""),
        force=bool(document.get("force")),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A request that does not run, and the error for its user."""

    request: str
    error: str


class Waiting:
    """The requests of one unit during one turn."""

    def __init__(self, requests: Iterable[Request] = ()) -> None:
        self._requests = {request.id: request for request in list(requests)[:AT_ONCE]}
        self.refused: tuple[Refusal, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the waiting requests, oldest first."""
        return tuple(self._requests)

    def take(self, view: View, operation: Operation) -> Request | None:
        """Return the request of an operation with its remote unit, or None when the request is refused."""
        request = self._requests.pop(operation.command)
        try:
            return placed(view, request)
        except NotValid as error:
            self.refused += (Refusal(request=request.id, error=error.message),)
            return None


# --- before the run ---------------------------------------------------------------------------------------


def placed(view: View, request: Request) -> Request:
    """Return a request with its remote unit, which is inferred when the request does not name it.

    Raises:
        NotValid: The relation or the member does not exist, or there are several members.

    Mirrors: juju worker/uniter/runcommands inferRemoteUnit (3.6)
    """
    if request.relation is None:
        if request.remote_unit:
            raise NotValid(f"remote unit provided without a relation: {request.remote_unit}")
        return request
    record = view.local.relations.get(request.relation)
    if record is None or request.relation not in view.remote.relations:
        raise NotValid(f"unknown relation id: {request.relation}")
    members = sorted(record.members, key=_by_number)
    if request.remote_unit:
        if request.remote_unit not in members and not request.force:
            possible = " ".join(members)
            raise NotValid(f"unknown remote unit {request.remote_unit}; possibilities are [{possible}]")
        return request
    if not members:
        raise NotValid(f"cannot infer remote unit in empty relation {request.relation}")
    if len(members) > 1:
        raise NotValid(f"ambiguous remote unit; possibilities are [{' '.join(members)}]")
    return replace(request, remote_unit=members[0])


def _by_number(unit: str) -> tuple[str, int]:
    name, _, number = unit.partition("/")
    return name, int(number)


def request_frame(
    tx: ModelTx, view: View, operation: Operation, model: Model, operation_id: str, request: Request
) -> Op:
    """Build the frame for the commands of a request."""
    frame: Op = {
        "t": "op",
        "id": operation_id,
        "kind": "commands",
        "request": request.id,
        "unit": view.unit.name,
        "script": request.script,
        "env": hook_environment(tx, view, operation, model),
        "context": hook_context(tx, view, operation, model),
        "logging": model_config.get(tx, "logging-config"),
        "lock": "machine",
    }
    del frame["env"]["JUJU_DISPATCH_PATH"]
    frame["context"]["kind"] = "commands"
    if request.relation is not None and request.relation in view.remote.relations:
        _put_into_relation(frame, view, request)
    return frame


def _put_into_relation(frame: Op, view: View, request: Request) -> None:
    assert request.relation is not None
    remote = view.remote.relations[request.relation]
    frame["env"].update(
        JUJU_RELATION=remote.endpoint,
        JUJU_RELATION_ID=f"{remote.endpoint}:{request.relation}",
        JUJU_REMOTE_UNIT=request.remote_unit,
        JUJU_REMOTE_APP=request.remote_app,
    )
    frame["context"]["relation"] = {
        "id": request.relation,
        "endpoint": remote.endpoint,
        "remote_unit": request.remote_unit,
        "remote_app": request.remote_app or request.remote_unit.partition("/")[0],
        "departing_unit": "",
    }


def relation_of(document: Mapping[str, Any]) -> int | None:
    """Return the relation of the request in an operation's row, or None."""
    number = (document.get("request") or {}).get("relation")
    return None if number is None else int(number)


# --- after the run ----------------------------------------------------------------------------------------


def commit_request(
    ctx: Context, tx: ModelTx, view: View, operation: Operation, result: Result
) -> tuple[str, Writes]:
    """Commit the result of a request; return the error for its user or "", and what the commands changed.

    What the commands wrote is committed whatever their exit code is.
    """
    writes = result.get("writes") or {}
    error = judge(result)
    changes: Writes = {}
    if not error and (error := refusal(ctx, tx, view, writes)):
        writes = {"status_set": writes.get("status_set")}
    elif not error:
        changes = flush(ctx, tx, view, operation, writes)
    local = executed(view.local, operation, Outcome.OK, status_set=bool(writes.get("status_set")))
    store_local(tx, view.unit, committed(local, operation))
    return error, changes


def judge(result: Result) -> str:
    """Return why commands did not end by themselves, or "" when they exited, with any exit code."""
    if str(result.get("outcome", "")) in ("ok", "failed") and result.get("exit") is not None:
        return ""
    return str(result.get("message") or CUT_OFF)


def error_of(found: OperationRecord) -> Refusal | None:
    """Return the error of a committed request that its user must still get, or None."""
    error = str(found.result.get("error") or "")
    request = found.document.get("request")
    return Refusal(request=str(request["id"]), error=error) if request and error else None
