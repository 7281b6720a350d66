"""Renews the key that encrypts secrets.

The new key is written to its file before it is used, and old keys stay in the file until nothing needs them,
so that the store stays readable when the process is killed.
"""

from __future__ import annotations

from pushjuju.services.entities.basis import notify_targets
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.secret import secret_backends, secrets
from pushjuju.store.keys import Sealed
from pushjuju.store.rows.secret_records import BackendRow, RevisionRow
from pushjuju.store.tx import Tx


def renew(ctx: Context, *, forget: bool = False) -> tuple[str, int]:
    """Encrypt everything with a new key; return the name of the key and the number of records.

    Args:
        forget: True to delete old keys from the file; older copies of the store then become unreadable.
    """
    ring = ctx.controller.keyring
    with ctx.change_controller() as tx:
        name = ring.renew(tx, ctx.clock.now())
        count = _reseal_revisions(ctx, tx) + _reseal_backends(ctx, tx) + notify_targets.reseal(ctx, tx)
        tx.run("encryption_key_drop_old")
    if forget:
        ring.forget([name])
    return name, count


def _reseal_revisions(ctx: Context, tx: Tx) -> int:
    ring, rows = ctx.controller.keyring, tx.list(RevisionRow, "secret_revision_every")
    for row in rows:
        where = secrets.place(row, row.revision)
        value = ring.open(Sealed(key=row.key, data=row.data), where)
        sealed = ring.seal(tx, value, where, ctx.clock.now())
        tx.run(
            "secret_revision_reseal", model=row.model, secret=row.secret, revision=row.revision,
            key=sealed.key, data=sealed.data,
        )  # fmt: skip
    return len(rows)


def _reseal_backends(ctx: Context, tx: Tx) -> int:
    rows = tx.list(BackendRow, "secret_backend_list")
    for row in rows:
        sealed = secret_backends.sealed(ctx, tx, row.id, secret_backends.configuration(ctx, row))
        tx.run("secret_backend_set_config", name=row.name, key=sealed.key, config=sealed.data)
    return len(rows)
