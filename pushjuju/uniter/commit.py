"""Commits the result of an operation to the model, once.

One transaction writes the result and everything that follows from it. The row of the operation records the
commit, so a second delivery of the result changes nothing.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import UTC, datetime
from io import StringIO
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from pushjuju.core import limits
from pushjuju.core.errors import StoreError
from pushjuju.core.model.tasks import EXEC
from pushjuju.core.names import unit_tag
from pushjuju.core.status import CHARM_STATUSES, Agent, Life, StatusKind
from pushjuju.core.values import changed, dataclass
from pushjuju.portable import loglevels
from pushjuju.portable.jsontext import compact
from pushjuju.runner.remote.base.results import CHARM_GONE, KNOWN, is_quiet, named, plain_result
from pushjuju.runner.trust import intake
from pushjuju.services.entities.action import actions
from pushjuju.services.entities.application import units
from pushjuju.services.entities.basis import hook_changes, leadership, logs, statuses, tally, wake
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine import lost_results
from pushjuju.services.entities.model import controller_config, model_config
from pushjuju.services.entities.secret.secret_masks import Mask, mask_of, plain
from pushjuju.store.rows.records import Operation as OperationRecord
from pushjuju.store.tx import ModelTx, Tx
from pushjuju.uniter.action_runs import commit_action, commit_commands, task_number
from pushjuju.uniter.ahead import Decided, drop, promote
from pushjuju.uniter.apply.flush import flush, flush_questions, refusal
from pushjuju.uniter.apply.perform import perform
from pushjuju.uniter.decide.decision import Operation, OperationName
from pushjuju.uniter.decide.state import LocalState
from pushjuju.uniter.decide.wire import text_of
from pushjuju.uniter.dispatch import read_operation
from pushjuju.uniter.input.snapshot import View, ask_ahead, read_view, store_local
from pushjuju.uniter.requests import commit_request
from pushjuju.uniter.state.effects import apply_effects, commit_effects
from pushjuju.uniter.state.messages import workload_after
from pushjuju.uniter.state.operation import Outcome, committed, executed, is_success
from pushjuju.uniter.turn import decide_next

if TYPE_CHECKING:
    from pushjuju.portable.frames import Begun, Writes

_FREE_TEXTS = ("message", "line", "version")
STREAMS = ("stdout", "stderr")
_COLLECTIONS = ("relations", "storage", "secret_revisions", "secret_obsolete_revisions")  # of local state
_MOST_GROWTH = 64 * 1024  # letters; one hook adds its own identity only, which is far smaller
_DEPLOYS = (OperationName.INSTALL, OperationName.UPGRADE)
UNITER_LOGGER = "juju.worker.uniter.operation"
CONFLICT = "conflict"  # code of an upgrade that the machine could not unpack
Result = Mapping[str, Any]
Event = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """How an operation ended."""

    ok: bool  # the program succeeded, or will run again after a reboot
    message: str = ""  # the failure, for users
    reboot: str = ""  # id of the operation that reboots the machine and must run now, or ""
    again_later: bool = False  # True when the machine could not start the operation: not a fault of the charm
    killed: bool = False  # True when a signal killed the process, which will run again
    # True when the hook failed or wrote something: the machine begins nothing behind such a hook
    loud: bool = False
    error: str = ""  # the error that `juju-exec` prints instead of the outcome of its commands
    next: str = ""  # id of the planned hook that must run now, or ""
    changes: Result = field(default_factory=dict)  # the writes that changed a value
    # what the unit does next, when the caller let it decide and there is something to do
    decided: Decided | None = None


# --- events -----------------------------------------------------------------------------------------------


def take_events(ctx: Context, operation_id: str, events: Iterable[tuple[int, Event]]) -> None:
    """Commit what a running operation streams: log lines, statuses, versions. Each number counts once."""
    with ctx.store.write(ctx.store.home) as tx:
        found = tx.find(OperationRecord, "operation_get", id=operation_id)
        if found is not None:
            _take_events(ctx, ctx.of(tx, found.model), found, *intake.read_events(events))


def take_flood(ctx: Context, operation_id: str, result: Result) -> Iterator[None]:
    """Commit the events of a large result in parts, before the result itself.

    Each part is a transaction, so that no other writer waits long, and an interrupted commit continues with
    the next part.

    Yields:
        None after each part, so that other tasks can run.
    """
    items = intake.events_of(result)
    good = intake.read_events(items)[0] if len(items) * limits.MESSAGE > limits.TEXT_AT_ONCE else []
    yield from _take_parts(ctx, operation_id, [*good, *_printed(ctx, operation_id, result)])


def _take_parts(ctx: Context, operation_id: str, good: Sequence[tuple[int, Event]]) -> Iterator[None]:
    """Commit events in parts, except when all fit into one part or are committed already."""
    if next(_parts(good), good) == good:
        return
    with ctx.store.read(ctx.store.home) as tx:
        found = tx.find(OperationRecord, "operation_get", id=operation_id)
    last = found.events if found is not None else 0
    new = [item for item in good if item[0] > last]
    for part in _parts(new):
        with ctx.store.write(ctx.store.home, later=False) as tx:
            found = tx.find(OperationRecord, "operation_get", id=operation_id)
            if found is None or found.state != "prepared":
                return
            _take_events(ctx, ctx.of(tx, found.model), found, part)
        yield


def _parts(good: Sequence[tuple[int, Event]]) -> Iterator[list[tuple[int, Event]]]:
    """Yield the events in lists that fit into one transaction."""
    part: list[tuple[int, Event]] = []
    size = 0
    for item in good:
        part.append(item)
        size += intake.cost(item[1])
        if len(part) == limits.EVENTS_AT_ONCE or size > limits.TEXT_AT_ONCE:
            yield part
            part, size = [], 0
    if part:
        yield part


def _printed(ctx: Context, operation_id: str, result: Result) -> list[tuple[int, Event]]:
    """Return the output of an action as events when it has many lines; they follow its other events."""
    if not any(_is_long(result, stream) for stream in STREAMS):
        return []
    with ctx.store.read(ctx.store.home) as tx:
        found = tx.find(OperationRecord, "operation_get", id=operation_id)
        if found is None or found.name == EXEC or not found.unit:
            return []
        if read_operation(found.document).name is not OperationName.RUN_ACTION:
            return []
    listed = [item for stream in STREAMS for item in _lines(result, stream)]
    return list(enumerate(listed, limits.EVENT_NUMBER + 1))


def _is_long(result: Result, stream: str) -> bool:
    text = result.get(stream)
    return isinstance(text, str) and text.count("\n") > limits.EVENTS_AT_ONCE


def _lines(result: Result, stream: str) -> Iterator[Event]:
    """Yield the lines of an action's output as events, up to a limit."""
    if result.get(f"{stream}-encoding"):
        return
    lines = iter(StringIO(str(result.get(stream) or ""), newline=None))
    for line in islice(lines, limits.OUTPUT_LINES):
        yield {"k": "output", "stream": stream, "time": None, "line": intake.text(line.rstrip("\n"))}
    if rest := sum(1 for _ in lines):
        text = f"{rest} more lines are in the results of the action only"
        yield {"k": "output", "stream": stream, "time": None, "line": text}


