"""A machine that somebody has: an ops charm over `manual`, as a user with sudo; and what goes wrong."""

from __future__ import annotations

import asyncio
import json
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from pushjuju.plugins.api.targets import SSHTarget
from pushjuju.testing.machines import LocalCloud
from pushjuju.testing.ssh import new_key
from tests.charms.client import HELLO, REPOSITORY, Client
from tests.charms.test_firewall import connects
from tests.charms_tools.packing import ops_charm
from tests.world import how_to

pytestmark = pytest.mark.machine

# Machines of the `local` cloud come prepared; one that somebody has is not.
_BARE = """set -e
umount /var/lib/juju/storage 2>/dev/null || true
rm -rf /var/lib/juju /root/.ssh
"""
# bob may do everything, eve nothing; nobody has the login `ubuntu`, as on many servers.
_SERVER = """
userdel -r ubuntu 2>/dev/null || true
rm -rf /etc/sudoers.d/90-ubuntu*
for user in bob eve; do
  useradd --create-home --shell /bin/bash $user
  mkdir -m 0700 /home/$user/.ssh
  echo {key} > /home/$user/.ssh/authorized_keys
  chown -R $user:$user /home/$user/.ssh
done
echo 'bob ALL=(ALL) NOPASSWD: ALL' > /etc/sudoers.d/bob
"""
# What a person would look for: our folders, keys, links, services, processes and temporary files.
_TRACES = """
nft list tables | grep juju
ls -d /etc/pushjuju* 2>/dev/null
ls -d /var/lib/juju /var/lib/pushjuju /etc/juju* /var/log/juju /run/pushjuju* /tmp/pushjuju* 2>/dev/null
find /usr/bin /usr/sbin /usr/local /etc/systemd/system /etc/cron.d \\( -name '*juju*' -o -lname '*juju*' \\)
find /home /root -name authorized_keys -exec grep -Hv 'pushjuju-tests$' {} +
ps -e -o pid=,args= | grep -i juju | grep -v grep
true
"""


@dataclass(frozen=True)
class Server:
    """A machine that is there already."""

    host: str
    key: Path
    cloud: LocalCloud
    target: SSHTarget

    def run(self, script: str) -> str:
        """Run a script on it as root, as bob would."""
        done = asyncio.run(self.cloud.ssh.run_script(self.target, script, sudo=True))
        assert done.rc == 0, done
        return done.stdout

    def traces(self) -> list[str]:
        """Return what is there of us."""
        return self.run(_TRACES).splitlines()


@contextmanager
def _machine(cloud: LocalCloud, script: str, user: str) -> Iterator[Server]:
    """Make a machine and prepare it with a script; `user` logs in from then on."""
    data_dir = cloud.data_dir()
    provider = cloud.provider(data_dir)

    async def start() -> SSHTarget:
        started = await provider.start(cloud.request("0"))
        target = await provider.ssh_target(started.instance)
        done = await cloud.ssh.wait_for(target, _BARE + script.format(key=shlex.quote(cloud.public_key)))
        assert done.rc == 0, done
        return SSHTarget(host=target.host, port=target.port, user=user)

    try:
        target = asyncio.run(start())
        yield Server(target.host, cloud.key, cloud, target)
    finally:
        cloud.sweep_data_dir(data_dir)


@pytest.fixture
def server(local_cloud: LocalCloud) -> Iterator[Server]:
    """A machine with the users bob and eve."""
    with _machine(local_cloud, _SERVER, "bob") as made:
        yield made


@pytest.fixture
def image(local_cloud: LocalCloud) -> Iterator[Server]:
    """A machine of a cloud's image: the user is `ubuntu`, the key is the person's own."""
    with _machine(local_cloud, "", "ubuntu") as made:
        yield made


