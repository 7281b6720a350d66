"""What Juju's own test suites call and read, for the suites that need no machine; the others are on machines.

The tests have the names of the suites, and read the same paths of the documents as the scripts there.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.charms_tools.hubstore import JAMMY, NOBLE, HubStore
from tests.world import HELLO_PAGE
from tests.world.charms import Charms
from tests.world.commandline import Run, ok
from tests.world.two_models import TwoModels

CHARM = str(HELLO_PAGE)
CLOUDS = """clouds:
  campus:
    auth-types: [userpass]
    endpoint: http://10.125.0.10:5000/v3
    type: openstack
  outside:
    auth-types: [access-key]
    regions:
      QA:
        endpoint: https://10.247.0.3
    type: ec2
"""
EC2 = """clouds:
  my-ec2:
    type: ec2
    auth-types: [access-key]
    regions:
      us-west-1: {endpoint: "https://ec2.us-west-1.amazonaws.com"}
      us-west-2: {endpoint: "https://ec2.us-west-2.amazonaws.com"}
"""
FAKE = """credentials:
  aws:
    fake-credential-name:
      auth-type: access-key
      access-key: fake-access-key
      secret-key: fake-secret-key
"""


pytestmark = pytest.mark.usefixtures("unworked")


@pytest.fixture
def lab(run: Run) -> Run:
    """Return `run` with a controller and a model in focus."""
    ok(
        run(
            "bootstrap",
            "local",
            "lab",
            "--add-model",
            "suite",
            "--config",
            "features=[a]",
            "--constraints",
            "cores=1",
        )
    )
    return run


def document(ended: Any) -> Any:
    """Return what jq and yq would read."""
    return yaml.safe_load(ok(ended))


def both(ended: Any) -> str:
    """Return `2>&1`."""
    return f"{ended.err}{ended.out}"


@pytest.mark.parametrize(
    "words",
    [("enable-ha",), ("migrate", "suite", "other"), ("add-k8s", "x"), ("update-k8s", "x"),
     ("remove-k8s", "x"), ("scale-application", "x", "3")],
)  # fmt: skip
def test_agents_and_kubernetes_words(lab: Run, words: tuple[str, ...]) -> None:
    """Words of features that machines without agents do not have are one clear line, not silence."""
    _is_refused_in_one_line(lab, words)


@pytest.mark.parametrize("word", ["upgrade-controller", "upgrade-model"])
def test_agents_have_no_upgrades(lab: Run, word: str) -> None:
    ended = lab(word)
    assert (ended.status, both(ended)) == (0, "no upgrades available\n")


@pytest.mark.parametrize("words", [("add-branch", "bla"), ("branch",), ("commit", "bla"), ("track", "bla")])
def test_branches(lab: Run, words: tuple[str, ...]) -> None:
    """branches.sh: the feature is off; that is said."""
    _is_refused_in_one_line(lab, words)


def _is_refused_in_one_line(lab: Run, words: tuple[str, ...]) -> None:
    ended = lab(*words)
    assert (ended.status, ended.out) == (1, "")
    assert ended.err.startswith(f"ERROR {words[0]} not supported by pushjuju: ")
    assert ended.err.count("\n") == 1


def test_there_is_no_login_to_drop_on_the_host(lab: Run) -> None:
    added = ok(lab("add-user", "bob"))
    assert 'User "bob" added\nPlease send this command to bob:\n' in added
    assert both(lab("logout")).startswith("ERROR there is no login to controller ")
    assert lab("login").status == 0


def test_charmhub(run: Run, hub: HubStore, packs: Charms, tmp_path: Path) -> None:
    """info.sh, find.sh, download.sh."""
    config = {"hostname": {"type": "string", "default": "", "description": "Its name."}}
    packed = packs.make("ubuntu", config=config, series=["jammy", "noble"]).path
    hub.add("ubuntu", packed, revision=24, bases=[JAMMY, NOBLE])
    env = {"PUSHJUJU_CACHE": str(tmp_path / "cache"), "CHARMHUB_URL": hub.url, "LANG": "C.UTF-8"}

    def juju(*words: str) -> Any:
        return run(*words, env=env)

    text = ok(juju("info", "ubuntu"))
    for part in ("name: ubuntu", "publisher: ", "channels: |", "supports: "):
        assert part in text
    shown = document(juju("info", "ubuntu", "--config", "--format", "json"))
    assert shown["charm"]["config"]["Options"]["hostname"]["Type"] == "string"
    listed = document(juju("find", "ubuntu", "--format", "json"))
    assert len(listed[0]["supports"]) > 0
    assert listed[0]["name"] == "ubuntu"
    assert "No matching" in both(juju("find", "nosuchcharmorbundleeverexists"))
    ended = juju("download", "ubuntu", "--no-progress", "--filepath", str(tmp_path / "u.charm"))
    assert ended.status == 0, ended.err
    assert (tmp_path / "u.charm").stat().st_size > 0


def test_cli_block(lab: Run) -> None:
    """block.sh."""
    ok(lab("deploy", CHARM, "ntp", "--no-wait"))
    ok(lab("disable-command", "destroy-model"))
    assert "the operation has been blocked" in both(lab("destroy-model", "suite", "--no-prompt"))
    ok(lab("enable-command", "destroy-model"))
    ok(lab("disable-command", "remove-object"))
    for words in (("destroy-model", "suite", "--no-prompt"), ("remove-application", "ntp", "--no-prompt"),
                  ("remove-unit", "ntp/0", "--no-prompt")):  # fmt: skip
        assert "the operation has been blocked" in both(lab(*words)), words
    ok(lab("enable-command", "remove-object"))
    ok(lab("disable-command", "all"))
    for words in (("deploy", CHARM, "two"), ("expose", "ntp"), ("remove-application", "ntp", "--no-prompt"),
                  ("destroy-model", "suite", "--no-prompt")):  # fmt: skip
        assert "the operation has been blocked" in both(lab(*words)), words
    ok(lab("enable-command", "all"))
    ok(lab("expose", "ntp"))


def test_cli_display_clouds(lab: Run, tmp_path: Path) -> None:
    """display_clouds.sh."""
    clouds = document(lab("clouds", "--client", "--format=json"))
    assert [name for name, cloud in clouds.items() if cloud["defined"] != "built-in"] == []
    (tmp_path / "clouds.yaml").write_text(CLOUDS)
    for name in ("campus", "outside"):
        ok(lab("add-cloud", name, "-f", "clouds.yaml", "--client"))
    clouds = document(lab("clouds", "--client", "--format=json"))
    assert {name: cloud["type"] for name, cloud in clouds.items() if cloud["defined"] == "local"} == {
        "campus": "openstack", "outside": "ec2"}  # fmt: skip
    shown = document(lab("show-cloud", "campus", "--format", "yaml", "--client"))
    assert shown.pop("regions") == {"default": {}}
    assert shown == {
        "auth-types": ["userpass"], "defined": "local", "description": "Openstack Cloud",
        "endpoint": "http://10.125.0.10:5000/v3", "name": "campus",
        "summary": 'Client cloud "campus"', "type": "openstack",
    }  # fmt: skip
    (tmp_path / "myclouds.yaml").write_text(EC2)
    ok(lab("add-cloud", "my-ec2", "-f", "myclouds.yaml", "--force", "--controller", "lab"))
    found = document(lab("clouds", "--controller", "lab", "--format=json"))["my-ec2"]
    assert found["type"] == "ec2"
    assert list(found["regions"]) == ["us-west-1", "us-west-2"]
    assert found["users"] == {"admin": {"display-name": "admin", "access": "admin"}}
    ok(lab("add-user", "kim"))
    ok(lab("grant-cloud", "kim", "add-model", "my-ec2"))
    found = document(lab("show-cloud", "my-ec2", "--controller", "lab", "--format=json"))[0]
    assert found["users"]["kim"] == {"access": "add-model"}


def test_cli_local_charms(lab: Run, tmp_path: Path) -> None:
    """local_charms.sh, use_local_charm.sh: `.`, `./name` and whole paths, and the version of the charm."""
    shutil.copytree(CHARM, tmp_path / "ubuntu-plus", symlinks=True)
    (tmp_path / "ubuntu-plus" / "version").write_text("v1.2.3\n")
    for words in (("./ubuntu-plus", "one"), (str(tmp_path / "ubuntu-plus"), "two")):
        ok(lab("deploy", *words, "--no-wait"))
        found = document(lab("status", "--format", "json"))["applications"][words[1]]
        assert found["charm-version"] == "v1.2.3"
    assert "no charm was found" in both(lab("deploy", "./nowhere"))


def test_cli_model_settings(lab: Run, tmp_path: Path) -> None:
    """model_config.sh, model_defaults.sh, model_constraints.sh."""
    ok(lab("model-config", "--file", "-", stdin="test-mode: true\n"))
    assert document(lab("model-config", "--format", "json"))["test-mode"]["Value"] is True
    shown = ok(lab("model-config", "--format=yaml"))
    ok(lab("model-config", "--ignore-read-only-fields", "--file", "-", stdin=shown))
    taken = document(lab("model-config", "--format=yaml"))
    assert {key: item["value"] for key, item in taken.items()} == {
        key: item["value"] for key, item in yaml.safe_load(shown).items()}  # fmt: skip

    ok(lab("model-defaults", "test-mode=true"))
    assert document(lab("model-defaults", "--format=json"))["test-mode"]["default"] is False
    assert document(lab("model-defaults", "--format=json"))["test-mode"]["controller"] is True
    ok(lab("model-defaults", "--cloud", "local", "--region", "default", "test-mode=true"))
    found = document(lab("model-defaults", "--cloud=local", "test-mode", "--format=json"))
    assert found["test-mode"]["regions"][0]["value"] is True
    ok(lab("model-defaults", "automatically-retry-hooks=false"))
    assert (
        document(lab("model-defaults", "--format=json"))["automatically-retry-hooks"]["controller"] is False
    )
    assert re.search(r"automatically-retry-hooks +true +false", ok(lab("model-defaults")))

    assert ok(lab("model-constraints")) == "cores=1\n"
    ok(lab("set-model-constraints", "mem=6G", "cores=2"))
    assert ok(lab("model-constraints")) == "cores=2 mem=6144M\n"


def test_cli_and_controller_unregister(lab: Run) -> None:
    """unregister.sh."""
    assert document(lab("controllers", "--format=json"))["current-controller"] == "lab"
    ok(lab("unregister", "--no-prompt", "lab"))
    ended = lab("switch", "lab")
    assert (ended.status, "not found" in both(ended)) == (1, True)


def test_controller(lab: Run) -> None:
    """controller-config, show-controller, machines of the controller's model."""
    ok(lab("controller-config", "auditing-enabled=false"))
    assert document(lab("controller-config", "--format", "json"))["auditing-enabled"] is False
    shown = document(lab("show-controller", "lab", "--format", "json"))["lab"]
    assert shown["details"]["agent-version"].startswith("3.6.")
    for words in (("machines", "-m", "controller", "--format", "json"), ("status", "-m", "controller")):
        ended = lab(*words)
        assert "Traceback" not in ended.err


