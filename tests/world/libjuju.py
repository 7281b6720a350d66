"""python-libjuju as a client of an API server."""

from __future__ import annotations

import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.world.api import PASSWORD, ApiWorld

with warnings.catch_warnings():  # libjuju uses deprecated names of websockets
    warnings.simplefilter("ignore")
    from juju.client.client import Cloud as CloudShape
    from juju.client.client import CloudCredential as CredentialShape
    from juju.client.client import ConfigValue
    from juju.controller import Controller
    from juju.model import Model

__all__ = ["CloudShape", "ConfigValue", "Controller", "CredentialShape", "controller_of", "model_of"]


def _way_in(served: ApiWorld, user: str, password: str) -> dict[str, Any]:
    return {"endpoint": served.endpoint, "username": user, "password": password, "cacert": served.api.ca}


@asynccontextmanager
async def model_of(
    served: ApiWorld, uuid: str, user: str = "admin", password: str = PASSWORD
) -> AsyncIterator[Any]:
    model = Model()
    await model.connect(uuid=uuid, **_way_in(served, user, password))
    try:
        yield model
    finally:
        await model.disconnect()


@asynccontextmanager
async def controller_of(
    served: ApiWorld, user: str = "admin", password: str = PASSWORD
) -> AsyncIterator[Any]:
    controller = Controller()
    await controller.connect(**_way_in(served, user, password))
    try:
        yield controller
    finally:
        await controller.disconnect()
