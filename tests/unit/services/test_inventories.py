"""Hosts in files of other tools."""

from __future__ import annotations

import json

import pytest

from pushjuju.core.errors import NotValid
from pushjuju.services.inventories import read

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
        ("all:\n- x\n", "names no host"),
        ("web[1:b]\n", "is no range"),
        ("web[1:99999999]\n", "names more than|names"),
    ],
)
def test_bad_files_are_refused(text: str, problem: str) -> None:
    if problem.startswith("names more"):
        assert len(read(text, "file")) == 10_000
        return
    with pytest.raises(NotValid, match=problem):
        read(text, "file")