def test_cmr(run: Run, tmp_path: Path, packs: Charms) -> None:
    """offer_consume.sh, in both forms of an offer's URL."""
    made = TwoModels(tmp_path, packs)
    made.deploy(made.shop, "web", "proxy")
    made.deploy(made.prod, "db")
    made.shop.focus()
    made.ctx.close()
    if made.ctx.datadir.root != tmp_path / "data":
        shutil.copytree(made.ctx.datadir.root, tmp_path / "data")

    ok(run("offer", "prod.db:server", "dummy-offer", "-c", "home"))
    assert "dummy-offer" in document(run("list-offers", "-m", "prod", "--format=yaml"))
    assert list(document(run("offers", "-m", "prod", "--format=json"))) == ["dummy-offer"]
    assert "home:admin/prod.dummy-offer" in document(run("find-offers", "--format=yaml"))
    ok(run("consume", "home:admin/prod.dummy-offer"))
    ok(run("relate", "web:db", "dummy-offer"))
    status = document(run("status", "--format=json"))
    assert status["applications"]["web"]["relations"]["db"][0]["related-application"] == "dummy-offer"
    assert "current" in status["application-endpoints"]["dummy-offer"]["application-status"]
    ok(run("remove-relation", "web", "dummy-offer"))
    ok(run("remove-saas", "dummy-offer"))
    ended = run("remove-offer", "-y", "-c", "home", "--force", "admin/prod.dummy-offer")
    assert ended.status == 0, ended.err
    assert document(run("offers", "-m", "prod", "--format=json")) in ({}, None)
    assert "offers" not in document(run("status", "-m", "prod", "--format=json"))