def _take_events(
    ctx: Context, tx: ModelTx, operation: OperationRecord, good: Sequence[tuple[int, Event]], odd: int = 0
) -> None:
    last = operation.events
    logging_config = str(model_config.get(tx, "logging-config"))
    mask = mask_of(ctx, tx, operation.unit) if good else plain
    for number, event in good:
        if number > last:
            odd += not _take_event(ctx, tx, operation, masked(event, mask), logging_config)
            last = number
    if odd:
        text = f"{odd} messages of the machine were left out: not valid, or not allowed"
        _log(tx, operation, "WARNING", UNITER_LOGGER, text, ctx.clock.now(), logging_config)
    if last != operation.events:
        tx.run("operation_set_events", id=operation.id, events=last)


def masked(event: Event, mask: Mask) -> Event:
    """Return an event without the values of secrets that its unit may read."""
    if mask is plain:
        return event
    return {key: mask(value) if key in _FREE_TEXTS else value for key, value in event.items()}


def _take_event(
    ctx: Context, tx: ModelTx, operation: OperationRecord, event: Event, logging_config: str
) -> bool:
    """Commit one event; return False when the operation may not send such an event."""
    moment = _moment(ctx, operation, event["time"])
    unit = operation.unit
    match event["k"]:
        case "log":
            level = event["level"] if event["level"] in loglevels.LEVELS else "INFO"
            module = intake.text(event["module"], limits.NAME)
            _log(tx, operation, level, module, event["message"], moment, logging_config)
        case "output":
            level = "WARNING" if event["stream"] == "stderr" else "DEBUG"
            module = f"unit.{unit}.{operation.name}"
            _log(tx, operation, level, module, event["line"], moment, logging_config)
        case "status" if unit and event["status"] in CHARM_STATUSES:
            return _set_status(tx, unit, event, moment)
        case "action-log" if (number := task_number(operation)) is not None:
            actions.add_log(tx, number, event["message"], moment)
        case "version" if unit:
            units.set_version(tx, unit, event["version"], moment)
        case _:
            return False
    return True


