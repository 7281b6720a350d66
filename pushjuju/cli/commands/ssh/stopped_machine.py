"""A machine that is stopped and that somebody wants to log in to."""

from __future__ import annotations

import asyncio

from pushjuju.cli.syntax.command import Cli
from pushjuju.cli.work import session, waiting
from pushjuju.services.requests.machine import provisioning
from pushjuju.services.views.ssh_targets import Machine
from pushjuju.workers.machine.contact import can_resume
from pushjuju.workers.runtime import Runtime


def start(cli: Cli, opened: session.Session, machine: Machine) -> None:
    """Start a machine of this computer when it is stopped."""
    if not asyncio.run(can_resume(Runtime(opened.ctx, warn=cli.console.warn), machine)):
        return
    cli.console.info(f"machine {machine.id} is stopped; starting it")
    provisioning.contact(opened.ctx, opened.uuid, machine.id, "a person logs in")
    waiting.foreground(cli, opened, lambda: True)
