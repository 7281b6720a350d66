"""Plans: hooks of a new unit that are decided together and sent together.

While a hook of a new unit runs, the next hook and its context are already known, if the running hook succeeds
and writes nothing. Such hooks are decided in the transaction of the first hook and sent with it. The machine
begins each of them when the hook before it has succeeded and written nothing; otherwise the controller
decides again. Hooks after the plan see what users change during the plan.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice, pairwise

from pushjuju.core.model.life import Life
from pushjuju.core.status import StatusInfo
from pushjuju.core.values import changed, dataclass
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.basis.decision_text import packed
from pushjuju.store.rows.records import Operation as OperationRecord
from pushjuju.store.rows.records import Unit
from pushjuju.store.tx import ModelTx, Tx
from pushjuju.uniter.decide.decision import Answer, Decision, Operation, OperationName
from pushjuju.uniter.decide.loop import decide
from pushjuju.uniter.decide.reconcile import reconcile_effects
from pushjuju.uniter.decide.state import HookKind, LocalState
from pushjuju.uniter.decide.wire import from_wire, record_text
from pushjuju.uniter.dispatch import Dispatch, announce, document_of, prepared_operation, read_operation
from pushjuju.uniter.input.snapshot import View
from pushjuju.uniter.state.effects import commit_effects
from pushjuju.uniter.state.messages import workload_before
from pushjuju.uniter.state.operation import Outcome, committed, executed, prepare, skip_reason

MOST = 8  # hooks of one plan, the first one not counted
_HOOKS = frozenset(
    {
        HookKind.STORAGE_ATTACHED,
        HookKind.INSTALL,
        HookKind.RELATION_CREATED,
        HookKind.LEADER_ELECTED,
        HookKind.CONFIG_CHANGED,
        HookKind.START,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One hook of a plan.

    Attributes:
        local: The state of the unit before the step.
        between: Operations before the step that need no machine.
    """

    decision: Decision
    operation: Operation
    local: LocalState
    between: tuple[Operation, ...] = ()


def steps(view: View, local: LocalState, first: Operation) -> Iterator[Step]:
    """Yield the hooks that follow a successful operation, as long as no other operation can come between.

    Args:
        local: The state before `first` was prepared.
    """
    remote = view.remote
    if remote.life is not Life.ALIVE or not _may_lead(local, first):
        return
    operation = first
    while True:
        done = executed(prepare(local, operation, remote), operation, Outcome.OK)
        if commit_effects(operation):
            return
        step = _next(view, committed(done, operation))
        if step is None:
            return
        yield step
        local, operation = step.local, step.operation


def _may_lead(local: LocalState, operation: Operation) -> bool:
    """Return True when a plan may follow an operation: the unit has not started yet."""
    if local.started:
        return False
    if operation.name is OperationName.INSTALL:
        return True
    return operation.name is OperationName.RUN_HOOK and _is_planned(operation)


def _is_planned(operation: Operation) -> bool:
    return operation.hook is not None and operation.hook.kind in _HOOKS


def _next(view: View, local: LocalState) -> Step | None:
    """Return the hook that follows, or None when the model must be read or changed first."""
    between: list[Operation] = []
    while not reconcile_effects(local, view.remote):
        decision = decide(local, view.remote)
        operation = decision.operation
        if operation is None or decision.effects:
            return None
        if operation.name is OperationName.ACCEPT_LEADERSHIP:
            between.append(operation)
            local = committed(local, operation)
            continue
        if operation.name is not OperationName.RUN_HOOK or not _is_planned(operation):
            return None
        if skip_reason(local, operation, view.remote):
            return None
        return Step(decision=decision, operation=operation, local=local, between=tuple(between))
    return None