def _moment(ctx: Context, operation: OperationRecord, time: float | None) -> datetime:
    """Return when an event happened: the machine's time, but not before the operation and not in the future.

    The clock of a machine may be wrong, and a history must be in order.
    """
    now = ctx.clock.now()
    if time is None:
        return now
    begun = operation.prepared.timestamp()
    return datetime.fromtimestamp(min(max(time, begun), now.timestamp()), UTC)


def _log(
    tx: ModelTx, operation: OperationRecord, level: str, module: str, message: str, now: datetime, config: str
) -> None:
    if not loglevels.kept(config, module, level):
        return
    entity = unit_tag(operation.unit) if operation.unit else f"machine-{operation.machine}"
    logs.append(tx, entity, level, module, message, now=now)


def _set_status(tx: ModelTx, unit: str, event: Event, now: datetime) -> bool:
    """Set the status of a unit, or of an application by its leader; return False for any other unit."""
    kind, entity = StatusKind.WORKLOAD, unit
    if event["scope"] == "app":
        kind, entity = StatusKind.APPLICATION, unit.partition("/")[0]
        if leadership.holder(tx, entity) != unit:
            return False
    else:
        now = statuses.not_before(tx, unit, now)
    statuses.set_status(tx, kind, entity, event["status"], event["message"], now=now)
    return True


# --- result -----------------------------------------------------------------------------------------------


def commit(
    ctx: Context, operation_id: str, result: Result, *, decides: bool = False, foreseen: Decided | None = None
) -> Committed:
    """Commit the result of an operation to the model.

    Args:
        foreseen: The decision that follows if the operation changes nothing else.
        decides: Let the unit decide in the same transaction what it does next.
    """
    good, odd = intake.read_events(intake.events_of(result))
    for _ in _take_parts(ctx, operation_id, [*good, *_printed(ctx, operation_id, result)]):
        pass
    result = intake.read_result(result)  # read outside of the transaction, so that no writer waits for it
    with ctx.store.write(ctx.store.home) as store:
        found = store.find(OperationRecord, "operation_get", id=operation_id)
        if found is None or found.state != "prepared":
            return Committed(ok=True, message="committed before")
        tx = ctx.of(store, found.model)
        _take_events(ctx, tx, found, good, odd)
        said = _statuses_said(ctx, tx, found, (event for _, event in good))
        if result.get("code") == KNOWN:
            result = _lost(tx, found, result)
        if found.unit:
            done = _commit_unit(ctx, tx, found, result)
            if not done.next:
                drop(tx, found.document.get("then", ""))
        else:
            done = Committed(ok=True, message=commit_commands(tx, found, result))
        _close(ctx, tx, found, result, done, said)
        if decides and found.unit and not (done.next or done.reboot or done.again_later):
            return changed(done, decided=_decided(ctx, tx, found, foreseen))
        return done