def test_an_ops_charm_on_a_given_machine(client: Client, server: Server) -> None:
    """Taken in as bob, worked to active, let go: nothing of ours stays on it."""
    assert server.traces() == []
    client.run("bootstrap", "manual", "lab", "--add-model", "shop")
    done = client.try_run("add-machine", f"ssh:bob@{server.host}", "--private-key", server.key)
    assert (done.rc, done.stdout) == (0, ""), str(done)
    assert "created machine 0\n" in done.stderr
    machine = client.status()["machines"]["0"]
    assert machine["juju-status"]["current"] == "started"
    assert machine["machine-status"]["message"] == "Manually provisioned machine"
    assert machine["instance-id"] == f"manual:{server.host}"
    assert machine["dns-name"] == server.host

    client.run("deploy", ops_charm("test_relation"), "--to", "0")
    assert client.agents("test-relation") == {"test-relation/0": ("active", "idle")}
    assert client.run("ssh", "test-relation/0", "id -un") == "ubuntu\n"
    client.run("deploy", HELLO, "web", "--to", "0")
    assert "I am web/0" in server.run("curl -s http://127.0.0.1:8080/\n")
    assert connects(server.host, 8080)  # nobody asked for a firewall
    assert server.run("nft list tables\n") == ""

    # A unit goes: its files go; the other one's stay. The last one goes: all goes.
    client.run("remove-application", "test-relation", "--no-prompt")
    assert server.run("ls /var/lib/juju/agents\n") == "unit-web-0\n"
    client.run("remove-unit", "web/0", "--no-prompt")
    assert client.status()["machines"] == {}  # as in Juju: the machine goes with its last unit
    _until_clean(client, server)
    assert server.run("cat /home/bob/.ssh/authorized_keys\n") == f"{server.cloud.public_key}\n"

    # Free for somebody else.
    client.run("add-machine", f"ssh:bob@{server.host}", "--private-key", server.key)
    client.run("destroy-model", "shop", "--no-prompt")
    _until_clean(client, server)


def test_the_page_about_the_machines_of_another_tool(client: Client, server: Server, tmp_path: Path) -> None:
    """The first file adds the machine; the others name the same one, which stays as it is."""
    client.run("bootstrap", "manual", "lab", "--add-model", "shop")
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh/config").write_text(
        f"Host web\n  HostName {server.host}\n  User bob\n  IdentityFile {server.key}\n"
    )
    (tmp_path / "inventory.ini").write_text(f"[web]\nweb ansible_host={server.host} ansible_user=bob\n")
    (tmp_path / "hosts.ini").write_text("[web]\nweb1\nweb3 ansible_port=0\nweb2 ansible_user='kim\n")
    instance = {"attributes": {"public_ip": server.host}}
    resource = {"mode": "managed", "type": "aws_instance", "name": "web", "instances": [instance]}
    (tmp_path / "terraform.tfstate").write_text(json.dumps({"version": 4, "resources": [resource]}))
    broken = "pushjuju add-machine --from hosts.ini"
    how_to.play("take-in-a-fleet.md", how_to.Shell(tmp_path, **client.environ), ends={broken: 1})
    assert [item["instance-id"] for item in client.status()["machines"].values()] == [f"manual:{server.host}"]


def test_the_readme_works_line_by_line(client: Client, server: Server, tmp_path: Path) -> None:
    """The controller is made by the first command; the second machine is one that somebody has."""
    whole = "tests/fresh/test_bare_host.py runs this line on a bare computer"
    how_to.play(
        "../../README.md",
        how_to.Shell(tmp_path / "home", **client.environ),
        left_out={f"python3 contrib/dev.py {job}": whole for job in ("demo", "test")},
        put={
            "./contrib": str(REPOSITORY / "contrib"),
            "bob@10.0.0.7": f"bob@{server.host} --private-key {server.key}",
        },
    )
    client.check_at_rest()
    assert [unit["machine"] for unit in client.units("web").values()] == ["0", "1"]


def test_a_machine_of_a_cloud_image(client: Client, image: Server) -> None:
    """The login `ubuntu` is there and takes the person's key: the controller needs it once only."""
    client.run("bootstrap", "manual", "lab", "--add-model", "shop")
    client.run("add-machine", f"ssh:ubuntu@{image.host}", "--private-key", image.key)
    client.run("deploy", HELLO, "web", "--to", "0")
    assert client.agents("web") == {"web/0": ("active", "idle")}
    assert client.run("ssh", "web/0", "sudo id -un") == "root\n"
    client.run("destroy-model", "shop", "--no-prompt")
    _until_clean(client, image)
    assert image.run("cat /home/ubuntu/.ssh/authorized_keys\n") == f"{image.cloud.public_key}\n"


def _until_clean(client: Client, server: Server) -> None:
    """The last process of ours ends a moment after it has said that all is done."""
    client.until(lambda: server.traces() == [])


