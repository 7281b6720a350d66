"""Targets of notifications: their sealed addresses, and the delivery of one event."""

from __future__ import annotations

from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path

from pushjuju.core.clock import to_iso
from pushjuju.core.errors import NotifyError, NotValid, PushjujuError
from pushjuju.plugins.api.notices import Event, Notifier, NotifyTarget
from pushjuju.plugins.manager import PluginHost
from pushjuju.services.entities.basis.context import Context
from pushjuju.store.keys import Sealed
from pushjuju.store.rows.notify_records import NoticeRow, TargetRow
from pushjuju.store.tx import Tx

_PAUSE_S, _LONGEST_S = 10.0, 3600.0


def folder(ctx: Context) -> Path:
    """Return the folder of the programs that a target may run."""
    return ctx.controller.root / "notify.d"


def notifier_of(host: PluginHost, address: str) -> Notifier:
    """Return what delivers events to an address.

    Raises:
        NotValid: No plugin knows addresses of this kind.
    """
    known = host.notifiers()
    scheme = address.partition(":")[0].lower()
    if scheme not in known:
        raise NotValid(f"the address begins with none of {', '.join(f'{name}:' for name in sorted(known))}")
    return known[scheme]


def sealed(ctx: Context, tx: Tx, name: str, address: str, secret: str) -> Sealed:
    """Return the address and the secret of a target sealed, as the store keeps them."""
    value = {"address": address, "secret": secret}
    return ctx.controller.keyring.seal(tx, value, _place(name), ctx.clock.now())


def opened(ctx: Context, row: TargetRow) -> NotifyTarget:
    """Return a target with its address and its secret."""
    value = ctx.controller.keyring.open(Sealed(key=row.key, data=row.sealed), _place(row.name))
    return NotifyTarget(
        name=row.name, address=value["address"], secret=value["secret"], body=row.body, folder=folder(ctx)
    )


def _place(name: str) -> str:
    return f"notify target {name}"


def reseal(ctx: Context, tx: Tx) -> int:
    """Encrypt all targets with the current key; return their number."""
    rows = tx.list(TargetRow, "notify_target_list")
    for row in rows:
        known = opened(ctx, row)
        again = sealed(ctx, tx, row.name, known.address, known.secret)
        tx.run("notify_target_seal", name=row.name, key=again.key, sealed=again.data)
    return len(rows)


def send(ctx: Context, host: PluginHost, row: TargetRow, event: Event) -> str:
    """Deliver an event to a target; return which of its receivers refused it, or empty. Blocks.

    Raises:
        NotifyError: The event was not delivered.
    """
    target = opened(ctx, row)
    try:
        return notifier_of(host, target.address).send(target, event) or ""
    except NotifyError:
        raise
    except PushjujuError as error:
        raise NotifyError(error.message) from None
    except Exception as error:  # the text of a plugin's bug may have the address
        raise NotifyError(f"{row.shown}: {type(error).__name__}") from error


def source(ctx: Context, model: str = "") -> str:
    """Return the source of events of a controller or a model, as CloudEvents name it."""
    of_model = f"/models/{model}" if model else ""
    return f"/controllers/{_uuid(ctx)}{of_model}"


def _uuid(ctx: Context) -> str:
    return str(ctx.controller.settings().get("uuid", ""))


def event_of(ctx: Context, row: NoticeRow, model: str) -> Event:
    """Return the event of a row, with the name of its model; empty for an event of the controller."""
    controller = ctx.controller.name
    parts = (_uuid(ctx), row.model, str(row.number), to_iso(row.time), row.target)
    where = f"{controller}:{model}" if model else controller
    times = f" ({row.count} times since {to_iso(row.time)})" if row.count > 1 else ""
    text = row.text
    if row.event.endswith(".flapping"):
        text = f"{row.kind} {row.entity} changes again and again; last: {text}"
    data = {
        "controller": controller, "model": model, row.kind: row.entity, **row.data, "count": row.count,
        "latest": to_iso(row.latest),
    }  # fmt: skip
    return Event(
        id=sha256(" ".join(parts).encode()).hexdigest()[:32], name=row.event, source=source(ctx, row.model),
        time=to_iso(row.time), subject=f"{row.kind} {row.entity}", text=f"{where}: {text}{times}", data=data,
    )  # fmt: skip


def again_at(now: datetime, attempts: int) -> datetime:
    """Return when to try a target again after some failures in a row: 10 s later, then longer, up to 1 h."""
    return now + timedelta(seconds=min(_PAUSE_S * 2 ** min(attempts - 1, 16), _LONGEST_S))