def test_credential(run: Run, tmp_path: Path) -> None:
    """add_remove_credential.sh, controller_credentials.sh."""
    (tmp_path / "fake.yaml").write_text(FAKE)
    ok(run("add-credential", "aws", "-f", "fake.yaml", "--client"))

    def access_key(*words: str) -> Any:
        listed = document(run("credentials", "aws", "--format=json", *words))["client-credentials"]
        found = listed.get("aws", {}).get("cloud-credentials", {}).get("fake-credential-name", {})
        return found.get("details", {}).get("access-key")

    assert access_key("--show-secrets") == "fake-access-key"
    ok(run("remove-credential", "aws", "fake-credential-name", "--client"))
    listed = run("credentials", "aws", "--show-secrets", "--format=json")
    assert "fake-access-key" not in both(listed)


def test_deploy(lab: Run, hub: HubStore, packs: Charms) -> None:
    """deploy_revision.sh, and what deploy says when a flag is missing."""
    hub.add("web", packs.make("web", series=["jammy"]).path, revision=4, bases=[JAMMY])
    ok(
        lab("model-config", "name")
        if False
        else lab("add-model", "store", "--config", f"charmhub-url={hub.url}")
    )
    ended = lab("deploy", "web", "--revision", "4", "--no-wait")
    assert "specifying a revision requires a channel for future upgrades" in ended.err
    ok(lab("deploy", "web", "--revision", "4", "--channel", "stable", "--no-wait"))
    base = document(lab("status", "--format", "json"))["applications"]["web"]["base"]
    assert f"{base['name']}@{base['channel']}" in ("ubuntu@22.04", "ubuntu@22.04/stable")


