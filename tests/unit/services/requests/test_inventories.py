"""Hosts in files of other tools."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pushjuju.core.errors import NotValid
from pushjuju.services.requests.inventories import read

SSH = """
# mine
Host web1 web2
  HostName %h.lan
  User=root
  Port 2222
  IdentityFile "~/.ssh/id with blank"
Host db
  HostName 10.0.0.9
  HostName 10.0.0.10
Host *.lan !secret
  User nobody
Host *
  User ann
"""


def _targets(text: str) -> dict[str, str]:
    return {item.name: item.target for item in read(text, "file")}


def test_ssh_config() -> None:
    found = read(SSH, "config")
    assert [(item.name, item.target) for item in found] == [
        ("web1", "ssh:root@web1.lan:2222"),
        ("web2", "ssh:root@web2.lan:2222"),
        ("db", "ssh:ann@10.0.0.9"),
    ]
    assert found[0].identity == "~/.ssh/id with blank"


INI = """
; comment
mail ansible_host=10.0.0.1 ansible_user=root
[web]
web[01:03:2].lan ansible_port=2222
[db]
db-[a:b] ansible_host="fd00::1" ansible_ssh_private_key_file=~/k
[db:vars]
ansible_user=postgres
[all:vars]
ansible_user = "ubuntu"
[prod:children]
web
[prod:vars]
ansible_user=prod
"""


def test_ansible_ini() -> None:
    assert _targets(INI) == {
        "mail": "ssh:root@10.0.0.1",
        "web01.lan": "ssh:prod@web01.lan:2222",
        "web03.lan": "ssh:prod@web03.lan:2222",
        "db-a": "ssh:postgres@fd00::1",
    }


YAML = """
all:
  vars: {ansible_user: ubuntu}
  hosts:
    mail: {ansible_host: 10.0.0.1}
  children:
    web:
      vars: {ansible_port: 2222}
      hosts:
        web[1:2].lan:
        web3.lan: {ansible_user: root}
"""


def test_ansible_yaml() -> None:
    assert _targets(YAML) == {
        "mail": "ssh:ubuntu@10.0.0.1",
        "web1.lan": "ssh:ubuntu@web1.lan:2222",
        "web2.lan": "ssh:ubuntu@web2.lan:2222",
        "web3.lan": "ssh:root@web3.lan:2222",
    }


def test_terraform_state() -> None:
    def resource(kind: str, **attributes: object) -> dict[str, object]:
        return {"mode": "managed", "type": kind, "name": kind, "instances": [{"attributes": attributes}]}

    google = {"network_ip": "10.0.0.5", "access_config": [{"nat_ip": "5.6.7.8"}]}
    state = {
        "version": 4,
        "resources": [
            resource("aws_instance", public_ip="1.2.3.4", private_ip="10.0.0.2"),
            resource("aws_subnet", private_ip="10.0.0.99"),
            resource("google_compute_instance", network_interface=[google]),
            resource("libvirt_domain", network_interface=[{"addresses": ["192.168.0.7"]}]),
            resource("proxmox_lxc", network=[{"ip_address": "10.1.1.1/24"}]),
            {"mode": "data", "type": "aws_instance", "instances": [{"attributes": {"public_ip": "9.9.9.9"}}]},
        ],
    }
    hosts = [item.host for item in read(json.dumps(state), "terraform.tfstate")]
    assert hosts == ["1.2.3.4", "5.6.7.8", "192.168.0.7", "10.1.1.1"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "names no host"),
        ("{", "not JSON"),
        ("{}", "no list of resources"),
        ('{"resources": 5}', "no list of resources"),
        ("Host *\n User x\n", "names no host"),
        ('Host "a\n', "a quote is not closed"),
        ("Host a\n Port 99999\n", "invalid port"),
        ("Host a\n HostName -oProxyCommand=x\n", "invalid address"),
        ("a ansible_user=-x\n", "invalid user"),
        ("a ansible_host=$(x)/y\n", "invalid address"),
        ("all: [\n", "yaml: "),
        ("all:\n- x\n", "group all: expected a map with hosts, vars or children"),
        ("web[1:b]\n", "is not a range"),
        ("web[1:99999999]\n", "file: names more than 10000 hosts"),
    ],
)
def test_bad_files_are_refused(text: str, problem: str) -> None:
    with pytest.raises(NotValid, match=problem):
        read(text, "file")


def test_all_faults_are_told_at_once() -> None:
    text = 'a ansible_port=0\nb ansible_host="{{ ip }}"\n[web\nc "d\ne 5\nweb[9:1]\n[x:vars]\nnothing\n'
    with pytest.raises(NotValid) as caught:
        read(text, "hosts.ini")
    assert caught.value.message.splitlines() == [
        "hosts.ini, line 4: a quote is not closed",
        "hosts.ini, line 5: expected key=value after the host",
        "hosts.ini, line 6: web[9:1] is an empty range",
        "hosts.ini, line 8: expected key=value",
        "hosts.ini, line 7: there is no group x",
        'hosts.ini: host a: invalid port "0"',
        "hosts.ini: host b: pushjuju does not evaluate templates of Ansible: write the value itself",
    ]


def test_the_first_value_of_an_ssh_config_counts() -> None:
    text = """
