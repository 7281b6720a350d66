"""The firewall rules of a model's machines, and which machines must apply their rules again.

A machine's rules are computed from the model each time; a change of the model only marks machines whose rules
may be different. A machine with a firewall has a row in `machine_firewall` from its first contact on; models
without firewalls pay for one query of an empty table. A change that concerns all machines is counted once, in
`model_firewall`.

Mirrors: juju worker/firewaller/firewaller.go (3.6)
"""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from functools import lru_cache
from typing import Any

from pushjuju.core import firewall, limits
from pushjuju.core.model.ports import OpenPort, PortRange
from pushjuju.core.names import UnitName
from pushjuju.core.values import changed
from pushjuju.services.entities.basis import network
from pushjuju.services.entities.basis import wake as waker
from pushjuju.services.entities.model import model_config
from pushjuju.store.processes import TRACE
from pushjuju.store.queue import machine_key
from pushjuju.store.rows.records import ExposedEndpoint, MachineFirewall, Port
from pushjuju.store.tx import ModelTx

MODE = "firewall-mode"
SSH_ALLOW = "ssh-allow"
SAAS_ALLOW = "saas-ingress-allow"
EGRESS = "egress-subnets"
DEFAULT_SSH_PORT = 22


class Mode(StrEnum):
    """The firewall mode of a model: rules for each machine, equal rules for all machines, or no firewall."""

    INSTANCE = "instance"
    GLOBAL = "global"
    NONE = "none"


def mode(tx: ModelTx) -> Mode:
    """Return the firewall mode of a model, which is fixed when the model is added."""
    return Mode(model_config.get(tx, MODE))


def is_asked_for(tx: ModelTx) -> bool:
    """Return True when a user set the firewall mode of a model, instead of the default."""
    return MODE in model_config.stored(tx)


# --- machines whose rules have changed --------------------------------------------------------------------


def changed_on(tx: ModelTx, machine: str | None, reason: str) -> None:
    """Wake a machine whose rules may have changed; every machine when `firewall-mode` is global."""
    if mode(tx) is Mode.GLOBAL:
        changed_everywhere(tx, reason)
    elif machine is not None:
        _change(tx, [machine], reason)


def changed_of(tx: ModelTx, application: str, reason: str) -> None:
    """Wake the machines of an application, whose rules may have changed; every machine in mode `global`."""
    if mode(tx) is Mode.GLOBAL:
        changed_everywhere(tx, reason)
    else:
        rows = tx.rows("application_machines", application=application)
        _change(tx, [row["machine"] for row in rows], reason)


def let_in(tx: ModelTx) -> None:
    """Mark all machines, because a new machine, or a new address of a machine, changes their rules.

    No machine is woken here: `joined` wakes those that relations connect with the new machine.
    """
    tx.run("firewall_change_all")


def joined(tx: ModelTx, application: str, machine: str, reason: str) -> None:
    """Wake the marked machines of all applications that relations connect with an application.

    A unit that joins a relation may learn addresses of units that are two or more relations away.
    """
    if tx.scalar("firewall_is_behind", machine=machine):
        waker.firewall(tx, reason, application)


def changed_everywhere(tx: ModelTx, reason: str) -> None:
    """Mark all machines of a model with a firewall, because the rules of each may have changed.

    Machines that a process works on apply their rules at once; a loop wakes the others together (`wake`).
    Otherwise each machine of a growing fleet would make all others apply their rules once more.
    """
    if tx.run("firewall_change_all"):
        waker.firewall(tx, reason)


def guarded(tx: ModelTx) -> int:
    """Return the number of machines of a model that have a firewall."""
    return int(tx.scalar("firewall_count"))


def wake(tx: ModelTx, application: str, reason: str) -> None:
    """Wake the machines that are marked because their rules may have changed.

    Args:
        application: Only machines of applications connected with this one by relations; empty for all.
    """
    key = {"workers": machine_key(tx.model, ""), "due": tx.now, "reason": reason, "trace": TRACE.get()}
    if application:
        tx.run("firewall_wake_connected", **key, application=application)
    else:
        tx.run("firewall_wake", **key)


