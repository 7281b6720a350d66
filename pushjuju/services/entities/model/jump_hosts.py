"""Finds the jump hosts through which a machine is reached.

The row of a machine names the jump host that its cloud needs. For other machines the model's `ssh-jump-host`
counts; when neither names a host, the user's `~/.ssh/config` decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pushjuju.core import jumps
from pushjuju.services.entities.basis import wake
from pushjuju.services.entities.model import model_config
from pushjuju.store.tx import ModelTx

KEY = "ssh-jump-host"
ALWAYS = "proxy-ssh"  # Juju's key: True when ssh and scp use the jump host by default


def to(tx: ModelTx, ssh: Mapping[str, Any]) -> tuple[jumps.Hop, ...]:
    """Return the jump hosts on the way to a machine, beginning with the host that is connected to first.

    Args:
        ssh: The login in the machine's row: {host, jump, ...}.
    """
    return jumps.parse(str(ssh.get("jump") or model_config.get(tx, KEY) or ""))


def is_asked_for(tx: ModelTx) -> bool:
    """Return True when a model's `proxy-ssh` sends every `ssh` and `scp` through a jump host."""
    return bool(model_config.get(tx, ALWAYS))


def changed(tx: ModelTx) -> None:
    """Wake all machines of a model, as unreachable ones may be reachable through the new host."""
    for row in tx.rows("machine_list"):
        wake.machine(tx, row["id"], f"{KEY} changed")
