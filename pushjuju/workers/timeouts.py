"""A cloud that never answers is a failure like any other."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from pushjuju.core.errors import InstanceGone, NotFound, ProviderError
from pushjuju.plugins.api.targets import SSHTarget
from pushjuju.store.rows.records import Machine

START_S = 3600.0  # an image that is fetched first, or a bare-metal machine that a provider waits for
STORAGE_S = 900.0  # a volume that is made or attached
CALL_S = 300.0  # one call for a list, a check, an end

T = TypeVar("T")


def lost(machine: Machine) -> InstanceGone:
    """Return the error of a machine whose instance the cloud does not know any more."""
    return InstanceGone(
        f"machine {machine.id} is gone from its cloud: no instance {machine.instance_id}",
        hint=f"pushjuju remove-machine {machine.id} --force",
    )


async def login(machine: Machine, asked: Awaitable[SSHTarget]) -> SSHTarget:
    """Return how a machine's instance answers, as its provider says."""
    try:
        return await asked
    except NotFound as gone:
        raise lost(machine) from gone


async def within(seconds: float, call: Awaitable[T]) -> T:
    """Wait for a provider's answer.

    Raises:
        ProviderError: The answer did not come in time.
    """
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            return await call
    except TimeoutError as error:
        if not limit.expired():
            raise  # of the provider's own
        minutes = max(round(seconds / 60), 1)
        raise ProviderError(f"the cloud did not answer within {minutes} minutes", detail=str(error)) from None