def test_user(lab: Run) -> None:
    """manage.sh: access, people who are disabled, controller access, removal."""
    assert document(lab("whoami", "--format=json"))["user"] == "admin"
    rights = {"readuser": "read", "writeuser": "write", "adminuser": "admin"}
    for name, access in rights.items():
        assert lab("show-user", name).status == 1
        assert "juju register " in ok(lab("add-user", name))
        ok(lab("grant", name, access, "suite"))
    users = document(lab("show-model", "suite", "--format=json"))["suite"]["users"]
    assert {name: users[name]["access"] for name in rights} == rights
    for name, access in rights.items():
        ok(lab("revoke", name, access, "suite"))
    users = document(lab("show-model", "suite", "--format=json"))["suite"]["users"]
    assert [users.get(name, {}).get("access") for name in rights] == [None, "read", "write"]

    ok(lab("disable-user", "readuser"))
    assert document(lab("show-user", "readuser", "--format=json"))["disabled"] is True
    ok(lab("enable-user", "readuser"))
    assert "disabled" not in document(lab("show-user", "readuser", "--format=json"))

    def access(name: str) -> str:
        (found,) = [user for user in document(lab("users", "--format=json")) if user["user-name"] == name]
        return str(found["access"])

    ok(lab("grant", "writeuser", "superuser"))
    assert (access("readuser"), access("writeuser")) == ("login", "superuser")
    ok(lab("revoke", "readuser", "login"))
    ok(lab("revoke", "writeuser", "superuser"))
    assert (access("readuser"), access("writeuser")) == ("", "login")
    ok(lab("remove-user", "-y", "readuser"))
    assert "readuser" not in ok(lab("users"))


def test_user_passwords(lab: Run) -> None:
    """login_password.sh, register.sh: a password is set; a string that is cut off is refused."""
    ok(lab("change-user-password", "--no-prompt", stdin="secret\n"))
    ended = lab("register", "MEcTA2tpbQ", stdin="secret\nsecret\n")
    assert (ended.status, "is not a registration string" in ended.err) == (1, True)


def test_spaces(lab: Run) -> None:
    """Those of spaces_ec2 that need no cloud: spaces, bindings."""
    (alpha,) = [
        space for space in document(lab("spaces", "--format=json"))["spaces"] if space["name"] == "alpha"
    ]
    assert "subnets" in alpha
    ok(lab("deploy", CHARM, "web", "--bind", "alpha", "--no-wait"))
    bindings = document(lab("show-application", "web", "--format=json"))["web"]["endpoint-bindings"]
    assert set(bindings.values()) == {"alpha"}
    ok(lab("bind", "web", "alpha"))
    ok(lab("reload-spaces"))


def test_upgrade(lab: Run) -> None:
    """upgrade-model: there is nothing to upgrade."""
    assert "no upgrades available" in both(lab("upgrade-model"))


def test_words_before_the_command(lab: Run) -> None:
    """`juju --show-log WORD`, `juju --debug WORD`."""
    for flag in ("--show-log", "--debug", "--quiet", "--verbose"):
        assert document(lab(flag, "models", "--format", "json"))["current-model"] == "suite"