def test_a_given_machine_is_guarded_where_that_was_asked_for(client: Client, server: Server) -> None:
    """What runs there beside us is shut off as well, but for SSH; it is open again when the machine goes."""
    server.run("systemd-run -q python3 -m http.server 8765 -d /srv\n")
    client.run("bootstrap", "manual", "lab")
    client.run("add-model", "shop", "--config", "firewall-mode=instance")
    client.run("add-machine", f"ssh:bob@{server.host}", "--private-key", server.key)
    client.run("deploy", HELLO, "web", "--to", "0")
    assert not connects(server.host, 8080)
    assert not connects(server.host, 8765)
    client.run("expose", "web")
    assert connects(server.host, 8080)
    # The way in that sudo hides is known all the same: this host works the machine, and stays able to.
    client.run("model-config", "ssh-allow=192.0.2.0/24")
    client.run("config", "web", "greeting=Still here")
    assert "Still here" in server.run("curl -s http://127.0.0.1:8080/\n")
    assert "192.0.2.0/24" in server.run("nft list table inet pushjuju\n")
    client.run("remove-application", "web", "--no-prompt")
    assert client.status()["machines"] == {}
    _until_clean(client, server)
    assert connects(server.host, 8765)


def test_machines_that_cannot_be_taken_in(client: Client, server: Server, tmp_path: Path) -> None:
    """The reason is told, nothing is recorded, the machine is as it was."""
    client.run("bootstrap", "manual", "lab", "--add-model", "shop")
    stranger = tmp_path / "stranger"
    new_key(stranger)
    key = ("--private-key", server.key)
    for words, text in (
        ((f"ssh:eve@{server.host}", *key), f"sudo was refused on {server.host}"),
        ((f"ssh:bob@{server.host}", "--private-key", stranger), "bob@"),
        ((f"ssh:bob@{server.host}", "--private-key", tmp_path / "missing"), "missing"),
        ((f"ssh:nobody@{server.host}", *key), "nobody@"),
        ((f"ssh:bob@{server.host}:81", *key), "Connection refused"),
        (("ssh:bob@192.0.2.1.invalid", *key), "192.0.2.1.invalid"),
        (("ssh:bob@", *key), 'invalid SSH target "ssh:bob@"'),
    ):
        done = client.fail("add-machine", *words)
        assert text in done.error, str(done)
        assert done.stdout == ""
    assert client.status()["machines"] == {}
    assert server.traces() == []
    assert client.fail("deploy", HELLO, "web").error.startswith(
        'ERROR use "pushjuju add-machine ssh:[user@]<host>" to provision machines'
    )
    assert client.status()["applications"] == {}

    client.run("add-machine", f"ssh:bob@{server.host}", *key)
    done = client.fail("add-machine", f"ssh:bob@{server.host}", *key)
    assert done.error.startswith("ERROR machine is already provisioned\n")
    client.run("add-model", "other")
    assert (
        "machine is already provisioned" in client.fail("add-machine", f"ssh:bob@{server.host}", *key).error
    )
    client.run("switch", "shop")
    (number,) = client.status()["machines"]

    # Another machine answers in its place: both keys are named, nothing is sent to it.
    server.run("rm /etc/ssh/ssh_host_*; ssh-keygen -A; systemctl restart ssh\n")
    done = client.fail("deploy", HELLO, "web", "--to", number)
    assert "host key" in done.error.lower(), str(done)
    assert done.error.count("SHA256:") >= 2, str(done)
    assert server.run("ls -d /var/lib/juju/agents 2>/dev/null || true\n") == ""
    # It can be forgotten, by force only.
    assert "changed" in client.fail("remove-application", "web", "--force", "--no-wait", "--no-prompt").error
    assert client.status()["applications"] == {}
    client.run("remove-machine", number, "--force", "--no-wait", "--no-prompt")
    assert client.status()["machines"] == {}


