"""The requests of `notify`: targets that get events."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from hashlib import sha256

from pushjuju.core.clock import to_iso
from pushjuju.core.errors import AlreadyExists, NotFound, NotifyError, NotValid, PushjujuError
from pushjuju.core.names import is_controller
from pushjuju.core.values import dataclass
from pushjuju.plugins.api.notices import Event, NotifyTarget
from pushjuju.plugins.manager import PluginHost
from pushjuju.portable.quote import quote
from pushjuju.services.entities.basis import notices, notify_targets
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.model import models
from pushjuju.services.entities.secret import expiring
from pushjuju.store.rows.notify_records import TargetRow

BODIES = ("json", "text")


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetOptions:
    """A new target."""

    name: str
    address: str
    secret: str = ""
    events: Sequence[str] = ()  # names of events, also with `*`; empty for all
    models: Sequence[str] = ()  # names of models; empty for all
    body: str = "json"  # what the target gets of an event: `json` for all, `text` for the sentence


def add(ctx: Context, host: PluginHost, options: TargetOptions) -> str:
    """Add a target; return its address without the parts that may be secret."""
    _check(options)
    target = NotifyTarget(
        name=options.name, address=options.address, secret=options.secret, body=options.body,
        folder=notify_targets.folder(ctx),
    )  # fmt: skip
    notifier = notify_targets.notifier_of(host, target.address)
    notifier.check(target)
    with ctx.change_controller() as tx:
        if tx.find(TargetRow, "notify_target_get", name=target.name) is not None:
            raise AlreadyExists(f"target {quote(target.name)} already exists")
        sealed = notify_targets.sealed(ctx, tx, target.name, target.address, target.secret)
        row = TargetRow(
            name=target.name, events=list(options.events), models=list(options.models), body=target.body,
            shown=notifier.shown(target.address), key=sealed.key, sealed=sealed.data, created=ctx.clock.now(),
        )  # fmt: skip
        tx.insert("notify_target", row)
        for model in models.listed(tx):
            expiring.schedule(ctx.of(tx, model.uuid))
            notices.joined(ctx.of(tx, model.uuid))
    return row.shown


def _check(options: TargetOptions) -> None:
    if not is_controller(options.name):
        raise NotValid(f"{quote(options.name)} is no name for a target: letters, digits, dots, dashes")
    if options.body not in BODIES:
        raise NotValid(f"{quote(options.body)} is no body: json or text")
    for pattern in options.events:
        if not any(fnmatchcase(event, pattern) for event in notices.EVENTS):
            raise NotValid(f"there is no event {quote(pattern)}", hint="pushjuju notify events")


def remove(ctx: Context, name: str) -> None:
    """Remove a target with the events that wait for it."""
    with ctx.change_controller() as tx:
        if not tx.run("notify_target_delete", name=name):
            raise _not_found(name)
        tx.run("notice_delete_target", target=name)
        if not tx.rows("notify_target_names"):
            tx.run("alarm_delete_all")  # from now on nobody keeps them up to date


def test(ctx: Context, host: PluginHost, name: str) -> None:
    """Send the event `test` to a target now."""
    with ctx.store.read() as tx:
        row = tx.find(TargetRow, "notify_target_get", name=name)
    if row is None:
        raise _not_found(name)
    now, controller = to_iso(ctx.clock.now()), ctx.controller.name
    event = Event(
        id=sha256(f"{controller} {name} {now}".encode()).hexdigest()[:32], name=notices.TEST,
        source=notify_targets.source(ctx), time=now, subject=f"controller {controller}",
        text=f"{controller}: this is a test of target {name}", data={"controller": controller, "model": ""},
    )  # fmt: skip
    try:
        refused = notify_targets.send(ctx, host, row, event)
    except NotifyError:
        raise
    except PushjujuError as error:
        raise NotifyError(error.message, hint=error.hint) from None
    if refused:
        raise NotifyError(refused)


def _not_found(name: str) -> NotFound:
    return NotFound(f"target {quote(name)} not found", hint="pushjuju notify list")
