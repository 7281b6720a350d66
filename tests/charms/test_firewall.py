"""Open and exposed ports on real machines: tried by connecting from where it may and may not work."""

from __future__ import annotations

import socket
from dataclasses import dataclass

import pytest

from pushjuju.testing.machines import LocalCloud
from tests.charms.client import HELLO, Client

pytestmark = pytest.mark.machine

WEB = 8080
TABLE = "nft list table inet pushjuju"
FOREIGN = """
add table ip foreign
add chain ip foreign input { type filter hook input priority 10; policy accept; }
add rule ip foreign input tcp dport 9999 drop
add table inet other
add set inet other names { type ipv4_addr; }
add element inet other names { 192.0.2.1 }
"""
KEPT = "nft list table ip foreign; nft list table inet other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hosts:
    """Machine 0 of `default` serves a page; machine 1 is its neighbour, machine 0 of `other` a stranger.

    Attributes:
        web: Address of the machine with the page, as `stranger` is of the stranger.
    """

    client: Client
    web: str
    stranger: str

    def reaches(self, model: str, machine: str, port: int = WEB) -> bool:
        """Tell whether a machine can connect to a port of the page's machine."""
        script = f"timeout 2 bash -c '</dev/tcp/{self.web}/{port}' 2>/dev/null && echo yes || echo no"
        return self.client.run("ssh", "-m", model, machine, script) == "yes\n"

    def who(self, port: int = WEB) -> set[str]:
        """Return who can connect: this host, the neighbour, the stranger."""
        found = {"host"} if connects(self.web, port) else set()
        found |= {"neighbour"} if self.reaches("default", "1", port) else set()
        return found | ({"stranger"} if self.reaches("other", "0", port) else set())


def connects(address: str, port: int) -> bool:
    """Tell whether this host can connect to a port."""
    try:
        socket.create_connection((address, port), timeout=2).close()
    except OSError:
        return False
    return True


@pytest.fixture(scope="module")
def hosts(shared_client: Client) -> Hosts:
    client = shared_client
    client.run("deploy", HELLO, "web")
    client.run("add-machine")
    client.run("add-model", "other", "--no-switch")
    client.run("add-machine", "-m", "other")
    client.run("update-status")
    return Hosts(client=client, web=client.address("0", "default"), stranger=client.address("0", "other"))


def test_who_may_connect(hosts: Hosts) -> None:
    """Nobody but the model's own machines; then whoever is named, then everybody, then nobody again."""
    client = hosts.client
    assert hosts.who() == {"neighbour"}
    client.run("expose", "web", "--to-cidrs", f"{hosts.stranger}/32")
    assert hosts.who() == {"neighbour", "stranger"}
    client.run("expose", "web")
    assert hosts.who() == {"host", "neighbour", "stranger"}
    assert client.status()["applications"]["web"]["exposed"] is True
    client.run("unexpose", "web")
    assert hosts.who() == {"neighbour"}
    assert client.status()["applications"]["web"]["exposed"] is False


def test_endpoints_have_their_own_sources(hosts: Hosts) -> None:
    client = hosts.client
    client.run("exec", "--unit", "web/0", "close-port 8080")
    client.run("exec", "--unit", "web/0", "open-port --endpoints website 8080; open-port 8090")
    client.on("0", "systemd-run -q --unit extra python3 -m http.server 8090 -d /srv")
    client.run("expose", "web", "--endpoints", "website", "--to-cidrs", f"{hosts.stranger}/32")
    assert (hosts.who(), hosts.who(8090)) == ({"neighbour", "stranger"}, {"neighbour", "stranger"})
    client.run("expose", "web", "--to-cidrs", f"{host_of_machines(hosts.web)}/32")
    assert hosts.who() == {"neighbour", "stranger"}
    assert hosts.who(8090) == {"host", "neighbour", "stranger"}
    client.run("unexpose", "web", "--endpoints", "website")
    assert hosts.who() == {"host", "neighbour"}
    client.run("exec", "--unit", "web/0", "close-port 8090; open-port 8080")
    assert (hosts.who(), hosts.who(8090)) == ({"host", "neighbour"}, {"neighbour"})
    client.run("unexpose", "web")
    client.on("0", "systemctl stop extra")


def host_of_machines(address: str) -> str:
    """Return the address from which this host reaches the machines."""
    with socket.create_connection((address, 22), timeout=5) as connection:
        return str(connection.getsockname()[0])