def test_a_machine_of_another_controller_is_refused_and_left_alone(
    client: Client, local_cloud: LocalCloud
) -> None:
    """Whatever cloud made it; a machine that its controller let go is free, one after the other."""
    client.run("bootstrap", "local", "home", "--add-model", "shop")
    client.run("deploy", HELLO, "web")
    host = str(client.status()["machines"]["0"]["dns-name"])
    bob = _SERVER.format(key=shlex.quote(local_cloud.public_key)).partition("for user")
    client.on("0", "".join(bob[1:]))
    units = client.on("0", "ls /var/lib/juju/agents")
    add = ("add-machine", f"ssh:bob@{host}", "--private-key", local_cloud.key)

    client.run("bootstrap", "manual", "lab", "--add-model", "barn")
    refused = client.fail(*add)
    assert refused.error.startswith("ERROR machine is already provisioned\ncontroller="), str(refused)
    way_out = f"if no controller has it any more: ssh bob@{host} sudo rm /var/lib/pushjuju/machine"
    assert f"remove-machine there gives it back; {way_out}" in refused.error
    assert client.status()["machines"] == {}
    client.run("config", "-m", "home:shop", "web", "greeting=Still mine")
    assert "Still mine" in client.run("ssh", "-m", "home:shop", "0", "curl -s http://127.0.0.1:8080/")

    # The mark is gone and somebody else has the machine: no controller touches what the other one put there.
    client.run("ssh", "-m", "home:shop", "0", "sudo rm -r /var/lib/pushjuju")
    files = client.fail(*add)
    assert "/var/lib/juju/agents/unit-web-0" in files.error, str(files)
    stolen = "controller=c model=m machine=1"
    other = f"mkdir -p /var/lib/pushjuju; echo {stolen} > /var/lib/pushjuju/machine"
    client.run("ssh", "-m", "home:shop", "0", f"sudo sh -c '{other}'")
    held = client.fail("config", "-m", "home:shop", "web", "greeting=Mine?")
    assert "is held by another controller or model" in held.error, str(held)
    assert stolen in held.error
    client.run("ssh", "-m", "home:shop", "0", "sudo rm /var/lib/pushjuju/machine")
    assert client.run("ssh", "-m", "home:shop", "0", "ls /var/lib/juju/agents") == units

    # Let go: free for the next, and for the next after that.
    client.run("remove-machine", "-m", "home:shop", "0", "--keep-instance", "--force", "--no-prompt")
    for number in ("0", "1"):
        client.until(lambda: client.try_run(*add).rc == 0, limit=10)
        assert list(client.status()["machines"]) == [number]
        client.run("remove-machine", number, "--no-prompt")


def test_what_a_person_gives_by_mistake(client: Client, server: Server, tmp_path: Path) -> None:
    """Nothing of a wrong file reaches the machine, no secret the screen; a kept machine can come again."""
    client.run("bootstrap", "manual", "lab", "--add-model", "shop")
    server.run(
        "useradd -m -s /bin/bash pat; useradd -m -s /bin/false mute; mkdir /home/mute/.ssh\n"
        "cp /home/bob/.ssh/authorized_keys /home/mute/.ssh/; chown -R mute: /home/mute/.ssh\n"
    )
    inventory = tmp_path / "hosts.ini"
    inventory.write_text(
        f"pat ansible_host={server.host} ansible_user=pat ansible_password=hunter2\n"
        f"gone ansible_host={server.host} ansible_port=2222 ansible_ssh_private_key_file={tmp_path}/none\n"
    )
    key, bob = ("--private-key", server.key), f"ssh:bob@{server.host}"
    for words, text in (
        (("--from", inventory), "is authorized there: ssh pat@"),
        (("--from", inventory), "/none\nNo such file or directory\n"),
        (("--from", tmp_path), "is a directory\nname the inventory file in that directory"),
        (("--from", "-"), "standard input names no host"),
        ((bob, *key, "--public-key", inventory), "line 1: no public SSH key"),
        ((bob, *key, "--public-key", server.key), "line 1: no public SSH key"),
        ((f"ssh:mute@{server.host}", *key), "does the login's shell run commands?"),
        (("ssh:bob@[::1", *key), 'invalid SSH target "ssh:bob@[::1"'),
    ):
        done = client.fail("add-machine", *words)
        assert text in done.stderr, str(done)
        assert "hunter2" not in done.stdout + done.stderr
        assert "PRIVATE" not in done.stderr
    assert client.status()["machines"] == {}
    assert server.traces() == []

    client.run("add-machine", bob, *key)
    again = client.fail("add-machine", bob, *key)
    assert "\nremove-machine in that model gives it back; " in again.error, str(again)
    client.run("remove-machine", "0", "--keep-instance", "--no-prompt")
    _until_clean(client, server)
    client.run("add-machine", bob, *key)