User general
Host db-1
  Port 2201
Host db-* !db-9
  User dba
  HostName %n.db.lan
Match host db-2,db-9
  Port 2202
Match exec "touch /tmp/run-by-nobody"
  Port 1
Host db-2 db-9
Match all
  IdentityFile ~/.ssh/%h
"""
    found = {item.name: item for item in read(text, "config")}
    assert {name: item.target for name, item in found.items()} == {
        "db-1": "ssh:general@db-1.db.lan:2201",
        "db-2": "ssh:general@db-2.db.lan:2202",
        "db-9": "ssh:general@db-9:2202",
    }
    assert found["db-1"].identity == "~/.ssh/db-1.db.lan"


def test_an_ssh_config_includes_others(tmp_path: Path) -> None:
    (tmp_path / "conf.d").mkdir()
    (tmp_path / "conf.d" / "a.conf").write_text("Host a\n HostName 10.0.0.1\n")
    (tmp_path / "conf.d" / "b.conf").write_text("Host b\n ProxyJump gate\nHost gate\n HostName 10.0.0.2\n")
    (tmp_path / "web.conf").write_text("User web\nHost *\n Port 2200\n")
    notes: list[str] = []
    text = "Include conf.d/*.conf none.conf\nHost w\n Include web.conf\nHost b\n User ann\n"
    found = {item.name: item for item in read(text, "config", tmp_path, notes.append)}
    assert {name: item.target for name, item in found.items()} == {
        "a": "ssh:10.0.0.1", "b": "ssh:ann@b", "gate": "ssh:10.0.0.2", "w": "ssh:web@w:2200",
    }  # fmt: skip
    assert (found["b"].jump, found["gate"].jump) == ("10.0.0.2", "")
    assert notes == []
    (tmp_path / "loop.conf").write_text("Include loop.conf\n")
    with pytest.raises(NotValid, match="too deep"):
        read("Include loop.conf\nHost a\n", "config", tmp_path)


def test_which_value_of_an_ansible_inventory_counts(tmp_path: Path) -> None:
    for kind, name, text in (
        ("group_vars", "all.yml", "ansible_user: everyone\nansible_port: 2000\n"),
        ("group_vars", "db.yml", "ansible_user: dba\n"),
        ("host_vars", "db1.yaml", "ansible_host: 10.0.0.9\n"),
        ("group_vars", "sealed.yml", "$ANSIBLE_VAULT;1.1;AES256\n3030\n"),
    ):
        (tmp_path / kind).mkdir(exist_ok=True)
        (tmp_path / kind / name).write_text(text)
    text = """
all:
  hosts:
    db1: {ansible_port: 2001}
    here: {ansible_connection: local}
  children:
    sealed:
    fleet:
      vars: {ansible_user: fleet}
      children:
        db: {hosts: {db1: }, vars: {ansible_port: 2002}}
        web: {hosts: {"web[1:2]": }}