def _lost(tx: ModelTx, found: OperationRecord, result: Result) -> Result:
    """Return the result of an operation that has run, and whose result the store has lost: a failure."""
    kind = read_operation(found.document).name if found.unit else None
    begun: Begun = {"unit": found.unit}
    if kind is OperationName.RUN_HOOK:
        begun["hook"] = found.name
    elif kind is OperationName.RUN_ACTION and found.name == EXEC:
        begun["kind"] = "commands"
    elif kind is OperationName.RUN_ACTION:
        begun["action"] = found.name
    unit, name = named(begun)
    if name:
        lost_results.show(tx, found.machine, unit, name, again="hook" in begun)
    return {**result, "outcome": "failed", "recovered": True, "message": lost_results.LOST}


def _decided(ctx: Context, tx: ModelTx, found: OperationRecord, foreseen: Decided | None) -> Decided | None:
    """Let a unit decide what it does next; an error of the decision is reported by its next turn."""
    try:
        return decide_next(ctx, tx, found.unit, foreseen).decided
    except StoreError:
        raise
    except Exception:  # noqa: BLE001 - the commit must stand; the next turn reports the error
        return None


def _statuses_said(ctx: Context, tx: ModelTx, found: OperationRecord, events: Iterable[Event]) -> list[str]:
    """Return the workload statuses that a run set, as text for its changes."""
    mine = [event for event in events if event["k"] == "status" and event["scope"] != "app"]
    if not (mine and found.unit):
        return []
    mask = mask_of(ctx, tx, found.unit)
    return hook_changes.statuses(masked(event, mask) for event in mine if event["status"] in CHARM_STATUSES)


def _close(
    ctx: Context, tx: Tx, found: OperationRecord, result: Result, done: Committed, said: list[str]
) -> None:
    kept = {
        key: result[key] for key in ("exit", "signal", "via", "message", "started", "ended") if key in result
    }
    outcome = str(result.get("outcome", "")) if done.ok else "failed"
    error = {"error": done.error} if done.error else {}
    changes = hook_changes.summary(done.changes)
    if said:
        changes["status"] = said
    if changes:
        kept["changes"] = changes
    text = compact({**kept, **error, "message": done.message})
    now = ctx.clock.now()
    tx.run("operation_commit", id=found.id, outcome=outcome, result=text, now=now)
    tx.forget("operation_get", id=found.id)
    tally.count_hook(tx, found, outcome, kept, now)


def _commit_unit(ctx: Context, tx: ModelTx, found: OperationRecord, result: Result) -> Committed:
    ask_ahead(tx, found.unit)
    tx.ahead(flush_questions, (found.unit, result.get("writes") or {}), changes=True)
    view = read_view(tx, found.unit)
    if view is None or view.unit.life == Life.DEAD:
        return Committed(ok=True, message="the unit is gone")
    operation = read_operation(found.document)
    if operation.name is OperationName.RUN_ACTION:
        return _commit_action(ctx, tx, found, view, result)
    if operation.name is OperationName.RUN_COMMANDS:
        error, changes = commit_request(ctx, tx, view, operation, result)
        reboot = _ask_reboot(ctx, tx, view) if result.get("reboot") else ""
        return Committed(ok=not error, message=error, reboot=reboot, error=error, changes=changes)
    outcome, problem = _judge(ctx, tx, view, operation, result)
    following = decision = ""
    writes = result.get("writes") or {}
    local = executed(view.local, operation, outcome, status_set=bool(writes.get("status_set")))
    over = _when_over(ctx, tx, found, result)
    _workload_after(tx, view, operation, outcome, writes, over)
    changes = flush(ctx, tx, view, operation, writes) if is_success(outcome) else {}
    if is_success(outcome) and outcome is not Outcome.REBOOT_AFTER:
        local = _finish(ctx, tx, view, operation, local, missing=outcome is Outcome.MISSING)
        if then := found.document.get("then", ""):
            local, following, decision = promote(tx, view, local, then, over)
    store_local(tx, view.unit, local, decision=decision)
    reboot = _ask_reboot(ctx, tx, view) if outcome in (Outcome.REBOOT_AFTER, Outcome.REBOOT_NOW) else ""
    _after(ctx, tx, view, operation, outcome, problem)
    _note_charm(tx, view, operation, outcome, result)
    return Committed(
        ok=not problem,
        message=problem,
        reboot=reboot,
        again_later=bool(problem) and _is_tried_again(operation, outcome),
        killed=outcome is Outcome.TERMINATED,
        loud=not (is_success(outcome) and is_quiet({**plain_result("ok"), "writes": cast("Writes", writes)})),
        next=following,
        changes=changes,
    )


