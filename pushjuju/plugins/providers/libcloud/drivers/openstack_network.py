"""Networks, security groups and floating IPs of one model, through Neutron. Blocking.

libcloud's own calls can neither make rules for IPv6 nor assign a floating IP to a port in the same request.
Mirrors: juju provider/openstack/{firewaller,networking}.go (3.6)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pushjuju.core.errors import NotValid
from pushjuju.core.firewall import EVERYWHERE, MachineRules

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, order=True)
class Rule:
    """One ingress rule; either `prefix` (a CIDR) or `group` (the id of a group) is set."""

    ethertype: str
    protocol: str = ""
    first: int | None = None
    last: int | None = None
    prefix: str = ""
    group: str = ""

    def body(self, group: str) -> Json:
        """Return the body of the request that adds the rule to a group."""
        found: Json = {"direction": "ingress", "security_group_id": group, "ethertype": self.ethertype}
        pairs = {
            "protocol": self.protocol,
            "port_range_min": self.first,
            "port_range_max": self.last,
            "remote_ip_prefix": self.prefix,
            "remote_group_id": self.group,
        }
        found |= {key: value for key, value in pairs.items() if value not in ("", None)}
        return {"security_group_rule": found}


def read_rule(data: Mapping[str, Any]) -> Rule:
    """Return the rule that a document of Neutron describes."""
    return Rule(
        ethertype=str(data["ethertype"]),
        protocol=str(data.get("protocol") or ""),
        first=data.get("port_range_min"),
        last=data.get("port_range_max"),
        prefix=str(data.get("remote_ip_prefix") or ""),
        group=str(data.get("remote_group_id") or ""),
    )


def within(group: str) -> set[Rule]:
    """Return the rules of the model's group: its members reach each other, and SSH is open to all."""
    mates = {Rule(ethertype=version, group=group) for version in ("IPv4", "IPv6")}
    return mates | {_from(cidr, "tcp", 22, 22) for cidr in EVERYWHERE}


def outside(rules: MachineRules) -> set[Rule]:
    """Return the rules of a machine's own group."""
    found = set()
    for item in rules.ingress:
        for cidr in item.sources:
            if item.range.protocol == "icmp":
                found.add(_from(cidr, "ipv6-icmp" if ":" in cidr else "icmp", None, None))
            else:
                found.add(_from(cidr, item.range.protocol, item.range.from_port, item.range.to_port))
    return found


def _from(cidr: str, protocol: str, first: int | None, last: int | None) -> Rule:
    version = "IPv6" if ":" in cidr else "IPv4"
    return Rule(ethertype=version, protocol=protocol, first=first, last=last, prefix=cidr)


