"""Time limits for calls to clouds: a cloud that does not answer is a failure like any other."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from pushjuju.core.errors import InstanceGone, NotFound, ProviderError
from pushjuju.plugins.api.targets import SSHTarget
from pushjuju.store.rows.records import Machine

START_S = 3600.0  # to start an instance: it may fetch an image, or wait for bare metal
STORAGE_S = 900.0  # to make or attach a volume
CALL_S = 300.0  # for other calls: a list, a check, an end

T = TypeVar("T")


def lost(machine: Machine) -> InstanceGone:
    """Return the error of a machine whose instance does not exist in the cloud any more."""
    return InstanceGone(
        f"machine {machine.id} is gone from its cloud: no instance {machine.instance_id}",
        hint=f"pushjuju remove-machine {machine.id} --force",
    )


async def login(machine: Machine, asked: Awaitable[SSHTarget]) -> SSHTarget:
    """Return the SSH target that a provider reports for a machine."""
    try:
        return await asked
    except NotFound as gone:
        raise lost(machine) from gone


async def within(seconds: float, call: Awaitable[T]) -> T:
    """Wait for a call of a provider and return its result.

    Raises:
        ProviderError: The call did not end in time.
    """
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            return await call
    except TimeoutError as error:
        if not limit.expired():
            raise  # a time limit inside of the provider
        minutes = max(round(seconds / 60), 1)
        raise ProviderError(f"the cloud did not answer within {minutes} minutes", detail=str(error)) from None