def test_spaces_stand_for_their_subnets(hosts: Hosts) -> None:
    client = hosts.client
    client.run("expose", "web", "--to-spaces", "alpha")
    assert hosts.who() == {"host", "neighbour", "stranger"}  # all are in the one subnet of this cloud
    client.run("add-space", "dmz")
    client.run("expose", "web", "--to-spaces", "dmz")
    assert hosts.who() == {"neighbour"}
    (subnet,) = client.json("subnets")["subnets"]
    client.run("move-to-space", "dmz", subnet, "--force")
    client.run("update-status")
    assert hosts.who() == {"host", "neighbour", "stranger"}
    client.run("move-to-space", "alpha", subnet, "--force")
    client.run("unexpose", "web")
    assert hosts.who() == {"neighbour"}


def test_ping_is_a_port_like_any_other(hosts: Hosts) -> None:
    client, ping = hosts.client, f"ping -c 1 -W 1 {hosts.web} >/dev/null && echo yes || echo no"
    client.run("exec", "--unit", "web/0", "open-port icmp")
    assert client.run("ssh", "-m", "other", "0", ping) == "no\n"
    client.run("expose", "web")
    assert client.run("ssh", "-m", "other", "0", ping) == "yes\n"
    client.run("exec", "--unit", "web/0", "close-port icmp")
    assert client.run("ssh", "-m", "other", "0", ping) == "no\n"
    client.run("unexpose", "web")


def test_units_of_one_machine_in_each_others_way(hosts: Hosts) -> None:
    """Juju's text; what the hook wrote beside it is not taken; the other one keeps its port."""
    client = hosts.client
    client.run("deploy", HELLO, "second", "--to", "0", "--config", "port=8095")
    done = client.try_run("exec", "--unit", "second/0", "open-port 8070-8090; echo rc $?")
    text = 'cannot open 8070-8090/tcp (unit "second/0"): port range conflicts with 8080/tcp (unit "web/0")'
    assert text in done.stdout + done.stderr, str(done)
    assert "rc 1" in done.stdout
    done = client.try_run("exec", "--unit", "second/0", "open-port 8080/udp && opened-ports")
    assert "8080/udp" in done.stdout, str(done)
    assert client.units("web")["web/0"]["open-ports"] == ["8080/tcp"]
    client.run("remove-application", "second", "--no-prompt")


def test_rules_of_others_stay_as_they_are(hosts: Hosts) -> None:
    """Byte for byte, whatever is exposed; what they refuse stays refused."""
    client = hosts.client
    client.on("0", f"printf '%s' '{FOREIGN}' | nft -f -")
    before = client.on("0", KEPT)
    assert "9999" in before
    client.run("expose", "web")
    client.run("unexpose", "web")
    assert client.on("0", KEPT) == before
    client.on("0", "nft delete table ip foreign; nft delete table inet other")


def test_rules_are_back_before_the_first_contact_after_a_reboot(hosts: Hosts) -> None:
    client = hosts.client
    client.run("expose", "web", "--to-cidrs", f"{hosts.stranger}/32")
    before, boot = client.on("0", TABLE), client.on("0", "cat /proc/sys/kernel/random/boot_id")
    client.try_run("ssh", "0", "sudo reboot")
    client.until(lambda: client.try_run("ssh", "0", "true").rc == 0 and _booted(client, boot))
    assert client.on("0", TABLE) == before
    assert client.on("0", "systemctl is-active pushjuju-firewall") == "active\n"
    client.until(lambda: hosts.reaches("other", "0"))
    assert hosts.who() == {"neighbour", "stranger"}
    client.run("unexpose", "web")


def _booted(client: Client, boot: str) -> bool:
    done = client.try_run("ssh", "0", "cat /proc/sys/kernel/random/boot_id")
    return done.rc == 0 and done.stdout != boot


@pytest.mark.parametrize("verb", ["restart", "reload"])
def test_a_service_that_throws_all_rules_away_brings_ours_back(hosts: Hosts, verb: str) -> None:
    client = hosts.client
    client.on("0", "systemctl start nftables")
    client.on("0", f"systemctl restart pushjuju-firewall; systemctl {verb} nftables")
    client.until(lambda: client.try_run("ssh", "0", f"sudo {TABLE}").rc == 0, limit=10)
    client.on("0", "systemctl stop nftables; systemctl start pushjuju-firewall")
    assert client.on("0", TABLE).count("accept") > 5


