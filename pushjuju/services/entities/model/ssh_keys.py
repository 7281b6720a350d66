"""The public SSH keys that may log in to the machines of a model.

As in Juju, the model's configuration keeps the keys under `authorized-keys`; only the commands for SSH keys
change them. A change wakes every machine; `workers.machine.keywriter` then writes the keys on the machine.

Mirrors: juju apiserver/facades/client/keymanager, juju/utils/ssh (3.6)
"""

from __future__ import annotations

import binascii
import json

from pushjuju.core.errors import NotValid
from pushjuju.core.ids import new_hash
from pushjuju.core.values import dataclass
from pushjuju.store.tx import ModelTx

KEY = "authorized-keys"
_LONGEST = 16 * 1024
_TYPES = (
    "ssh-ed25519", "ssh-rsa", "ssh-dss", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521", "sk-ssh-ed25519@openssh.com", "sk-ecdsa-sha2-nistp256@openssh.com",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicKey:
    line: str  # the line of authorized_keys: type, base64, comment
    fingerprint: str  # the MD5 fingerprint as Juju shows it: hex digits with colons
    comment: str  # the text after the key, or empty


def parse(text: str) -> PublicKey:
    """Return a public key from its line in OpenSSH's form; a line with options before the key is refused.

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
    """Return True when a model has SSH keys, or had any before."""
    return tx.scalar("model_config_get", key=KEY) is not None


def written(tx: ModelTx, machine: str, what: list[str]) -> None:
    """Record that a machine has the keys that were written, unless the model's keys have changed since."""
    if lines(tx) == what:
        tx.run("keys_written", id=machine)
