"""The files of `JUJU_DATA`, in which Juju's clients find a controller. Mirrors: juju jujuclient (3.6)"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from pushjuju import JUJU_VERSION
from pushjuju.core.errors import AlreadyExists
from pushjuju.services.entities.basis import passwords
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.cloud import clouds
from pushjuju.services.entities.model import models
from pushjuju.services.requests.user import passwords as requests
from pushjuju.services.requests.user import registration_string
from pushjuju.store import processes, ssh_key
from pushjuju.store.files.private import private_dir, replace_text
from pushjuju.web import certificates
from pushjuju.web.server import Address, names_of

_KEY = "juju_id_rsa"


def write(ctx: Context, folder: Path, listen: Sequence[Address], user: str) -> None:
    """Write the files for a user, with a new password."""
    if (folder / "controllers.yaml").exists():
        raise AlreadyExists(f"{folder} has files of a Juju client already", hint="name a new folder")
    password = passwords.generate()
    requests.set_password(ctx, user, password)
    found = certificates.of_hosts(ctx.controller, names_of(listen))
    private_dir(folder)
    private_dir(folder / "ssh")
    private_dir(folder / "cookies")
    private, public = ssh_key.new_pair()
    replace_text(folder / "ssh" / _KEY, private)
    replace_text(folder / "ssh" / f"{_KEY}.pub", f"{public} juju-client-key\n")
    name = ctx.controller.name
    account = {"user": user, "password": password, "last-known-access": "superuser"}
    replace_text(folder / "cookies" / f"{name}.json", "[]")
    _put(folder / "accounts.yaml", {"controllers": {name: account}})
    _put(folder / "models.yaml", {"controllers": {name: _models(ctx, user)}})
    with ctx.store.read() as tx:
        others = processes.served(tx, ctx.store.lives)
    endpoints = list(dict.fromkeys([*map(_endpoint, listen), *others]))
    about = _controller(ctx, endpoints, found.ca.read_text())
    _put(folder / "controllers.yaml", {"controllers": {name: about}, "current-controller": name})


def _put(path: Path, document: dict[str, Any]) -> None:
    replace_text(path, yaml.safe_dump(document, sort_keys=False))


def _endpoint(address: Address) -> str:
    host = "127.0.0.1" if address.is_every else address.host
    return registration_string.address_text(host, address.port)


def _controller(ctx: Context, endpoints: list[str], ca: str) -> dict[str, Any]:
    settings = ctx.controller.settings()
    return {
        "uuid": settings.get("uuid", ""),
        "api-endpoints": endpoints,
        "ca-cert": ca,
        "cloud": settings.get("cloud", ""),
        "region": settings.get("region", ""),
        "type": clouds.definition(clouds.folders(ctx.datadir, ctx.controller), str(settings["cloud"])).type,
        "agent-version": JUJU_VERSION,
        "controller-machine-count": 1,
        "active-controller-machine-count": 1,
        "machine-count": 1,
    }


def _models(ctx: Context, user: str) -> dict[str, Any]:
    """Return the controller's entry of models.yaml: the user's models. libjuju needs even an empty entry."""
    with ctx.store.read() as tx:
        seen = [model for model in models.listed(tx) if models.access_level(tx, user, model)]
    found: dict[str, Any] = {"models": {m.qualified: {"uuid": m.uuid, "type": "iaas"} for m in seen}}
    current = ctx.controller.settings().get("current-model")
    return {**found, "current-model": current} if current in found["models"] else found
