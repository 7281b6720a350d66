"""Starts a stopped machine that a user wants to log in to."""

from __future__ import annotations

import asyncio

from pushjuju.cli.syntax.command import Cli
from pushjuju.cli.work import waiting
from pushjuju.services.entities.model import sessions
from pushjuju.services.requests.machine import provisioning
from pushjuju.services.views import ssh_targets
from pushjuju.workers import runtime
from pushjuju.workers.machine import contact


def start(cli: Cli, opened: sessions.Session, machine: ssh_targets.Machine) -> None:
    """Start a machine on this computer when it is stopped."""
    if not asyncio.run(contact.can_resume(runtime.Runtime(opened.ctx, warn=cli.console.warn), machine)):
        return
    cli.console.info(f"machine {machine.id} is stopped; starting it")
    provisioning.contact(opened.ctx, opened.uuid, machine.id, "a person logs in")
    waiting.attend(cli, opened, lambda: True)
