"""SSHClient: addresses and keys of machines. Mirrors: juju apiserver/facades/client/sshclient (3.6)"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypedDict

from pushjuju.services.entities.basis import network
from pushjuju.services.entities.model import models
from pushjuju.services.requests.model import model_config
from pushjuju.services.views import ssh_targets
from pushjuju.services.views.ssh_targets import Machine
from pushjuju.web import errors, tags
from pushjuju.web.call import result_of
from pushjuju.web.registry import Facade, Needs, facade, method
from pushjuju.web.shapes.common import Entities, Results
from pushjuju.workers.provision import hostkeys

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