def _change(tx: ModelTx, machines: Iterable[str], reason: str) -> None:
    for machine in machines:
        if tx.run("firewall_change", machine=machine):
            waker.machine(tx, machine, reason)


# --- the rules --------------------------------------------------------------------------------------------


def rules(tx: ModelTx, machine: str, known: MachineFirewall) -> firewall.MachineRules:
    """Return all firewall rules of a machine.

    Args:
        known: The record of the machine's firewall, with the SSH port and the addresses that reached it.
    """
    return firewall.MachineRules(
        ingress=firewall.merged(_ingress(tx, machine)),
        mates=_mates(tx),
        ssh=_ssh(tx, known.peers),
        ssh_port=known.ssh_port or DEFAULT_SSH_PORT,
    )


def _ingress(tx: ModelTx, machine: str) -> Iterator[firewall.IngressRule]:
    """Yield the ingress rules of the units on a machine, or of all units in mode `global`."""
    if mode(tx) is Mode.GLOBAL:
        exposed = tx.list(ExposedEndpoint, "exposure_of_model")
        links = tx.rows("ingress_of_model")
        ports = tx.list(Port, "port_list") if exposed or links else []
    else:
        exposed = tx.list(ExposedEndpoint, "exposure_on_machine", machine=machine)
        links = tx.rows("ingress_on_machine", machine=machine)
        ports = tx.list(Port, "port_on_machine", machine=machine) if exposed or links else []
    exposures: dict[str, list[firewall.Exposure]] = {}
    for row in exposed:
        exposures.setdefault(row.application, []).append(exposure(row))
    subnets = space_subnets(tx) if any(row.spaces for row in exposed) else {}
    consumers = _consumers(tx, links)
    for unit, opened in _by_unit(ports).items():
        application = UnitName.parse(unit).application
        yield from firewall.unit_ingress(opened, exposures.get(application, ()), subnets)
        if application not in exposures and (sources := consumers.get(application)):
            yield from (
                firewall.IngressRule(item, sources) for item in sorted({port.range for port in opened})
            )


# --- relations to other models ----------------------------------------------------------------------------


def _consumers(tx: ModelTx, links: Iterable[Any]) -> dict[str, tuple[str, ...]]:
    """Return application -> subnets of other models' units that reach it, unless it is exposed.

    Mirrors: juju worker/firewaller/firewaller.go ingressRulesForNonExposedMachineUnit (3.6)
    """
    found: dict[str, set[str]] = {}
    for link in links:
        sources = egress_of(tx.beside(link["far_model"]), link["far_relation"])
        if not ingress_problem(tx, sources):
            found.setdefault(link["application"], set()).update(sources)
    return {name: tuple(sorted(sources)) for name, sources in found.items() if sources}


def egress_of(tx: ModelTx, relation: int) -> list[str]:
    """Return the subnets from which the units of a model reach the other model of a relation.

    These are the subnets of `--via`, else the model's `egress-subnets`, else each unit's public address.
    """
    row = tx.row("relation_get", id=relation)
    told = row["egress"] if row is not None else ""
    said = firewall.split(told) or firewall.split(str(model_config.get(tx, EGRESS) or ""))
    if said:
        return list(firewall.collapsed(said))
    rows = tx.rows("scope_addresses", relation=relation)
    public = (_public(json.loads(row["addresses"]), json.loads(row["ssh"])) for row in rows)
    return list(firewall.collapsed(network.single_subnet(address) for address in public if address))


def ingress_problem(tx: ModelTx, sources: Iterable[str]) -> str:
    """Return why a model refuses traffic from subnets of another model; empty when it accepts all of them.

    Mirrors: juju apiserver/common/crossmodel CheckIngressNetworks (3.6)
    """
    allowed = [
        ipaddress.ip_network(text, strict=False)
        for text in firewall.split(str(model_config.get(tx, SAAS_ALLOW) or ""))
    ]
    for text in sources:
        wanted = ipaddress.ip_network(text)
        if not any(item.version == wanted.version and _holds(item, wanted) for item in allowed):
            return f"subnet {text} not in firewall whitelist"
    return ""


def _holds(outer: Any, inner: Any) -> bool:
    return bool(inner.subnet_of(outer))


