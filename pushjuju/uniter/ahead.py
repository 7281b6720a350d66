"""Plans: hooks of a unit that are decided together and sent together, in one round trip.

While a hook runs, the next hook and its context are already known, if the running hook succeeds and writes
nothing. Such hooks are decided in the transaction of the first hook and sent with it. The machine begins each
of them when the hook before it has succeeded and written nothing, and the plan came a moment ago; otherwise
the controller decides again. Hooks after the plan see what users change during the plan.
"""

from __future__ import annotations

import uuid
from collections.abc import Container, Iterator
from datetime import datetime, timedelta
from itertools import islice, pairwise

from pushjuju.core.status import Life, StatusInfo
from pushjuju.core.values import changed, dataclass
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.basis.decision_text import packed
from pushjuju.store.processes import CAUSE
from pushjuju.store.rows.records import Operation as OperationRecord
from pushjuju.store.tx import ModelTx, Tx
from pushjuju.uniter.decide.decision import Answer, Decision, Operation, OperationName
from pushjuju.uniter.decide.loop import decide
from pushjuju.uniter.decide.naming import hook_name
from pushjuju.uniter.decide.reconcile import reconcile_effects
from pushjuju.uniter.decide.remote import RemoteState
from pushjuju.uniter.decide.state import HookKind, LocalState
from pushjuju.uniter.decide.wire import from_wire, record_text
from pushjuju.uniter.dispatch import Dispatch, announce, document_of, prepared_operation, read_operation
from pushjuju.uniter.input.hookcontext import Sent
from pushjuju.uniter.input.snapshot import View, with_local
from pushjuju.uniter.state.effects import commit_effects, restarted
from pushjuju.uniter.state.messages import workload_after, workload_before
from pushjuju.uniter.state.operation import Outcome, committed, executed, prepare, skip_reason