def _is_tried_again(operation: Operation, outcome: Outcome) -> bool:
    """Return True for a fault of the machine, after which the operation itself is repeated."""
    if outcome is Outcome.CONFLICT:
        return False
    return outcome is Outcome.NOT_STARTED or operation.name in _DEPLOYS


def _note_charm(tx: ModelTx, view: View, operation: Operation, outcome: Outcome, result: Result) -> None:
    """Record whether the charm's directory is on the machine, when the result of the operation shows it."""
    gone = result.get("code") == CHARM_GONE
    if gone != view.unit.charm_gone and (gone or (operation.name in _DEPLOYS and outcome is Outcome.OK)):
        tx.run("unit_set_charm_gone", name=view.unit.name, gone=gone)


def _commit_action(
    ctx: Context, tx: ModelTx, found: OperationRecord, view: View, result: Result
) -> Committed:
    """Commit the result of an action, whose failure does not fail the unit. Only commands may reboot."""
    message, changes = commit_action(ctx, tx, view, read_operation(found.document), result)
    if found.name != EXEC:
        _log_output(ctx, tx, found, result)
    reboot = _ask_reboot(ctx, tx, view) if result.get("reboot") else ""
    return Committed(ok=True, message=message, reboot=reboot, changes=changes)


def _log_output(ctx: Context, tx: ModelTx, found: OperationRecord, result: Result) -> None:
    """Log the output of an action as that of hooks is logged; longer outputs have been logged before."""
    if any(_is_long(result, stream) for stream in STREAMS):
        return
    config = str(model_config.get(tx, "logging-config"))
    mask = mask_of(ctx, tx, found.unit)
    for line in (item for stream in STREAMS for item in _lines(result, stream)):
        level = "DEBUG" if line["stream"] == "stdout" else "WARNING"
        _log(tx, found, level, f"unit.{found.unit}.{found.name}", mask(line["line"]), ctx.clock.now(), config)


def _ask_reboot(ctx: Context, tx: ModelTx, view: View) -> str:
    """Prepare the reboot of the machine; the operation names the running boot, so that it happens once."""
    now = ctx.clock.now()
    statuses.set_agent_status(tx, view.unit.name, Agent.REBOOTING, now=now)
    reboot = OperationRecord(
        id=str(uuid.uuid4()), model=view.unit.model, machine=view.machine.id, unit="", name="reboot",
        state="prepared", document={"boot_id": view.machine.boot_id}, prepared=now,
    )  # fmt: skip
    tx.insert("operation", reboot)
    return reboot.id


def _judge(
    ctx: Context, tx: ModelTx, view: View, operation: Operation, result: Result
) -> tuple[Outcome, str]:
    """Return the outcome and, for a failure, its reason."""
    word, reboot = str(result.get("outcome", "")), result.get("reboot") or ""
    if operation.name is not OperationName.RUN_HOOK:
        if word == "ok":
            return Outcome.OK, ""
        # A user can resolve a conflict (`resolved`, or another charm); other failures are repeated.
        stuck = operation.name is OperationName.UPGRADE and result.get("code") == CONFLICT
        return (Outcome.CONFLICT if stuck else Outcome.FAILED), _reason(result)
    if word == "error":
        return Outcome.NOT_STARTED, _reason(result)
    # `juju-reboot --now` ends the hook at once; the hook runs again after the reboot.
    if reboot == "now":
        return Outcome.REBOOT_NOW, ""
    if result.get("recovered"):
        return Outcome.INTERRUPTED, _reason(result)  # how the run ended is unknown: it counts as failed
    if word == "terminated":
        return Outcome.TERMINATED, ""
    if word not in ("ok", "missing"):
        return Outcome.FAILED, _reason(result)
    # The machine has checked the writes, but may be compromised, or the model may have changed since.
    if problem := refusal(ctx, tx, view, result.get("writes") or {}) or _memory_refused(ctx, view, operation):
        return Outcome.FAILED, problem
    if reboot == "after":
        return Outcome.REBOOT_AFTER, ""
    return (Outcome.MISSING if word == "missing" else Outcome.OK), ""