class Neutron:
    """The requests of one driver to Neutron.

    Args:
        driver: libcloud's driver; only one thread uses it.
        model: The UUID of the model, which is in the names of all its resources.
    """

    def __init__(self, driver: Any, model: str) -> None:
        self._connection = driver.network_connection
        self._model = model

    def _ask(self, method: str, path: str, body: Json | None = None, **query: str) -> Json:
        answer = self._connection.request(
            f"/v2.0/{path}", params=query, data=body or "", method=method
        ).object
        return answer if isinstance(answer, dict) else {}

    # --- networks -----------------------------------------------------------------------------------------

    def networks(self, wanted: str) -> list[str]:
        """Return the ids of the networks for a machine.

        Args:
            wanted: Names or ids, separated by commas; empty for the only network of the project.
        """
        listed = self._ask("GET", "networks")["networks"]
        if wanted:
            return [self._named(listed, item.strip()) for item in wanted.split(",") if item.strip()]
        inside = [item for item in listed if not item.get("router:external")]
        if len(inside) > 1:
            names = ", ".join(sorted(str(item["name"]) for item in inside))
            raise NotValid(
                f"the project has several networks: {names}", hint="pushjuju model-config network=NAME"
            )
        return [str(item["id"]) for item in inside]

    def external(self, wanted: str) -> str:
        """Return the id of the network that provides floating IPs."""
        listed = [item for item in self._ask("GET", "networks")["networks"] if item.get("router:external")]
        if wanted:
            return self._named(listed, wanted)
        if not listed:
            raise NotValid(
                "no external network found: allocate-public-ip needs one",
                hint="pushjuju model-config external-network=NAME",
            )
        return str(min(listed, key=lambda item: str(item["name"]))["id"])

    @staticmethod
    def _named(listed: Sequence[Mapping[str, Any]], wanted: str) -> str:
        found = [str(item["id"]) for item in listed if wanted in (item["id"], item["name"])]
        if len(found) != 1:
            names = ", ".join(sorted(str(item["name"]) for item in listed)) or "none"
            word = "several networks are called" if found else "there is no network"
            raise NotValid(f"{word} {wanted}; there are: {names}")
        return found[0]

    # --- security groups ----------------------------------------------------------------------------------

    def group_name(self, machine: str = "") -> str:
        """Return the name of the model's group, or of a machine's group."""
        return f"juju-{self._model}" + (f"-{machine.replace('/', '-')}" if machine else "")

    def find_group(self, name: str) -> str:
        """Return the id of a group; empty when the group does not exist."""
        found = self._ask("GET", "security-groups", name=name)["security_groups"]
        return min((str(item["id"]) for item in found), default="")

    def ensure_group(self, name: str) -> str:
        """Return the id of a group; make the group when it does not exist."""
        found = self.find_group(name)
        if found:
            return found
        body = {"security_group": {"name": name, "description": "juju group"}}
        return str(self._ask("POST", "security-groups", body)["security_group"]["id"])

    def set_rules(self, group: str, wanted: Iterable[Rule]) -> None:
        """Set the ingress rules of a group to exactly these."""
        listed = self._ask("GET", "security-group-rules", security_group_id=group, direction="ingress")[
            "security_group_rules"
        ]
        now, then = {read_rule(item): str(item["id"]) for item in listed}, set(wanted)
        for rule in sorted(then - set(now), key=str):
            try:
                self._ask("POST", "security-group-rules", rule.body(group))
            except Exception as error:
                if getattr(error, "code", 0) != 409 or "exists" not in str(error):
                    raise  # else another process has made the change already
        for rule in sorted(set(now) - then, key=str):
            self._delete(f"security-group-rules/{now[rule]}")

    def drop_groups(self, machine: str = "") -> None:
        """Delete a machine's group, or all groups of the model.

        Raises:
            Exception: A group is in use; the error is libcloud's.
        """
        name = self.group_name(machine)
        answer = (
            self._ask("GET", "security-groups", name=name) if machine else self._ask("GET", "security-groups")
        )
        found = answer["security_groups"]
        own = [item for item in found if item["name"] == name]
        if not machine:
            own += [item for item in found if str(item["name"]).startswith(f"{name}-")]
        for item in own:
            self._delete(f"security-groups/{item['id']}")

    # --- floating IPs -------------------------------------------------------------------------------------

    def ensure_floating(self, server: str, external: str) -> bool:
        """Give a server a floating IP; return False when the server has no port yet."""
        ports = [str(item["id"]) for item in self._ask("GET", "ports", device_id=server)["ports"]]
        if not ports:
            return False
        if not any(item["port_id"] in ports for item in self._floating()):
            body = {"floating_network_id": external, "port_id": min(ports), "description": self.group_name()}
            self._ask("POST", "floatingips", {"floatingip": body})
        return True

    def drop_floating(self, server: str = "") -> None:
        """Delete the floating IPs of a server, or all floating IPs of the model."""
        found = self._floating()
        if server and found:
            ports = {str(item["id"]) for item in self._ask("GET", "ports", device_id=server)["ports"]}
            found = [item for item in found if item["port_id"] in ports]
        for item in found:
            self._delete(f"floatingips/{item['id']}")

    def _floating(self) -> list[Json]:
        listed = self._ask("GET", "floatingips", description=self.group_name())["floatingips"]
        return [item for item in listed if item.get("description") == self.group_name()]

    def _delete(self, path: str) -> None:
        try:
            self._ask("DELETE", path)
        except Exception as error:
            if getattr(error, "code", 0) != 404:
                raise
