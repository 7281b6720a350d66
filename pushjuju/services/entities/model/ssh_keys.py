"""The public keys that may log in to the machines of a model.

Kept as Juju keeps them, in the model's configuration under `authorized-keys`; the words for keys alone change
them. A change makes every machine's worker look again; who writes them there is `workers.machine.keywriter`.

Mirrors: juju apiserver/facades/client/keymanager, juju/utils/ssh (3.6)
"""

from __future__ import annotations

import binascii
import json
from dataclasses import dataclass

from pushjuju.core.errors import NotValid
from pushjuju.core.ids import new_hash
from pushjuju.store.tx import ModelTx

KEY = "authorized-keys"
_LONGEST = 16 * 1024
_TYPES = (
    "ssh-ed25519", "ssh-rsa", "ssh-dss", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521", "sk-ssh-ed25519@openssh.com", "sk-ecdsa-sha2-nistp256@openssh.com",
)  # fmt: skip


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


def lines(tx: ModelTx) -> list[str]:
    """Return the keys of a model as lines of authorized_keys."""
    found = tx.scalar("model_config_get", key=KEY)
    return str(json.loads(found)).splitlines() if found else []


def ever(tx: ModelTx) -> bool:
    """Return True when a model has or once had SSH keys."""
    return tx.scalar("model_config_get", key=KEY) is not None


def written(tx: ModelTx, machine: str, what: list[str]) -> None:
    """Note that a machine has the keys, unless they have changed since."""
    if lines(tx) == what:
        tx.run("keys_written", id=machine)
