"""The requests of add-ssh-key, import-ssh-key and remove-ssh-key.

Mirrors: juju apiserver/facades/client/keymanager (3.6)
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from pushjuju.core.errors import NotValid
from pushjuju.core.values import dataclass
from pushjuju.services.entities.basis import wake
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.model import models, ssh_keys
from pushjuju.services.entities.model.ssh_keys import KEY
from pushjuju.services.requests.model import key_import
from pushjuju.services.requests.model.key_import import Source
from pushjuju.store.tx import ModelTx

MOST = 1000  # keys that a model may have
_INTERNAL = ("juju-client-key", "juju-system-key")


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """The reason why one of several keys was not added or not removed."""

    key: str
    reason: str


def import_keys(
    ctx: Context, model: str, sources: Sequence[Source], environ: Mapping[str, str]
) -> dict[str, list[Refusal] | None]:
    """Add the keys that users have published, after all of them are fetched.

    Returns:
        Source -> its refused keys, or None when the user has no keys.
    """
    found = {item.text: key_import.fetch(item, environ) for item in sources}
    return {text: add(ctx, model, keys) if keys else None for text, keys in found.items()}


def add(ctx: Context, model: str, texts: Iterable[str]) -> list[Refusal]:
    """Add keys; return those that were refused."""
    refusals = []
    with ctx.change(model) as tx:
        models.require_alive(tx)
        present = ssh_keys.lines(tx)
        known = {ssh_keys.parse(line).fingerprint for line in present}
        before = len(present)
        for text in texts:
            try:
                key = ssh_keys.parse(text.strip())
            except NotValid as error:
                refusals.append(Refusal(key=text, reason=error.message))
                continue
            if key.fingerprint in known:
                refusals.append(Refusal(key=text, reason=f"duplicate ssh key: {text}"))
            elif key.comment in _INTERNAL:
                reason = f"may not add key with comment {key.comment}: {text}"
                refusals.append(Refusal(key=text, reason=reason))
            else:
                known.add(key.fingerprint)
                present.append(key.line)
        if len(present) > MOST:
            raise NotValid(f"a model has {MOST} keys at most")
        if len(present) != before:
            _put(tx, present)
    return refusals


def put_first(ctx: Context, model: str, text: str) -> None:
    """Set the keys of a new model, including the internal key of a Juju client (`juju-client-key`)."""
    keys = [ssh_keys.parse(line.strip()).line for line in text.splitlines() if line.strip()]
    if len(keys) > MOST:
        raise NotValid(f"a model has {MOST} keys at most")
    if keys:
        with ctx.change(model) as tx:
            _put(tx, list(dict.fromkeys(keys)))


def is_internal(key: ssh_keys.PublicKey) -> bool:
    """Return True for a key of Juju itself, which is not listed and cannot be removed."""
    return key.comment in _INTERNAL


def remove(ctx: Context, model: str, ids: Iterable[str]) -> list[Refusal]:
    """Remove keys by fingerprint or comment; return the ids that fit no key."""
    refusals = []
    with ctx.change(model) as tx:
        present = [ssh_keys.parse(line) for line in ssh_keys.lines(tx)]
        doomed: set[str] = set()
        for text in ids:
            found = {key.line for key in present if text in (key.fingerprint, key.comment)}
            if not found:
                refusals.append(Refusal(key=text, reason=f"key not found: {text}"))
            doomed |= found
        if doomed:
            _put(tx, [key.line for key in present if key.line not in doomed])
    return refusals


def _put(tx: ModelTx, kept: list[str]) -> None:
    tx.run("model_config_set", key=KEY, value=json.dumps("\n".join(kept)))
    tx.run("keys_due")
    for row in tx.rows("machine_ids"):
        wake.machine(tx, row["id"], "keys that may log in changed")