def test_keys_of_a_model_go_with_a_given_machine(client: Client, image: Server) -> None:
    """What the model wrote to authorized_keys is taken away; what was there before stays."""
    client.run("bootstrap", "manual", "lab", "--add-model", "shop")
    client.run("add-machine", f"ssh:ubuntu@{image.host}", "--private-key", image.key)
    client.run("add-ssh-key", f"{' '.join(new_key(client.work / 'kim').split()[:2])} kim")
    assert " kim pushjuju:" in image.run("cat /home/ubuntu/.ssh/authorized_keys\n")
    client.run("remove-machine", "0", "--no-prompt")
    _until_clean(client, image)
    assert image.run("cat /home/ubuntu/.ssh/authorized_keys\n") == f"{image.cloud.public_key}\n"


def test_a_host_behind_a_jump_host_of_its_inventory(
    client: Client, server: Server, image: Server, tmp_path: Path
) -> None:
    """Its first login goes through it, and everything after: there is no other way."""
    client.run("bootstrap", "manual", "lab", "--add-model", "shop")
    config = tmp_path / "config"
    config.write_text(
        f"Host gate\n  HostName {server.host}\n  User bob\nHost inner\n  HostName {image.host}\n"
        f"  User ubuntu\n  ProxyJump gate\nHost *\n  IdentityFile {server.key}\n"
    )
    # The gate lets the controller in: as for a model's jump host, the key of a host is not the gate's.
    public = next((client.data / "controllers" / "lab" / "ssh").glob("*.pub")).read_text().strip()
    server.run(f"echo {shlex.quote(public)} >> /home/bob/.ssh/authorized_keys\n")
    with _no_direct_way(image.host):
        client.run("add-machine", "--from", config)
        machines = client.status()["machines"]
        inner = next(number for number, item in machines.items() if item["dns-name"] == image.host)
        assert client.run("ssh", inner, "id", "-un") == "ubuntu\n"
        client.run("deploy", HELLO, "web", "--to", inner)
        assert client.agents("web") == {"web/0": ("active", "idle")}
        assert len(machines) == 2


@contextmanager
def _no_direct_way(host: str) -> Iterator[None]:
    """Let this computer not reach the SSH port of a machine; others do."""
    table = f"pjtest{host.replace('.', '_')}"
    rule = f"ip daddr {host} tcp dport 22 reject with tcp reset"
    rules = f"table inet {table} {{ chain out {{ type filter hook output priority 0; {rule}; }}; }}\n"
    subprocess.run(["nft", "-f", "-"], input=rules, text=True, check=True)
    try:
        yield
    finally:
        subprocess.run(["nft", "delete", "table", "inet", table], check=True)


def test_all_hosts_of_an_inventory(client: Client, server: Server, image: Server, tmp_path: Path) -> None:
    """Two machines and one that is not there: two are taken in, the third is told; again changes nothing."""
    client.run("bootstrap", "manual", "lab", "--add-model", "shop")
    inventory = tmp_path / "hosts.ini"
    inventory.write_text(
        f"[web]\none ansible_host={server.host} ansible_user=bob\n"
        f"two ansible_host={image.host} ansible_user=ubuntu\n"
        "gone ansible_host=127.0.0.1 ansible_port=9 ansible_user=bob\n"
        f"[web:vars]\nansible_ssh_private_key_file={server.key}\n"
    )
    done = client.try_run("add-machine", "--from", inventory)
    assert done.rc == 1, str(done)
    assert "(one)\n" in done.stderr
    assert "(two)\n" in done.stderr
    assert "ERROR gone: " in done.stderr
    hosts = {item["dns-name"] for item in client.status()["machines"].values()}
    assert hosts == {server.host, image.host}
    again = client.try_run("add-machine", "--from", inventory)
    assert "2 of 3 hosts are machines of the model already\n" in again.stderr
    assert len(client.status()["machines"]) == 2
    refused = client.fail("add-machine", "--from", inventory, "-n", "2", rc=2)
    assert refused.error.startswith("ERROR --from takes hosts as they are")
    client.run("destroy-model", "shop", "--no-prompt")
    _until_clean(client, server)