def plan(
    ctx: Context, tx: ModelTx, view: View, local: LocalState, first: Operation, first_id: str
) -> tuple[Dispatch, ...]:
    """Decide which hooks follow an operation, and record them; all are sent to the machine together.

    Args:
        local: The state before `first` was prepared; the statuses announce `first` already.
    """
    found = list(islice(steps(view, local, first), MOST))
    ids = [*(str(uuid.uuid4()) for _ in found), ""]
    said: StatusInfo | None = None
    plans: list[Dispatch] = []
    after = first_id
    for number, (step, (own, then)) in enumerate(zip(found, pairwise(ids), strict=True), 1):
        said = workload_before(step.local, step.operation) or said
        dispatch = _prepared(tx, changed(view, local=step.local), step.operation, own, said)
        order = {**dispatch.frame, "after": after, **({"then": True} if then else {})}
        after = own
        moment = ctx.clock.now() + timedelta(microseconds=number)  # distinct: keeps their order
        record = _record(view, step, dispatch.id, dispatch.title, then, moment)
        tx.insert("operation", record)
        tx.know("operation_get", record, id=record.id)
        plans.append(changed(dispatch, frame=order))
    return tuple(plans)


def _prepared(
    tx: ModelTx, view: View, operation: Operation, operation_id: str, said: StatusInfo | None
) -> Dispatch:
    """Build the request for a hook, with the workload status that the unit will have then."""
    dispatch = prepared_operation(tx, view, operation, operation_id)
    if said is None:
        return dispatch
    status = {"unit": {"status": str(said.status), "message": said.message, "data": {}}}
    context = {**dispatch.frame["context"], "status": status}
    return changed(dispatch, frame={**dispatch.frame, "context": context})


def _record(
    view: View, step: Step, operation_id: str, title: str, then: str, moment: datetime
) -> OperationRecord:
    document: dict[str, object] = {
        **document_of(step.operation, None),
        "reason": step.decision.reason,
        "badge": step.decision.badge,
        "between": [document_of(operation, None)["operation"] for operation in step.between],
    }
    if then:
        document["then"] = then
    return OperationRecord(
        id=operation_id,
        model=view.unit.model,
        machine=view.machine.id,
        unit=view.unit.name,
        name=title,
        state="planned",
        document=document,
        prepared=moment,
    )


# --- when the operation before has ended ------------------------------------------------------------------


def promote(tx: ModelTx, view: View, local: LocalState, then: str, now: datetime) -> tuple[LocalState, str]:
    """Make a planned hook the unit's running operation, after the operation before it has succeeded.

    Args:
        now: When the hook began, for the statuses.

    Returns:
        The unit's next state and the id of the hook; "" as id when the plan was dropped.
    """
    row = tx.find(OperationRecord, "operation_get", id=then)
    if row is None or row.state != "planned":
        return local, ""
    operation = read_operation(row.document)
    for before in row.document["between"]:
        local = committed(local, from_wire(Operation, before))
    text = _keep_decision(tx, view, local, operation, row)
    announce(tx, view, local, operation, now)
    decided = packed(text)
    tx.run("operation_promote", id=then, decided=decided)
    tx.know("operation_get", changed(row, state="prepared", decided=decided), id=then)
    return prepare(local, operation, view.remote), then


def _keep_decision(tx: Tx, view: View, local: LocalState, operation: Operation, row: OperationRecord) -> str:
    document = row.document
    decision = Decision(
        answer=Answer.RUN, operation=operation, reason=document["reason"], badge=document["badge"]
    )
    text = record_text(local, view.remote, decision)
    key = {"model": view.unit.model, "name": view.unit.name}
    tx.change(Unit, "unit_get", "unit_set_decision", key, decision=text)
    return text


def drop(tx: Tx, then: str) -> None:
    """Delete the plan behind an operation that did not succeed; the machine begins no part of the plan."""
    while then:
        row = tx.find(OperationRecord, "operation_get", id=then)
        if row is None or row.state != "planned":
            return
        tx.run("operation_drop", id=then)
        then = row.document.get("then", "")