def exposure(row: ExposedEndpoint) -> firewall.Exposure:
    """Return the value of a stored exposure."""
    return firewall.Exposure(endpoint=row.endpoint, spaces=tuple(row.spaces), cidrs=tuple(row.cidrs))


def _by_unit(ports: Iterable[Port]) -> dict[str, list[OpenPort]]:
    found: dict[str, list[OpenPort]] = {}
    for port in ports:
        range_ = PortRange(port.protocol, port.from_port, port.to_port)
        found.setdefault(port.unit, []).append(OpenPort(port.endpoint, range_))
    return found


def space_subnets(tx: ModelTx) -> Mapping[str, list[str]]:
    """Return name of a space -> its subnets, for each space of a model."""
    called = {network.ALPHA_ID: network.ALPHA}
    called.update({row["id"]: row["name"] for row in tx.rows("space_list")})
    found: dict[str, list[str]] = {name: [] for name in called.values()}
    for row in tx.rows("subnet_list"):
        found[called[row["space"]]].append(row["cidr"])
    return found


def _mates(tx: ModelTx) -> tuple[str, ...]:
    """Return the addresses of the model's machines: the addresses for SSH, and those that machines report.

    A machine may report a wrong address, but it could forward traffic from that address anyway.
    """
    return tx.made(_all_mates, "machine_reach")


def _all_mates(rows: Iterable[Any]) -> tuple[str, ...]:
    found = {text for row in rows for text in _mates_of(row["addresses"], row["ssh"])}
    return firewall.collapsed(sorted(found))


def known_by(addresses: Any, ssh: Mapping[str, Any]) -> frozenset[str]:
    """Return the addresses of a machine that the other machines of its model let in."""
    return _mates_of(json.dumps(addresses), json.dumps(dict(ssh)))


def _public(addresses: Any, ssh: Mapping[str, Any]) -> str:
    return network.public(addresses) or str(ssh.get("host", ""))


@lru_cache(maxsize=4096)  # with each new machine, all others compute the addresses of the whole fleet
def _mates_of(addresses: str, ssh: str) -> frozenset[str]:
    claimed = [item["value"] for item in json.loads(addresses)][: limits.MATES]
    return frozenset(text for text in (*claimed, str(json.loads(ssh).get("host", ""))) if _is_mate(text))


def _is_mate(text: str) -> bool:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False  # a host name; the addresses that the machine reports are used
    return not (
        address.is_loopback or address.is_link_local or address.is_unspecified or address.is_multicast
    )


def ssh_allow(tx: ModelTx) -> list[str]:
    """Return the CIDRs that may reach the SSH ports of a model's machines, as users wrote them."""
    return firewall.split(str(model_config.get(tx, SSH_ALLOW)))


def _ssh(tx: ModelTx, peers: Iterable[str]) -> tuple[str, ...]:
    """Return the networks that may reach the SSH port: those of `ssh-allow`, and those of the controllers.

    As long as no address of a controller is known, all networks may.
    """
    allowed, peers = firewall.collapsed(ssh_allow(tx)), tuple(peers)
    if set(firewall.EVERYWHERE) <= set(allowed) or not peers:
        return firewall.EVERYWHERE
    return firewall.collapsed([*allowed, *peers])


# --- records of firewalls ---------------------------------------------------------------------------------


def state(tx: ModelTx, machine: str) -> MachineFirewall | None:
    """Return the record of a machine's firewall, or None when no rule was ever applied.

    Its `changes` count those of the machine and those of all machines of the model.
    """
    found = tx.find(MachineFirewall, "firewall_get", machine=machine)
    if found is None:
        return None
    return changed(found, changes=found.changes + (tx.scalar("firewall_changes_of_all") or 0))


def reached(tx: ModelTx, known: MachineFirewall, peer: str, port: int) -> MachineFirewall | None:
    """Record the address from which a machine's SSH port was reached; return None when nothing changed."""
    peers = [*(other for other in known.peers if other != peer), *([peer] if peer else [])][-limits.PEERS :]
    if sorted(peers) == sorted(known.peers) and port == known.ssh_port:
        return None
    values: dict[str, object] = {"ssh_port": port, "peers": json.dumps(peers)}
    tx.run("firewall_reached", machine=known.machine, **values)
    return state(tx, known.machine)
