"""Credentials that the clouds' own tools left."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pushjuju.core.errors import NotValid
from pushjuju.plugins.providers.libcloud import detect
from pushjuju.plugins.providers.libcloud.kinds import KINDS


def test_every_finder_has_a_kind_and_finds_nothing_in_nothing(tmp_path: Path) -> None:
    assert set(detect.FINDERS) <= {kind.name for kind in KINDS}
    for find in detect.FINDERS.values():
        assert find({"HOME": str(tmp_path)}) == []
        assert find({}) == []


def test_aws_files_win_over_variables(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "AWS_ACCESS_KEY_ID": "V", "AWS_SECRET_ACCESS_KEY": "S", "USER": "ann"}
    (found,) = detect.find_ec2(environ)
    assert (found.name, found.attributes) == ("ann", {"access-key": "V", "secret-key": "S"})
    (tmp_path / ".aws").mkdir()
    (tmp_path / ".aws" / "credentials").write_text(
        "[default]\naws_access_key_id=A\naws_secret_access_key=1%x\n[my work]\naws_access_key_id=B\n"
        "aws_secret_access_key=2\n[half]\naws_access_key_id=C\n"
    )
    (tmp_path / ".aws" / "config").write_text("[profile my work]\nregion=eu-west-1\n")
    first, second = detect.find_ec2(environ)
    assert (first.name, first.default, first.region) == ("default", True, "")
    assert first.attributes["secret-key"] == "1%x"
    assert (second.name, second.region) == ("my_work", "eu-west-1")


def test_a_broken_file_is_named_without_its_text(tmp_path: Path) -> None:
    (tmp_path / ".aws").mkdir()
    (tmp_path / ".aws" / "credentials").write_text("aws_secret_access_key = hunter2\n")
    with pytest.raises(NotValid, match="credentials cannot be read: not an ini file") as caught:
        detect.find_ec2({"HOME": str(tmp_path)})
    assert "hunter2" not in str(caught.value)


def test_openstack_variables_novarc_and_clouds_yaml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    environ = {"HOME": str(tmp_path), "OS_USERNAME": "u", "OS_PASSWORD": "p"}
    assert detect.find_openstack(environ) == []
    (found,) = detect.find_openstack({**environ, "OS_PROJECT_NAME": "t", "OS_REGION_NAME": "r"})
    assert found.label == 'openstack region "r" project "t" user "u"'
    (tmp_path / ".novarc").write_text('export OS_USERNAME="n"\nOS_PASSWORD=q\nexport OS_TENANT_NAME=t\n')
    (found,) = detect.find_openstack({"HOME": str(tmp_path)})
    assert found.attributes == {"username": "n", "password": "q", "tenant-name": "t"}
    (tmp_path / "clouds.yaml").write_text(
        "clouds:\n  lab:\n    region_name: one\n    auth: {username: a, password: b, project_name: c}\n"
    )
    assert [item.name for item in detect.find_openstack({"HOME": str(tmp_path)})] == ["lab", "n"]
    (keys,) = detect.find_openstack({"OS_ACCESS_KEY": "k", "OS_SECRET_KEY": "s", "OS_TENANT_NAME": "t"})[1:]
    assert keys.auth_type == "access-key"


def test_google_takes_service_accounts_only(tmp_path: Path) -> None:
    path = tmp_path / "key.json"
    environ = {"GOOGLE_APPLICATION_CREDENTIALS": str(path), "USER": "ann"}
    path.write_text(json.dumps({"type": "authorized_user"}))
    assert detect.find_gce(environ) == []
    path.write_text(json.dumps({"type": "service_account", "client_email": "a@b"}))
    (found,) = detect.find_gce(environ)
    assert (found.name, found.auth_type, found.attributes) == ("ann", "jsonfile", {"file": str(path)})


def test_azure_and_digitalocean(tmp_path: Path) -> None:
    environ = {"ARM_CLIENT_ID": "a", "AZURE_CLIENT_SECRET": "s", "ARM_SUBSCRIPTION_ID": "i"}
    (azure,) = detect.find_azure(environ)
    assert azure.attributes == {"application-id": "a", "application-password": "s", "subscription-id": "i"}
    (token,) = detect.find_digitalocean({"DIGITALOCEAN_TOKEN": "t"})
    assert (token.name, token.default) == ("default", True)
    folder = tmp_path / ".config" / "doctl"
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text("access-token: one\nauth-contexts:\n  work: two\n")
    found = detect.find_digitalocean({"HOME": str(tmp_path)})
    assert {item.name: item.attributes["token"] for item in found} == {"default": "one", "work": "two"}
