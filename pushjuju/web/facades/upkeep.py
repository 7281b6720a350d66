"""Backups, versions of models, and SSH access to machines. Mirrors: juju apiserver/facades/client (3.6)"""

from __future__ import annotations

import platform
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypedDict

from pushjuju import JUJU_VERSION
from pushjuju.core.clock import to_iso
from pushjuju.services.entities.basis import network
from pushjuju.services.entities.model import models
from pushjuju.services.requests.controller import backups
from pushjuju.services.requests.model import model_config
from pushjuju.services.views import ssh_targets
from pushjuju.services.views.ssh_targets import Machine
from pushjuju.web import errors, tags
from pushjuju.web.call import reach, result_of
from pushjuju.web.registry import Facade, Needs, facade, method
from pushjuju.web.shapes.common import Entities, Results
from pushjuju.workers.provision import hostkeys

_NONE = "0.0.0"
_ELSEWHERE = "backups are only supported from the controller model"
_GIVEN = "manual"  # provider of machines that exist already
UseProxy = TypedDict("UseProxy", {"use-proxy": bool})


@facade("SSHClient")
class SSHClient(Facade):
    """How the machines of the model are reached."""

    @method(Needs.ADMIN)
    def public_address(self, params: Entities) -> Results:
        """Return the addresses by which users reach machines and the machines of units.

        Not in Juju: `port` and `user`, where these are not 22 and ubuntu.
        """
        return self._each(
            params, lambda machine: {"address": _required(network.public_address(machine)), **_login(machine)}
        )

    @method(Needs.ADMIN)
    def private_address(self, params: Entities) -> Results:
        """Return the addresses by which other machines of the model reach machines."""
        return self._each(params, lambda machine: {"address": _required(network.private_address(machine))})

    @method(Needs.ADMIN)
    def all_addresses(self, params: Entities) -> Results:
        return self._each(params, lambda machine: {"addresses": _addresses(machine)})

    @method(Needs.ADMIN)
    def public_keys(self, params: Entities) -> Results:
        """Return the known host keys of machines."""
        return self._each(params, lambda machine: {"public-keys": self._keys(machine)})

    def _keys(self, machine: Machine) -> list[str]:
        file, name = hostkeys.file_of(self.ctx, machine)
        return file.find(name) or list(machine.ssh.get("host_keys") or ())

    def _each(self, params: Entities, answer: Callable[[Machine], dict[str, object]]) -> Results:
        return {"results": [result_of(self._one, item.tag, answer) for item in params.entities]}

    def _one(self, tag: str, answer: Callable[[Machine], dict[str, object]]) -> dict[str, object]:
        if tags.kind_of(tag) not in ("machine", "unit"):
            raise errors.denied()
        return answer(ssh_targets.machine_of(self.ctx, self.model, tags.name_of(tag)))

    @method(Needs.ADMIN)
    def proxy(self) -> UseProxy:
        """Return the setting that says whether clients reach machines through the controller."""
        with self.ctx.read(self.model) as tx:
            found = models.get(tx)
        return {"use-proxy": bool(model_config.effective(self.ctx, found)["proxy-ssh"]["value"])}

    @method(Needs.SUPERUSER, name="ModelCredentialForSSH")
    def model_credential_for_ssh(self) -> None:
        """Refuse: clients need a credential for Kubernetes only."""
        raise errors.not_supported("facade not supported for models on machines")

    @method(Needs.ADMIN, since=5)
    def virtual_hostname(self) -> None:
        """Refuse: the controller does not run an SSH server."""
        raise errors.not_supported("the controller is no SSH server")


def _addresses(machine: Machine) -> list[str]:
    return [str(entry["value"]) for entry in machine.addresses]


def _login(machine: Machine) -> dict[str, object]:
    """Return port and user of a machine's SSH server, where these differ from those of a cloud's machines."""
    found = {key: machine.ssh[key] for key in ("port", "user") if machine.ssh.get(key)}
    if machine.provider != _GIVEN:
        found.pop("user", None)
    return found


def _required(address: str) -> str:
    if not address:
        raise errors.ApiError("no address set", "no address set")
    return address


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupsCreate:
    """A backup to make; the controller keeps the file until the client has downloaded it."""

    notes: str = ""
    no_download: bool = False


@facade("Backups")
class Backups(Facade):
    """Backups of the whole controller, with its private keys."""

    @method(Needs.SUPERUSER, changes=True)
    def create(self, params: BackupsCreate) -> dict[str, object]:
        """Make a backup, and return its metadata."""
        if self.call.model is None or not models.is_controller(self.call.model):
            raise errors.not_supported(_ELSEWHERE)
        made = backups.create_kept(self.ctx, params.notes)
        finished = to_iso(self.ctx.clock.now())
        return {
            "id": made.path.name,
            "filename": made.path.name,
            "checksum": backups.checksum(made.path),
            "checksum-format": "SHA-1, base64 encoded",
            "size": made.path.stat().st_size,
            "stored": finished,
            "started": made.meta["started"],
            "finished": finished,
            "notes": params.notes,
            "model": self.model,
            "machine": "",
            "hostname": platform.node(),
            "version": JUJU_VERSION,
            "base": "",
            "format-version": made.meta["format"],
            "controller-uuid": self.call.server.controller_uuid,
            "controller-machine-id": "",
            "controller-machine-inst-id": "",
            "ha-nodes": 1,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class UpgradeModel:
    """The version to upgrade a model to; empty or zero for the newest."""

    model_tag: str = ""
    target_version: str = ""
    dry_run: bool = False


@facade("ModelUpgrader")
class ModelUpgrader(Facade):
    """Models have no agents: each has the version of the controller."""

    @method(Needs.LOGIN)
    def upgrade_model(self, params: UpgradeModel) -> dict[str, object]:
        """Return the version of a model that the caller administers."""
        reach(self.ctx, tags.model_to_reach(params.model_tag), "admin")
        if params.target_version not in ("", _NONE, JUJU_VERSION):
            text = "no matching agent versions available"
            return {"chosen-version": _NONE, "error": {"message": text, "code": "not found"}}
        return {"chosen-version": JUJU_VERSION}

    @method(Needs.SUPERUSER)
    def abort_model_upgrade(self, model_tag: str) -> None:
        """Do nothing: no upgrade is ever under way."""
        reach(self.ctx, tags.model_to_reach(model_tag), "admin")
