"""The way to a machine: directly, or through jump hosts.

A machine that its cloud reaches through a host says so in its row. For all others the model may name one,
`ssh-jump-host`; what a user's `~/.ssh/config` says of a host holds where neither does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pushjuju.core import jumps
from pushjuju.services.entities.basis import wake
from pushjuju.services.entities.model import model_config
from pushjuju.store.tx import ModelTx

KEY = "ssh-jump-host"
ALWAYS = "proxy-ssh"  # Juju's key: whether ssh and scp use the jump host by default


def to(tx: ModelTx, ssh: Mapping[str, Any]) -> tuple[jumps.Hop, ...]:
    """Return the jump hosts on the way to a machine, the nearest to us first.

    Args:
        ssh: The login in the machine's row: {host, jump, ...}.
    """
    return jumps.parse(str(ssh.get("jump") or model_config.get(tx, KEY) or ""))


def is_asked_for(tx: ModelTx) -> bool:
    """Return True when a model wants every SSH session to go through a jump host."""
    return bool(model_config.get(tx, ALWAYS))


def changed(tx: ModelTx) -> None:
    """Have all machines of a model tried at once: the old way may have been the wrong one."""
    for row in tx.rows("machine_list"):
        wake.machine(tx, row["id"], f"{KEY} changed")