def test_without_nft_the_command_says_so_and_hooks_run(hosts: Hosts) -> None:
    client = hosts.client
    client.on("0", "mv /usr/sbin/nft /usr/sbin/nft.away")
    failed = client.fail("expose", "web")
    assert "the firewall rules of machine 0 are not in force: there is no nft on it" in failed.error
    assert "install the package nftables" in failed.error
    machine = client.status()["machines"]["0"]["modification-status"]
    assert machine["current"] == "error"
    assert "there is no nft on it" in client.run("status")
    assert "there is no nft on it" in client.run("explain", "0")
    client.try_run("config", "web", "greeting=Still here")
    assert "Still here" in client.on("0", f"curl -s http://127.0.0.1:{WEB}/")
    client.on("0", "mv /usr/sbin/nft.away /usr/sbin/nft")
    client.run("unexpose", "web")
    assert client.status()["machines"]["0"]["modification-status"]["current"] == "idle"
    assert hosts.who() == {"neighbour"}


def test_who_may_log_in(hosts: Hosts) -> None:
    """A stranger is shut out; whoever works the machine never is."""
    client = hosts.client
    assert hosts.reaches("other", "0", 22)
    client.run("model-config", "ssh-allow=192.0.2.0/24")
    assert hosts.who(22) == {"host", "neighbour"}
    client.run("config", "web", "greeting=Hello again")
    assert "Hello again" in client.on("0", f"curl -s http://127.0.0.1:{WEB}/")
    client.run("set-firewall-rule", "ssh", "--allowlist", f"{hosts.stranger}/32")
    assert hosts.reaches("other", "0", 22)
    assert client.json("firewall-rules")[0] == {
        "known-service": "ssh", "allowlist-subnets": [f"{hosts.stranger}/32"]
    }  # fmt: skip
    client.run("model-config", "--reset", "ssh-allow")
    assert hosts.who(22) == {"host", "neighbour", "stranger"}


def test_what_is_refused_changes_nothing(hosts: Hosts) -> None:
    client = hosts.client
    before = client.on("0", TABLE)
    refused = {
        ("expose", "nobody"): 'ERROR application "nobody" not found',
        ("expose", "web", "--to-cidrs", "10.0.0.0/8,lan"):
            'ERROR unable to parse "lan" as a CIDR: invalid CIDR address: lan',
        ("expose", "web", "--to-spaces", "moon"): 'ERROR space "moon" not found',
        ("expose", "web", "--endpoints", "moon"): 'ERROR endpoint "moon" not found',
        ("unexpose", "web", "--endpoints", "website"): 'ERROR endpoint "website" is not exposed',
        ("model-config", "firewall-mode=none"):
            'ERROR cannot change firewall-mode from "instance" to "none"',
        ("model-config", "ssh-allow=here"): 'ERROR cidr "here" not valid',
    }  # fmt: skip
    for words, text in refused.items():
        assert client.fail(*words).error.startswith(text)
    assert client.on("0", TABLE) == before


def test_a_new_machine_of_the_model_is_let_in_at_the_next_contact(hosts: Hosts) -> None:
    """And let out again at once when it goes: another model may get its address."""
    client = hosts.client
    client.run("add-machine")
    client.run("update-status")
    assert hosts.reaches("default", "2")
    before = client.on("0", TABLE)
    client.run("remove-machine", "2", "--no-prompt")
    assert client.on("0", TABLE) != before


def test_a_model_without_firewall(client: Client, local_cloud: LocalCloud) -> None:
    del local_cloud
    client.run("bootstrap", "local", "home")
    client.run("add-model", "free", "--config", "firewall-mode=none")
    client.run("deploy", HELLO, "web")
    address = client.units("web")["web/0"]["public-address"]
    assert connects(address, WEB)
    assert client.on("0", "nft list tables; ls /etc/pushjuju 2>/dev/null; true") == ""


def test_a_model_whose_machines_are_guarded_alike(client: Client, local_cloud: LocalCloud) -> None:
    """A port of one machine is open on the other, too."""
    del local_cloud
    client.run("bootstrap", "local", "home")
    client.run("add-model", "alike", "--config", "firewall-mode=global")
    client.run("deploy", HELLO, "web")
    client.run("add-machine")
    client.run("expose", "web")
    other = client.status()["machines"]["1"]["dns-name"]
    client.on("1", f"systemd-run -q python3 -m http.server {WEB} -d /srv")
    client.until(lambda: connects(other, WEB), limit=10)
    client.run("unexpose", "web")
    assert not connects(other, WEB)
