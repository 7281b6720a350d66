"""The public keys that may log in to the machines of a model.

Kept as Juju keeps them, in the model's configuration under `authorized-keys`; the words for keys alone change
them. A change makes every machine's worker look again; who writes them there is `workers.machine.keywriter`.

Mirrors: juju apiserver/facades/client/keymanager, juju/utils/ssh (3.6)
"""

from __future__ import annotations

import binascii
import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from pushjuju.core.errors import NotValid
from pushjuju.core.ids import new_hash
from pushjuju.services.entities.basis import wake
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.model import models
from pushjuju.store.tx import Tx

KEY = "authorized-keys"
MOST = 1000  # keys of a model
_LONGEST = 16 * 1024
_TYPES = (
    "ssh-ed25519", "ssh-rsa", "ssh-dss", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521", "sk-ssh-ed25519@openssh.com", "sk-ecdsa-sha2-nistp256@openssh.com",
)  # fmt: skip
_INTERNAL = ("juju-client-key", "juju-system-key")


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicKey:
    """A public key.

    Attributes:
        line: As authorized_keys has it: type, base64, comment.
        fingerprint: MD5 as Juju shows it: hex digits with colons.
        comment: The text behind the key.
    """

    line: str
    fingerprint: str
    comment: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why one of several keys was not taken or not removed."""

    key: str
    reason: str


def parse(text: str) -> PublicKey:
    """Read a public key in OpenSSH's form; options in front of it are refused.

    Raises:
        NotValid: The text is not a public key; the message is Juju's.
    """
    words = text.split(None, 2)
    if len(text) > _LONGEST or not text.isprintable() or len(words) < 2 or words[0] not in _TYPES:
        raise NotValid(f"invalid ssh key: {text[:80]}")
    try:
        blob = binascii.a2b_base64(words[1], strict_mode=True)
    except ValueError:
        raise NotValid(f"invalid ssh key: {text[:80]}") from None
    size = int.from_bytes(blob[:4], "big")
    if blob[4 : 4 + size] != words[0].encode() or len(blob) <= 4 + size:
        raise NotValid(f"invalid ssh key: {text[:80]}")
    digest = new_hash("md5", blob).hexdigest()
    return PublicKey(
        line=" ".join(words),
        fingerprint=":".join(digest[at : at + 2] for at in range(0, len(digest), 2)),
        comment=words[2].strip() if len(words) > 2 else "",
    )


def lines(tx: Tx, model: str) -> list[str]:
    """Return the keys of a model as lines of authorized_keys."""
    found = tx.scalar("model_config_get", model=model, key=KEY)
    return str(json.loads(found)).splitlines() if found else []


def ever(tx: Tx, model: str) -> bool:
    """Return True when a model has or once had SSH keys."""
    return tx.scalar("model_config_get", model=model, key=KEY) is not None


def listed(ctx: Context, model: str) -> list[PublicKey]:
    """Return the keys of a model."""
    with ctx.store.read() as tx:
        return [parse(line) for line in lines(tx, model)]


def add(ctx: Context, model: str, texts: Iterable[str]) -> list[Refusal]:
    """Add keys; return those that were not taken."""
    refusals = []
    with ctx.store.write() as tx:
        models.require_alive(tx, model)
        present = lines(tx, model)
        known = {parse(line).fingerprint for line in present}
        before = len(present)
        for text in texts:
            try:
                key = parse(text.strip())
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
            _put(tx, model, present, ctx.clock.now())
    return refusals


def remove(ctx: Context, model: str, ids: Iterable[str]) -> list[Refusal]:
    """Remove keys by fingerprint or comment; return the ids that name none."""
    refusals = []
    with ctx.store.write() as tx:
        present = [parse(line) for line in lines(tx, model)]
        doomed: set[str] = set()
        for text in ids:
            found = {key.line for key in present if text in (key.fingerprint, key.comment)}
            if not found:
                refusals.append(Refusal(key=text, reason=f"key not found: {text}"))
            doomed |= found
        if doomed:
            _put(tx, model, [key.line for key in present if key.line not in doomed], ctx.clock.now())
    return refusals


def _put(tx: Tx, model: str, kept: list[str], now: datetime) -> None:
    tx.run("model_config_set", model=model, key=KEY, value=json.dumps("\n".join(kept)))
    tx.run("keys_due", model=model)
    for row in tx.rows("machine_ids", model=model):
        wake.machine(tx, model, row["id"], now, "keys that may log in changed")


def written(tx: Tx, model: str, machine: str, what: list[str]) -> None:
    """Note that a machine has the keys, unless they have changed since."""
    if lines(tx, model) == what:
        tx.run("keys_written", model=model, id=machine)