MOST = 12  # hooks of one plan, the first one not counted
_DEPLOYS = (OperationName.INSTALL, OperationName.UPGRADE)
_HOOKS = frozenset(
    {
        HookKind.STORAGE_ATTACHED, HookKind.INSTALL, HookKind.UPGRADE_CHARM, HookKind.RELATION_CREATED,
        HookKind.RELATION_JOINED, HookKind.RELATION_CHANGED, HookKind.RELATION_DEPARTED,
        HookKind.LEADER_ELECTED, HookKind.LEADER_SETTINGS_CHANGED, HookKind.CONFIG_CHANGED, HookKind.START,
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One hook of a plan."""

    decision: Decision
    operation: Operation
    view: View  # the unit before the step, as far as the operations before it have changed it
    between: tuple[Operation, ...] = ()  # operations before the step that need no machine
    # the workload status that operations of the plan have set by then, or None
    workload: StatusInfo | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """A decision, and the two states from which it was made."""

    local: LocalState
    remote: RemoteState
    decision: Decision


def steps(
    tx: ModelTx, view: View, local: LocalState, first: Operation, loud: Container[str]
) -> Iterator[Step | Decided]:
    """Yield the hooks that follow a successful operation, as long as no other operation can come between.

    The last value may be the decision that ended the plan.

    Args:
        local: The state before `first` was prepared.
        loud: Names of hooks that wrote something the last time: no hook is planned behind them.
    """
    if view.remote.life is not Life.ALIVE or not _may_lead(first):
        return
    operation = first
    said: StatusInfo | None = None
    while not (commit_effects(operation) or _title(operation) in loud):
        done = executed(prepare(local, operation, view.remote), operation, Outcome.OK)
        said = workload_after(local, operation, success=True, status_set=False) or said
        view = with_local(tx, view, restarted(committed(done, operation)))
        step = _next(view)
        if not isinstance(step, Step):
            yield from (step,) if step is not None else ()
            return
        view, local, operation = step.view, step.view.local, step.operation
        said = workload_before(local, operation) or said
        yield changed(step, workload=said)


def _title(operation: Operation) -> str:
    return hook_name(operation.hook, operation.endpoint) if operation.hook is not None else ""


def _may_lead(operation: Operation) -> bool:
    """Return True when a plan may follow an operation."""
    return operation.name in _DEPLOYS or (operation.name is OperationName.RUN_HOOK and _is_planned(operation))


def _is_planned(operation: Operation) -> bool:
    return operation.hook is not None and operation.hook.kind in _HOOKS


def _next(view: View) -> Step | Decided | None:
    """Return the hook that follows, or another decision; None when the model must be changed first."""
    between: list[Operation] = []
    while not reconcile_effects(view.local, view.remote):
        decision = decide(view.local, view.remote)
        operation = decision.operation
        if operation is not None and operation.name is OperationName.ACCEPT_LEADERSHIP:
            if decision.effects:
                return None
            between.append(operation)
            view = changed(view, local=committed(view.local, operation))
            continue
        if operation is None or decision.effects or not _may_follow(view, operation):
            return None if between else Decided(local=view.local, remote=view.remote, decision=decision)
        return Step(decision=decision, operation=operation, view=view, between=tuple(between))
    return None


def _may_follow(view: View, operation: Operation) -> bool:
    """Return True when an operation is a hook that a plan may contain, and must run."""
    is_hook = operation.name is OperationName.RUN_HOOK and _is_planned(operation)
    return is_hook and not skip_reason(view.local, operation, view.remote)


def plan(
    ctx: Context,
    tx: ModelTx,
    view: View,
    local: LocalState,
    first: Operation,
    sent: Dispatch,
    loud: Container[str] = (),
) -> tuple[tuple[Dispatch, ...], Decided | None]:
    """Decide which hooks follow an operation, and record them; all are sent to the machine together.

    Args:
        local: The state before `first` was prepared; the statuses announce `first` already.
        sent: The request for `first`.
        loud: Names of hooks that wrote something the last time: no hook is planned behind them.

    Returns:
        The hooks, and the decision that follows when all have succeeded and written nothing, if it is known.
    """
    everything = list(islice(steps(tx, view, local, first, loud), MOST))
    found = [step for step in everything if isinstance(step, Step)]
    foreseen = next((step for step in everything if isinstance(step, Decided)), None)
    ids = [*(str(uuid.uuid4()) for _ in found), ""]
    plans: list[Dispatch] = []
    after, before = sent.id, _sent(view, first, sent)
    for number, (step, (own, then)) in enumerate(zip(found, pairwise(ids), strict=True), 1):
        dispatch = _prepared(tx, step, own, before)
        before = _sent(step.view, step.operation, dispatch)
        order = {**dispatch.frame, "after": after, **({"then": True} if then else {})}
        after = own
        moment = ctx.clock.now() + timedelta(microseconds=number)  # distinct: keeps their order
        record = _record(step, dispatch.id, dispatch.title, then, moment)
        tx.insert("operation", record)
        tx.know(OperationRecord, "operation_get", record, id=record.id)
        plans.append(changed(dispatch, frame=order))
    return tuple(plans), foreseen


def _sent(view: View, operation: Operation, dispatch: Dispatch) -> Sent | None:
    """Return what the machine gets with a hook; None for a deploy."""
    context = dispatch.frame.get("context")
    return None if context is None else Sent(view=view, hook=operation.hook, context=context)


def _prepared(tx: ModelTx, step: Step, operation_id: str, before: Sent | None) -> Dispatch:
    """Build the request for a hook, with the workload status that the unit will have then."""
    dispatch = prepared_operation(tx, step.view, step.operation, operation_id, before=before)
    said = step.workload
    if said is None:
        return dispatch
    status = {"unit": {"status": str(said.status), "message": said.message, "data": {}}}
    context = {**dispatch.frame["context"], "status": status}
    return changed(dispatch, frame={**dispatch.frame, "context": context})


def _record(step: Step, operation_id: str, title: str, then: str, moment: datetime) -> OperationRecord:
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
        model=step.view.unit.model,
        machine=step.view.machine.id,
        unit=step.view.unit.name,
        name=title,
        state="planned",
        document=document,
        prepared=moment,
        cause=CAUSE.get(),
    )


# --- when the operation before has ended ------------------------------------------------------------------


def promote(
    tx: ModelTx, view: View, local: LocalState, then: str, now: datetime
) -> tuple[LocalState, str, str]:
    """Make a planned hook the unit's running operation, after the operation before it has succeeded.

    Args:
        now: When the hook began, for the statuses.

    Returns:
        The unit's next state, the id of the hook, and the record of its decision, which the caller stores
        with the state; "" as id and record when the plan was dropped.
    """
    row = tx.find(OperationRecord, "operation_get", id=then)
    if row is None or row.state != "planned":
        return local, "", ""
    operation = read_operation(row.document)
    local = restarted(local)
    for before in row.document["between"]:
        local = committed(local, from_wire(Operation, before))
    text = _decision_text(view, local, operation, row)
    announce(tx, view, local, operation, now)
    decided = packed(text)
    tx.run("operation_promote", id=then, decided=decided)
    row = changed(row, state="prepared", decided=decided)
    tx.know(OperationRecord, "operation_get", row, id=then)
    return prepare(local, operation, view.remote), then, text


def _decision_text(view: View, local: LocalState, operation: Operation, row: OperationRecord) -> str:
    document = row.document
    decision = Decision(
        answer=Answer.RUN, operation=operation, reason=document["reason"], badge=document["badge"]
    )
    return record_text(local, view.remote, decision)


def drop(tx: Tx, then: str) -> None:
    """Delete the plan behind an operation that did not succeed; the machine begins no part of the plan."""
    while then:
        row = tx.find(OperationRecord, "operation_get", id=then)
        if row is None or row.state != "planned":
            return
        tx.run("operation_drop", id=then)
        tx.know(OperationRecord, "operation_get", None, id=then)  # asked once more, when the plan ends
        then = row.document.get("then", "")