"""
    notes: list[str] = []
    found = {item.name: item.target for item in read(text, "hosts.yml", tmp_path, notes.append)}
    assert found == {
        "db1": "ssh:dba@10.0.0.9:2001", "web1": "ssh:everyone@web1:2000", "web2": "ssh:everyone@web2:2000",
    }  # fmt: skip
    assert notes == ["here is left out: its connection is local"]
    listed = {"_meta": {"hostvars": {"a": {"ansible_host": "10.0.0.1", "ansible_user": "u"}}}, "all": {}}
    assert _targets(json.dumps(listed)) == {"a": "ssh:u@10.0.0.1"}


@pytest.mark.parametrize(
    ("kind", "attributes", "target"),
    [
        ("openstack_compute_instance_v2", {"access_ip_v4": "10.1.0.4"}, "ssh:10.1.0.4"),
        ("openstack_compute_instance_v2", {"network": [{"fixed_ip_v4": "10.1.0.5"}]}, "ssh:10.1.0.5"),
        (
            "digitalocean_droplet",
            {"ipv4_address": "1.2.3.4", "ipv4_address_private": "10.0.0.1"},
            "ssh:1.2.3.4",
        ),
        ("hcloud_server", {"ipv4_address": "", "ipv6_address": "2001:db8::1"}, "ssh:2001:db8::1"),
        (
            "azurerm_linux_virtual_machine",
            {"public_ip_address": "1.2.3.4", "admin_username": "adm"},
            "ssh:adm@1.2.3.4",
        ),
        (
            "libvirt_domain",
            {"network_interface": [{"addresses": []}, {"addresses": ["10.9.0.2"]}]},
            "ssh:10.9.0.2",
        ),
        ("proxmox_virtual_environment_vm", {"ipv4_addresses": [["127.0.0.1"], ["10.9.0.3"]]}, "ssh:10.9.0.3"),
        ("vsphere_virtual_machine", {"default_ip_address": "10.8.0.1"}, "ssh:10.8.0.1"),
        ("scaleway_instance_server", {"public_ips": [{"address": "5.5.5.5"}]}, "ssh:5.5.5.5"),
    ],
)
def test_where_terraform_keeps_addresses(kind: str, attributes: dict[str, object], target: str) -> None:
    state = {
        "version": 4,
        "resources": [
            {"mode": "managed", "type": kind, "name": "web", "module": "module.eu",
             "instances": [{"index_key": "a", "attributes": attributes}]},
            {"mode": "managed", "type": "digitalocean_domain", "name": "d",
             "instances": [{"attributes": {"ip_address": "9.9.9.9"}}]},
        ],
    }  # fmt: skip
    (found,) = read(json.dumps(state), "terraform.tfstate")
    assert (found.name, found.target) == ('module.eu.web["a"]', target)
    shown = {
        "values": {
            "root_module": {
                "child_modules": [
                    {"resources": [{"mode": "managed", "type": kind, "name": "web", "values": attributes}]}
                ]
            }
        }
    }
    assert [item.target for item in read(json.dumps(shown), "show.json")] == [target]


def test_a_machine_without_an_address_is_left_out() -> None:
    machines = [{"attributes": {"public_ip": "1.2.3.4"}}, {"attributes": {"public_ip": None}}]
    state = {"resources": [{"type": "aws_instance", "name": "web", "instances": machines}]}
    notes: list[str] = []
    assert [item.host for item in read(json.dumps(state), "s", None, notes.append)] == ["1.2.3.4"]
    assert notes == ["aws_instance web[1] is left out: it has no address"]
    with pytest.raises(NotValid, match=r"before 0\.12"):
        read('{"version": 3, "modules": []}', "old.tfstate")


# --- what people's files hold besides --------------------------------------------------------------------


def _files(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


_SEALED = "!vault |\n  $ANSIBLE_VAULT;1.1;AES256\n  6261\n"


@pytest.mark.parametrize(
    ("text", "files", "targets"),
    [
        ("[w]\na\n[w:vars]\nmotd=don't # panic\nhost=10.0.0.9\n", {}, ["ssh:a"]),
        ("\ufeff[w]\r\na\tansible_port=2222\r\n", {}, ["ssh:a:2222"]),
        ("[w]\n[2001:db8::1]:2222\n[all:vars]\nansible_port=9\n", {}, ["ssh:[2001:db8::1]:2222"]),
        ("[w]\na:2222\nb[:1]\n", {}, ["ssh:a:2222", "ssh:b0", "ssh:b1"]),
        ("[w]\na\n[w:vars]\nansible_user=x\n", {"group_vars/all.yml": "ansible_user: yan\n"}, ["ssh:yan@a"]),
        (
            "[w]\na\n",
            {
                "group_vars/w/main.yml": "ansible_user: dir\n",
                "group_vars/w/secret.yml": "$ANSIBLE_VAULT;1.1;AES256\n30\n",
                "group_vars/w/.swp.yml": "ansible_user: no\n",
                "group_vars/w/main.yml~": "ansible_user: no\n",
            },
            ["ssh:dir@a"],
        ),
        ("[w]\na\n", {"host_vars/a.yml": f"ansible_user: u\nansible_become_pass: {_SEALED}"}, ["ssh:u@a"]),
        ("all: {hosts: {a: {ansible_user: !unsafe u, ansible_port: }}}\n", {}, ["ssh:u@a"]),
        ("all:\n  hosts: a\n", {}, ["ssh:a"]),
        ("[x]\na\n[y]\na\n[x:vars]\nansible_user=x\nansible_group_priority=9\n[y:vars]\nansible_user=y\n",
         {}, ["ssh:x@a"]),
        ('[w]\nchildren = ["v"]\n[v.hosts]\na = {ansible_host = "10.0.0.1"}\n[w.vars]\nansible_user = "u"\n',
         {}, ["ssh:u@10.0.0.1"]),
        ("Host a\n  ProxyCommand none\n", {}, ["ssh:a"]),
    ],
)  # fmt: skip
def test_files_as_people_write_them(
    tmp_path: Path, text: str, files: dict[str, str], targets: list[str]
) -> None:
    assert [item.target for item in read(text, "file", _files(tmp_path, files))] == targets


def test_keys_beside_an_inventory(tmp_path: Path) -> None:
    text = '[w]\na ansible_ssh_private_key_file="{{ inventory_dir }}/keys/a"\n'
    (found,) = read(text, "file", tmp_path)
    assert found.identity == f"{tmp_path}/keys/a"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a ansible_password= hunter2\n", "line 1: expected key=value after the host"),
        ("[w]\na\n[w:vars]\nhunter2\n", "line 4: expected key=value$"),
        ("all:\n  hosts:\n    a:\n      ansible_password: hunter2: x\n", "mapping values are not allowed"),
        (
            f"all:\n hosts:\n  a:\n   ansible_user: {_SEALED.replace('  ', '    ')}",
            "values of Ansible's vault",
        ),
        ("all:\n  hosts: 5\n", "group all: expected a map of hosts"),
        ("all:\n  vars: [a]\n", "group all: expected a map of vars"),
        ("all:\n  hosts: {a: hunter2}\n", "host a: expected a map of its settings"),
        ("[w:foo]\na\n", r"line 1: a section \[w:foo\] is not known"),
        ("[a]\nb\n[w:children]\nnone\n", "line 4: there is no group none"),
        ("- hosts: all\n  tasks: []\n", "expected a map of groups: is it an inventory?"),
        ("a\0b\n", "is not text"),
        ('[w.hosts]\na = {ansible_host="10\n', "toml: "),
        ('{"serial": 1, "encrypted_data": "x"}', "an encrypted state"),
        ('{"version": 3, "backend": {"config": {"secret_key": "hunter2"}}}', "only names the backend"),
        ("Host a\n HostName b/c\n ProxyCommand sshpass -p hunter2 x\n", "invalid address"),
    ],
)
def test_no_message_shows_what_may_be_secret(text: str, problem: str) -> None:
    with pytest.raises(NotValid, match=problem) as caught:
        read(text, "file")
    assert "hunter2" not in caught.value.message


def test_what_is_left_out_is_told() -> None:
    notes: list[str] = []

    def listed(text: str) -> list[str]:
        notes.clear()
        return [item.name for item in read(text, "file", None, notes.append)]

    assert listed("a ansible_host=10.0.0.1 ansible_user=x\nb ansible_host=10.0.0.1 ansible_user=y\n") == ["a"]
    assert notes == ["b is left out: a is the same machine"]
    assert listed("Host a\n ProxyCommand sshpass -p hunter2 ssh -W %h:%p gate\n") == ["a"]
    assert notes == [
        "a: the ProxyCommand is not used; model-config ssh-jump-host=... sets a jump host for the model"
    ]
    instances = [
        {"deposed": "ff", "attributes": {"public_ip": "1.2.3.3"}},
        {"attributes": {"public_ip": "1.2.3.4"}},
    ]
    state = {"resources": [{"type": "aws_instance", "name": "web", "instances": instances}]}
    assert listed(json.dumps(state)) == ["web[1]"]
    with pytest.raises(NotValid, match="names no host"):
        listed('{"resources": [{"type": "null_resource"}, {"type": 5}, 7]}')
    assert notes == ["no machine of a known type, only null_resource"]


_GATES = "Host gate\n HostName 10.0.0.2\n User kim\n Port 2200\nHost outer\n HostName fd00::1\n"
_ARGS = "ansible_ssh_common_args"


@pytest.mark.parametrize(
    ("text", "jump"),
    [
        ("Host a\n ProxyJump kim@gate:2222\n", "kim@gate:2222"),
        (f"Host a\n ProxyJump outer,gate\n{_GATES}", "[fd00::1],kim@10.0.0.2:2200"),
        ("Host a\n ProxyJump none\nHost *\n ProxyJump gate\n", ""),
        ("Host a\n ProxyCommand ssh -q -W %h:%p -p 2222 kim@gate\n", "kim@gate:2222"),
        ("Host a\n ProxyCommand = ssh -l kim gate -W [%h]:%p\n", "kim@gate"),
        ("[w]\na\n[w:vars]\nansible_ssh_common_args='-o ProxyJump=kim@gate'\n", "kim@gate"),
        ("a ansible_ssh_common_args='-C -J kim@gate'\n", "kim@gate"),
        (f"""[w]\na\n[w:vars]\n{_ARGS}='-o ProxyCommand="ssh -W %h:%p -q kim@gate"'\n""", "kim@gate"),
        ("a ansible_ssh_common_args='-o StrictHostKeyChecking=no'\n", ""),
    ],
)  # fmt: skip
def test_jump_hosts_of_files(text: str, jump: str) -> None:
    notes: list[str] = []
    assert {item.name: item.jump for item in read(text, "file", None, notes.append)}["a"] == jump
    assert notes == []


@pytest.mark.parametrize(
    "command", ["nc %h %p", "ssh -i key -W %h:%p gate", "ssh gate nc %h %p", "ssh -W x:22 gate", "nc hunter2"]
)
def test_commands_that_are_more_than_a_jump_host_are_told(command: str) -> None:
    told = "a: the ProxyCommand is not used; model-config ssh-jump-host=... sets a jump host for the model"
    ansible = f"[w]\na\n[w:vars]\nansible_ssh_common_args='-o ProxyCommand=\"{command}\"'\n"
    for text in (f"Host a\n ProxyCommand {command}\n", ansible):
        notes: list[str] = []
        assert [item.jump for item in read(text, "file", None, notes.append)] == [""]
        assert notes == [told]


def test_jump_hosts_that_make_no_sense() -> None:
    for text in ("Host a\n ProxyJump kim@\n", "a ansible_ssh_common_args='-J -oProxyCommand=x'\n"):
        with pytest.raises(NotValid, match=r'host a: jump host ".*" not valid'):
            read(text, "file")