def _memory_refused(ctx: Context, view: View, operation: Operation) -> str:
    """Return why the unit's state after the hook is too large, or "" when it fits or did not grow."""
    kind = operation.hook.kind if operation.hook is not None else None
    if kind is None or not (kind.is_relation or kind.is_storage or kind.is_secret):
        return ""  # changes no collection
    most = controller_config.max_agent_state(ctx)
    if len(view.unit.state) + _MOST_GROWTH <= most:
        return ""
    done = committed(executed(view.local, operation, Outcome.OK), operation)
    as_before = changed(done, **{name: getattr(view.local, name) for name in _COLLECTIONS})
    size = len(text_of(done))
    if size <= most or size <= len(text_of(as_before)):
        return ""
    return f"persisting uniter state: max allowed size ({most}) exceeded"


def _reason(result: Result) -> str:
    if message := str(result.get("message") or ""):
        return message
    if result.get("signal"):
        return f"signal {result['signal']}"
    return f"exit status {result.get('exit')}"


def _when_over(ctx: Context, tx: ModelTx, found: OperationRecord, result: Result) -> datetime:
    """Return when a run ended, for the statuses that follow.

    The next hook of a plan began at that time, before the result arrived: its statuses must come later.
    """
    if not found.document.get("then") or result.get("ended") is None:
        return ctx.clock.now()
    return statuses.not_before(tx, found.unit, _moment(ctx, found, result["ended"]))


def _workload_after(
    tx: ModelTx, view: View, operation: Operation, outcome: Outcome, writes: Mapping[str, Any], now: datetime
) -> None:
    after = workload_after(
        view.local, operation, success=is_success(outcome), status_set=bool(writes.get("status_set"))
    )
    if after:
        statuses.set_status(
            tx, StatusKind.WORKLOAD, view.unit.name, after.status, after.message, now=now
        )  # fmt: skip


def _finish(
    ctx: Context, tx: ModelTx, view: View, operation: Operation, local: LocalState, *, missing: bool
) -> LocalState:
    effects = commit_effects(operation, missing=missing)
    perform(ctx, tx, view, effects)
    return apply_effects(committed(local, operation), effects)


def _after(
    ctx: Context, tx: ModelTx, view: View, operation: Operation, outcome: Outcome, problem: str
) -> None:
    """Log a failure; after an upgrade, wake the application and delete an unused charm."""
    now = ctx.clock.now()
    if problem:
        text = f"{operation.text} for {view.unit.name}: {problem}"
        logs.append(tx, unit_tag(view.unit.name), "ERROR", UNITER_LOGGER, text, now=now)
    if problem and _is_tried_again(operation, outcome):
        statuses.set_agent_status(tx, view.unit.name, Agent.FAILED, problem, now=now)
    if outcome is Outcome.OK and operation.name is OperationName.UPGRADE:
        wake.application(tx, view.unit.application, "charm upgraded")
        _drop_old_charm(tx, view)


def _drop_old_charm(tx: ModelTx, view: View) -> None:
    """Delete the charm and its settings when the last unit has left the charm."""
    tx.run(
        "setting_delete_old", application=view.unit.application,
        charm_url=view.application.charm_url
    )  # fmt: skip
    if tx.run("charm_delete_unused"):
        wake.cleaner(tx, tx.now, "a charm is not used any more")
