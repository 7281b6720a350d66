"""Words about models, controllers and users, on a real store: what they record, print and refuse."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from pushjuju.cli.app.root import Root
from pushjuju.cli.commands import registry
from pushjuju.cli.syntax.command import is_ignored
from pushjuju.cli.work import blocking
from pushjuju.services.entities.basis import logs
from pushjuju.services.entities.basis.context import open_context
from pushjuju.store.datadir import DataDir
from tests.world import HELLO_PAGE
from tests.world.commandline import Run, ok

CHARM = str(HELLO_PAGE)


pytestmark = pytest.mark.usefixtures("unworked")


def refused(ended: Any, text: str, status: int = 1) -> None:
    assert (ended.status, ended.out) == (status, "")
    assert ended.err.startswith(f"ERROR {text}"), ended.err


# --- constraints ------------------------------------------------------------------------------------------


def test_constraints_of_a_model_are_kept_shown_and_replaced(lab: Run) -> None:
    assert ok(lab("model-constraints")) == "\n"
    ok(lab("set-model-constraints", "cores=2", "mem=6G"))
    assert ok(lab("model-constraints")) == "cores=2 mem=6144M\n"
    assert json.loads(ok(lab("model-constraints", "--format", "json"))) == {"cores": 2, "mem": 6144}
    assert ok(lab("model-constraints", "--format", "yaml")) == "cores: 2\nmem: 6144\n"
    ok(lab("set-model-constraints", "virt-type=container"))
    assert ok(lab("model-constraints")) == "virt-type=container\n"


def test_subordinates_have_no_constraints(lab: Run, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "metadata.yaml").write_text(
        "{name: sub, summary: s, description: d, series: [noble], subordinate: true,"
        " requires: {host: {interface: juju-info, scope: container}}}\n"
    )
    (tmp_path / "sub" / "dispatch").touch(0o755)
    ok(lab("deploy", str(tmp_path / "sub"), "--no-wait"))
    refused(lab("set-constraints", "sub", "mem=1G"), "constraints do not apply to subordinate applications")


def test_what_the_cloud_makes_of_constraints_is_told_when_they_are_set(lab: Run) -> None:
    ok(lab("deploy", CHARM, "web", "--no-wait"))
    for words in (("set-model-constraints",), ("set-constraints", "web")):
        refused(
            lab(*words, "virt-type=virtual-machine"),
            "invalid constraint value: virt-type=virtual-machine\nvalid values are: [container]",
        )
        assert ok(lab("model-constraints")) == "\n"
    set_it = lab("set-constraints", "web", "tags=fast", "cpu-power=100", "mem=1G")
    warned = 'WARNING setting constraints on application "web": unsupported constraints: cpu-power,tags\n'
    assert (set_it.status, set_it.err) == (0, warned)
    assert ok(lab("constraints", "web")) == "cpu-power=100 mem=1024M tags=fast\n"
    added = lab("add-machine", "--constraints", "instance-type=big", "--no-wait")
    assert added.err == "WARNING unsupported constraints: instance-type\ncreated machine 1\n"
    refused(lab("add-machine", "--constraints", "arch=s390x"), "invalid constraint value: arch=s390x\n")


def test_a_new_machine_takes_the_models_constraints_under_its_own(lab: Run) -> None:
    ok(lab("set-model-constraints", "arch=amd64"))
    ok(lab("deploy", CHARM, "web", "--no-wait"))
    machine = json.loads(ok(lab("show-machine", "0", "--format", "json")))["machines"]["0"]
    assert machine["constraints"] == "arch=amd64"


def test_constraints_of_an_application(lab: Run) -> None:
    ok(lab("deploy", CHARM, "web", "--no-wait"))
    ok(lab("set-constraints", "web", "mem=2G", "cores="))
    assert ok(lab("constraints", "web")) == "mem=2048M\n"
    refused(lab("set-constraints", "wob", "mem=2G"), 'application "wob" not found')
    refused(lab("set-constraints", "web", "colour=red"), 'unknown constraint "colour"')
    assert "known constraints: arch, container, cores" in lab("set-constraints", "web", "colour=red").err
    assert ok(lab("constraints", "web")) == "mem=2048M\n"


def test_the_base_of_future_units(lab: Run) -> None:
    ok(lab("deploy", CHARM, "web", "--no-wait"))
    refused(lab("set-application-base", "web", "ubuntu@14.04"), 'base "ubuntu@14.04" not supported by charm')
    refused(lab("set-application-base", "web"), "no base specified", 2)
    refused(lab("set-application-base", "web", "nonsense"), 'unknown series "nonsense"')
    present = json.loads(ok(lab("show-application", "web", "--format", "json")))["web"]["base"]
    ok(lab("set-application-base", "web", present))


# --- disabled commands ------------------------------------------------------------------------------------


def test_a_set_of_commands_is_disabled_and_enabled(lab: Run) -> None:
    assert lab("disabled-commands").err == "No commands are currently disabled.\n"
    assert ok(lab("disabled-commands", "--format", "json")) == "[]\n"
    ok(lab("disable-command", "remove-object", "ask", "me", "first"))
    ok(lab("disable-command", "destroy-model"))
    assert ok(lab("disabled-commands")) == (
        "Disabled commands  Message\ndestroy-model\nremove-object      ask me first\n"
    )
    assert ok(lab("disabled-commands", "--format", "json")) == (
        '[{"command-set":"destroy-model"},{"command-set":"remove-object","message":"ask me first"}]\n'
    )
    refused(lab("disable-command", "remove-object"), "block BlockRemove is already ON")
    ok(lab("enable-command", "remove-object"))
    refused(lab("enable-command", "remove-object"), "block BlockRemove is already OFF")
    refused(lab("disable-command", "everything"), "bad command set, valid options: destroy-model, ", 2)
    refused(lab("disable-command"), "missing command set", 2)


def test_a_disabled_command_is_refused_with_jujus_text(lab: Run) -> None:
    ok(lab("deploy", CHARM, "web", "--no-wait"))
    ok(lab("disable-command", "remove-object"))
    ended = lab("remove-application", "web", "--no-prompt")
    assert (ended.status, ended.out) == (1, "")
    assert ended.err == (
        "ERROR the operation has been blocked\n\n"
        "All operations that remove machines, applications, units or\n"
        "relations have been disabled for the current model.\n"
        "To enable removal, run\n\n    pushjuju enable-command remove-object\n"
    )
    ok(lab("config", "web", "port=81"))


def test_all_changes_are_disabled_and_looking_is_not(lab: Run) -> None:
    ok(lab("deploy", CHARM, "web", "--no-wait"))
    ok(lab("disable-command", "all", "frozen"))
    for words in (
        ("config", "web", "port=81"),
        ("deploy", CHARM, "two", "--no-wait"),
        ("model-config", "test-mode=true"),
        ("add-unit", "web"),
        ("remove-unit", "web/0", "--no-prompt"),
        ("set-model-constraints", "mem=1G"),
        ("destroy-model", "shop", "--no-prompt"),
        ("expose", "web"),
    ):
        refused(lab(*words), "frozen\n")
    for words in (("config", "web"), ("model-config",), ("status",), ("constraints", "web")):
        ok(lab(*words))


def test_a_controller_with_disabled_commands_is_not_destroyed(lab: Run) -> None:
    ok(lab("disable-command", "destroy-model"))
    ended = lab("destroy-controller", "lab", "--no-prompt", "--destroy-all-models")
    refused(ended, "there are models with disabled commands preventing controller destruction")
    assert "pushjuju enable-destroy-controller" in ended.err
    assert "shop" in ended.err
    ok(lab("enable-destroy-controller"))
    assert lab("disabled-commands", "--all").err == "No commands are currently disabled.\n"


# --- controllers ------------------------------------------------------------------------------------------


def test_a_controller_without_models_goes_with_its_directory(run: Run, tmp_path: Path) -> None:
    ok(run("bootstrap", "local", "lab"))
    ok(run("destroy-controller", "lab", "--no-prompt"))
    assert not (tmp_path / "data" / "controllers" / "lab").exists()
    refused(run("switch"), "No controllers registered.")
    ok(run("bootstrap", "local", "lab"))


def test_a_controller_with_models_stays_unless_all_shall_go(lab: Run) -> None:
    ended = lab("destroy-controller", "lab", "--no-prompt")
    refused(ended, 'failed to destroy controller "lab"')
    assert "\tadmin/shop (alive)" in ended.err
    refused(lab("destroy-controller"), "no controller specified", 2)
    refused(
        lab("destroy-controller", "lab", "--destroy-storage", "--release-storage"),
        "--destroy-storage and --release-storage cannot both be specified",
        2,
    )
    refused(
        lab("destroy-controller", "lab", "--model-timeout", "1s"),
        "--model-timeout can only be used with --force (dangerous)",
        2,
    )
    ended = lab("destroy-controller", "lab", "--destroy-all-models", stdin="other\n")
    assert ended.status == 1
    assert ended.err.endswith("ERROR controller destruction: aborted\n")
    assert ok(lab("models", "--format", "json")).count("admin/shop") == 1


def test_a_killed_controller_is_gone_whatever_its_store_is(lab: Run, tmp_path: Path) -> None:
    store = tmp_path / "data" / "controllers" / "lab" / "state.db"
    for path in store.parent.glob("state.db*"):
        path.write_bytes(b"no database at all" * 1000)
    ended = lab("kill-controller", "lab", "--no-prompt")
    assert ended.status == 0, ended.err
    assert "are left alone" in ended.err
    assert not store.parent.exists()


def test_an_unregistered_controller_is_kept_aside(lab: Run, tmp_path: Path) -> None:
    ended = lab("unregister", "lab", stdin="no\n")
    assert ended.status == 1
    assert ended.err.endswith("ERROR unregistering controller: aborted\n")
    ok(lab("unregister", "lab", "--no-prompt"))
    assert (tmp_path / "data" / "unregistered" / "lab" / "state.db").is_file()
    refused(lab("switch", "lab"), '"lab" is not the name of a controller: not found')
    refused(lab("unregister", "lab", "--no-prompt"), "controller lab not found")


def test_switch_goes_back_and_forth(lab: Run) -> None:
    refused(lab("switch", "-"), "no previous model found")
    ok(lab("add-model", "two"))
    assert lab("switch", "-").err == "lab:admin/two -> lab:admin/shop\n"
    assert lab("switch", "-").err == "lab:admin/shop -> lab:admin/two\n"
    ok(lab("bootstrap", "local", "other"))
    assert lab("switch", "-").err == "other -> lab:admin/two\n"
    assert lab("switch", "lab:shop").err == "lab:admin/two -> lab:admin/shop\n"
    assert lab("switch", "other").err == "lab:admin/shop -> other\n"
    assert lab("switch", ":none").status == 1
    assert lab("switch", "lab").err == "other -> lab:admin/shop\n"
    assert lab("switch", ":two").err == "lab:admin/shop -> lab:admin/two\n"
    assert lab("switch", "lab:two").err == "lab:admin/two (no change)\n"


def test_the_settings_of_a_controller(lab: Run) -> None:
    shown = json.loads(ok(lab("controller-config", "--format", "json")))
    assert shown["controller-name"] == "lab"
    assert shown["auditing-enabled"] is True
    ok(lab("controller-config", "auditing-enabled=false", "features=[a]"))
    assert ok(lab("controller-config", "auditing-enabled")) == "False\n"
    assert "auditing-enabled" in ok(lab("controller-config"))
    refused(
        lab("controller-config", "audit-log-max-backups=foo"), "audit-log-max-backups: expected number, got"
    )
    refused(
        lab("controller-config", "api-port=123"),
        "invalid or read-only controller config values cannot be updated: [api-port]",
    )
    ok(lab("controller-config", "api-port=123", "features=x", "--ignore-read-only-fields"))
    assert ok(lab("controller-config", "features")) == "x\n"
    refused(lab("controller-config", "nope"), 'key "nope" not found in controller "lab"')
    ok(lab("controller-config", "--file", "-", stdin="audit-log-max-size: 50M\n"))
    assert ok(lab("controller-config", "audit-log-max-size")) == "50M\n"


# --- model-config and model-defaults ----------------------------------------------------------------------


def test_defaults_of_the_controller_the_cloud_and_a_region(lab: Run) -> None:
    ok(lab("model-defaults", "automatically-retry-hooks=false", "http-proxy=http://10.0.0.1"))
    assert "automatically-retry-hooks" in ok(lab("model-defaults"))
    row = next(line for line in ok(lab("model-defaults")).splitlines() if line.startswith("automatically"))
    assert row.split() == ["automatically-retry-hooks", "true", "false"]
    ok(lab("model-defaults", "--region", "local/default", "http-proxy=http://10.0.0.9"))
    shown = json.loads(ok(lab("model-defaults", "http-proxy", "--format", "json")))
    assert shown == {
        "http-proxy": {
            "default": "",
            "controller": "http://10.0.0.1",
            "regions": [{"name": "default", "value": "http://10.0.0.9"}],
        }
    }
    ok(lab("add-model", "two"))
    two = json.loads(ok(lab("model-config", "--format", "json")))
    assert two["automatically-retry-hooks"] == {"Value": False, "Source": "controller"}
    assert two["http-proxy"] == {"Value": "http://10.0.0.9", "Source": "region"}
    ok(lab("model-config", "http-proxy=http://mine"))
    ok(lab("model-config", "--reset", "http-proxy"))
    assert ok(lab("model-config", "http-proxy")) == "http://10.0.0.9\n"
    ok(lab("model-defaults", "--reset", "automatically-retry-hooks"))
    assert (
        "controller"
        not in json.loads(ok(lab("model-defaults", "--format", "json")))["automatically-retry-hooks"]
    )
    assert json.loads(ok(lab("model-config", "-m", "shop", "--format", "json")))["http-proxy"]["Value"] == ""


def test_defaults_are_checked_as_settings_are(lab: Run) -> None:
    refused(lab("model-defaults", "test-mode=maybe"), "test-mode: expected bool, got")
    refused(lab("model-defaults", "--region", "mars", "test-mode=true"), 'invalid region specified: "mars"')
    refused(lab("model-defaults", "--cloud", "mars"), "cloud mars not found")
    refused(lab("model-defaults", "nope"), 'there are no default model values for "nope"')
    refused(lab("model-defaults", "--cloud", "a", "--region", "b/c"), "cannot specify cloud using both", 2)
    assert "possible misspelling" in lab("model-defaults", "tset-mode=true").err
    assert lab("model-defaults", "vpc-id=vpc-1").err == ""  # a key of a provider's own


@pytest.mark.parametrize(
    ("setting", "text"),
    [
        ("automatically-retry-hooks=maybe", "automatically-retry-hooks: expected bool, got"),
        ("num-provision-workers=many", "num-provision-workers: expected number, got"),
        ("max-action-results-age=1", "invalid max action results age in model configuration"),
        ("max-status-history-size=big", "invalid max status history size in model configuration"),
        ("resource-tags=owner", 'resource-tags: expected "key=value", got "owner"'),
        ("resource-tags=juju-is=mine", 'tag "juju-is" uses reserved prefix "juju-"'),
        ("cloudinit-userdata=[1", "cloudinit-userdata: must be valid YAML"),
        ("cloudinit-userdata=users: []", "cloudinit-userdata: users not allowed"),
        ("provisioner-harvest-mode=some", "provisioner-harvest-mode: expected one of"),
        ("ssh-allow=here", 'cidr "here" not valid'),
        ("mode=careless", 'mode(s) "careless" not valid'),
        ("default-base=jammy", "base string must contain exactly one @"),
        ("authorized-keys=ssh-rsa AAAA", '"authorized-keys" cannot be set like this'),
        ("agent-version=1.2.3", "agent-version cannot be changed"),
        ("container-networking-method=fan", "container-networking-method: expected one of"),
    ],
)
def test_a_setting_that_does_not_fit_changes_nothing(lab: Run, setting: str, text: str) -> None:
    before = ok(lab("model-config", "--format", "yaml"))
    refused(lab("model-config", setting, "test-mode=true"), text)
    assert ok(lab("model-config", "--format", "yaml")) == before


def test_the_model_of_the_controller(lab: Run) -> None:
    """Each controller has a model of itself, with settings and without machines."""
    listed = json.loads(ok(lab("models", "--format", "json")))["models"]
    assert [(item["short-name"], item["is-controller"]) for item in listed] == [
        ("controller", True),
        ("shop", False),
    ]
    assert json.loads(ok(lab("show-model", "controller", "--format", "json")))["controller"]["is-controller"]
    ok(lab("model-config", "-m", "lab:controller", "logging-config=<root>=DEBUG"))
    assert 'Model "admin/controller" is empty.' in lab("status", "-m", "lab:controller").err
    ok(lab("switch", "controller"))
    assert "Model:       controller" in ok(lab("whoami"))
    for words in (("deploy", CHARM), ("add-machine",), ("consume", "shop.web"), ("apply", "./bundle.yaml")):
        refused(lab(*words), 'the model "controller" has no machines: a controller here is a directory')
    refused(lab("add-model", "controller"), 'model "controller" for admin already exists')
    text = "\"controller\" is a controller; use 'pushjuju destroy-controller' to destroy it"
    refused(lab("destroy-model", "controller", "--no-prompt"), text)
    done = lab("destroy-controller", "lab", "--no-prompt")
    assert (done.status, "admin/shop (alive)" in done.err, "admin/controller" in done.err) == (1, True, False)


def test_default_series_sets_and_resets_the_default_base(lab: Run) -> None:
    done = lab("model-config", "default-series=jammy")
    assert (done.status, done.err) == (0, "")
    assert ok(lab("model-config", "default-base")) == "ubuntu@22.04/stable\n"
    refused(
        lab("model-config", "default-series=jammy", "default-base=ubuntu@24.04"),
        'default-series "jammy" and default-base "ubuntu@24.04" do not match',
    )
    refused(lab("model-config", "default-series=nope"), 'unknown series "nope"')
    ok(lab("model-config", "--reset", "default-series"))
    assert ok(lab("model-config", "default-base")) == "\n"
    ok(lab("model-defaults", "default-base=ubuntu@24.04"))
    ok(lab("add-model", "old", "--config", "default-series=focal"))
    assert ok(lab("model-config", "-m", "old", "default-base")) == "ubuntu@20.04/stable\n"
    assert "default-series" not in ok(lab("model-config", "-m", "old", "--format", "yaml"))


def test_resource_tags_are_shown_as_a_map(lab: Run) -> None:
    ok(lab("model-config", "resource-tags=team=x env=integration"))
    assert ok(lab("model-config", "resource-tags")) == "env: integration\nteam: x\n"
    shown = json.loads(ok(lab("model-config", "resource-tags", "--format", "json")))
    assert shown["resource-tags"]["Value"] == {"env": "integration", "team": "x"}
    assert "env: integration" in ok(lab("model-config"))
    ok(lab("model-defaults", "resource-tags=env=lab"))
    assert "resource-tags" in ok(lab("model-defaults"))


def test_what_model_defaults_shows_is_taken_back(lab: Run) -> None:
    ok(lab("model-defaults", "test-mode=true", "resource-tags=env=lab"))
    ok(lab("model-defaults", "--region", "default", "http-proxy=http://10.0.0.9:3128"))
    shown = ok(lab("model-defaults", "--format", "yaml"))
    words = ("model-defaults", "--ignore-read-only-fields", "--file", "-")
    ok(lab(*words, stdin=shown))
    again = yaml.safe_load(ok(lab("model-defaults", "--format", "yaml")))
    assert again["test-mode"]["controller"] is True
    assert again["resource-tags"]["controller"] == {"env": "lab"}
    assert again["http-proxy"] == yaml.safe_load(shown)["http-proxy"] | {"controller": ""}
    ok(lab(*words, "--region", "default", stdin=shown))
    assert ok(lab("model-defaults", "--format", "yaml", "--region", "default", "http-proxy")).count(
        "10.0.0.9"
    )


def test_what_model_config_shows_is_taken_back(lab: Run, tmp_path: Path) -> None:
    ok(lab("model-config", "test-mode=true", "resource-tags=owner=me team=x"))
    shown = ok(lab("model-config", "--format", "yaml"))
    (tmp_path / "settings.yaml").write_text(shown)
    ok(lab("add-model", "two"))
    ok(lab("model-config", "--file", str(tmp_path / "settings.yaml"), "--ignore-read-only-fields"))
    assert ok(lab("model-config", "test-mode")) == "True\n"


# --- the rest ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        ("migrate", "shop", "other"), ("enable-ha",), ("dump-model",), ("dump-db",),
        ("add-branch", "x"), ("branch",), ("track", "x", "web"), ("commit", "x"), ("abort", "x"),
        ("diff", "x"),
        ("commits", "--format", "json"), ("show-commit", "1"), ("add-k8s", "x"), ("update-k8s", "x"),
        ("remove-k8s", "x"), ("scale-application", "web", "3"), ("agree", "x"),
        ("download-backup", "/nothing"),
    ],
)  # fmt: skip
def test_a_word_without_meaning_here_is_one_line(lab: Run, words: tuple[str, ...]) -> None:
    ended = lab(*words)
    assert (ended.status, ended.out) == (1, "")
    assert ended.err.startswith(f"ERROR {words[0]} not supported by pushjuju: ")
    assert ended.err.count("\n") == 1
    assert lab(*words, "--nonsense").status == 2


def test_words_that_have_nothing_to_do(lab: Run) -> None:
    assert lab("upgrade-model").err == "no upgrades available\n"
    assert lab("upgrade-controller").err == "no upgrades available\n"
    refused(lab("upgrade-model", "--agent-version", "nine"), 'invalid version "nine"', 2)
    refused(lab("upgrade-model", "--agent-version", "9.9.9"), "no matching agent versions available")
    refused(lab("upgrade-model", "--agent-stream", "wild"), 'agent stream "wild" not valid', 2)
    assert lab("sync-agent-binary").status == 0
    assert lab("agree", "--yes", "x").status == 0
    assert ok(lab("agreements", "--format", "json")) == "[]\n"
    assert lab("payloads").err == "No payloads to display.\n"


def test_an_archive_of_this_computer_is_copied(lab: Run, tmp_path: Path) -> None:
    (tmp_path / "a.tar.gz").write_bytes(b"archive")
    ok(lab("download-backup", str(tmp_path / "a.tar.gz"), "--filename", str(tmp_path / "b.tar.gz")))
    assert (tmp_path / "b.tar.gz").read_bytes() == b"archive"
    refused(
        lab("download-backup", str(tmp_path / "a.tar.gz"), "--filename", str(tmp_path / "b.tar.gz")),
        f"{tmp_path / 'b.tar.gz'} is there already",
    )


def test_another_credential_for_a_model(lab: Run, tmp_path: Path) -> None:
    refused(lab("set-credential", "local", "kim"), 'credential "kim" for cloud "local" not found')
    refused(
        lab("set-credential", "mars", "kim"), 'cloud "mars" does not match the cloud "local" of the model'
    )
    (tmp_path / "data" / "credentials.toml").write_text('[credentials.local.kim]\nauth-type = "empty"\n')
    ok(lab("set-credential", "local", "kim"))
    shown = json.loads(ok(lab("show-model", "--format", "json")))["shop"]["credential"]
    assert shown["name"] == "kim"


# --- names that do not exist ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("config", "wbe"), "web"),
        (("constraints", "weeb"), "web"),
        (("show-unit", "wee/0"), "web/0"),
        (("remove-unit", "web/1", "--no-prompt"), "web/0"),
        (("status", "-m", "shpo"), "shop"),
        (("status", "-m", "lba:shop"), "lab"),
        (("switch", "shoop"), "shop"),
        (("show-user", "admn"), "admin"),
        (("add-model", "x", "locl"), "local"),
        (("show-unit", "wbe/0"), "web/0"),
        (("show-space", "alhpa"), "alpha"),
        (("config", "web", "greetin=x"), "greeting"),
        (("config", "web", "--reset", "greetng"), "greeting"),
        (("deploy", CHARM, "other", "--config", "greetng=x"), "greeting"),
    ],
)
def test_a_name_that_does_not_exist_brings_the_nearest(lab: Run, words: tuple[str, ...], meant: str) -> None:
    ok(lab("deploy", CHARM, "web", "--no-wait"))
    ended = lab(*words)
    assert ended.status == 1
    assert f"\nDid you mean:\n\t{meant}\n" in ended.err


def test_nothing_near_is_nothing_said(lab: Run) -> None:
    assert "Did you mean" not in lab("config", "completely-else").err
    ok(lab("deploy", CHARM, "web", "--no-wait"))
    assert "Did you mean" not in lab("show-unit", "nosuch/0").err  # the number alone is no likeness


# --- flags without meaning --------------------------------------------------------------------------------


def test_a_flag_without_meaning_is_told_of(lab: Run) -> None:
    ok(lab("deploy", CHARM, "web", "--no-wait"))
    assert lab("trust", "web", "--scope", "cluster").err == "--scope is ignored: for Kubernetes only\n"
    assert lab("trust", "web", "--scope", "cluster", "-q").err == ""
    assert lab("sync-agent-binary", "--stream", "x").err.startswith("--stream is ignored: ")


def test_bootstrap_furnishes_the_first_model(run: Run) -> None:
    refused(run("bootstrap", "local", "--storage-pool", "name=big"), "missing storage pool type", 2)
    ok(
        run(
            "bootstrap", "local", "lab", "--add-model", "shop", "--constraints", "mem=2G",
            "--storage-pool", "name=big", "--storage-pool", "type=rootfs",
        )
    )  # fmt: skip
    assert ok(run("model-constraints")) == "mem=2048M\n"
    assert "big" in json.loads(ok(run("storage-pools", "--format", "json")))
    ended = run("bootstrap", "local", "other", "--constraints", "mem=2G")
    assert "--constraints and --storage-pool are ignored" in ended.err


# --- the tables -------------------------------------------------------------------------------------------


def test_every_command_that_can_be_disabled_is_there() -> None:
    tables = (blocking.DESTROYS, blocking.REMOVES, blocking.CHANGES, blocking.MIXED)
    assert sum(len(table) for table in tables) == len(frozenset().union(*tables))
    assert frozenset().union(*tables) <= registry.words().keys()


def test_the_reference_is_written_out_of_the_commands(run: Run, tmp_path: Path) -> None:
    whole = ok(run("documentation"))
    folder = tmp_path / "pages"
    ok(run("documentation", "--split", "--out", str(folder)))
    pages = {path.stem: path.read_text() for path in folder.iterdir()}
    assert set(pages) == registry.words().keys() | {"index"}
    for word in registry.words():
        assert pages[word].startswith(f"# {word}\n")
        assert pages[word] in whole
        assert f"[{word}]" in pages["index"]
    assert "(https://docs/" in ok(run("documentation", "--url", "https://docs/"))
    assert not ok(run("documentation", "--no-index")).startswith("# Index")


# --- flags that mean nothing here, and words of another program -------------------------------------------

SEEN_TO = {"format", "output", "color", "no-color", "no-browser-login", "dry-run"}


def test_no_flag_is_silently_without_meaning() -> None:
    root = Root()
    for word in sorted(registry.words()):
        found = root.get_command(None, word)  # type: ignore[arg-type]
        assert found is not None
        if found.details.startswith("Not supported: "):
            continue
        for spec in found.specs:
            assert not spec.void or spec.name in SEEN_TO or is_ignored(spec), f"{word} --{spec.name}"


def test_flags_without_meaning_are_named(lab: Run) -> None:
    assert "--yes is ignored: There is no question to answer\n" in lab("upgrade-model", "--yes").err
    refused(
        lab("controllers", "--managed"), "controllers --managed not supported by pushjuju: there is no JAAS"
    )
    for words in (("agreements", "-c", "mars"), ("agree", "x", "--yes", "-c", "mars")):
        assert lab(*words).err.startswith("ERROR controller mars not found"), words
    assert lab("sync-agent-binary", "-m", "nope").status == 1


def test_what_people_are_told_to_type_is_ours() -> None:
    """The line of a backup that tools read keeps Juju's name."""
    kept = {
        "create_backup.py": "juju version:",
    }
    words = "|".join(sorted((*registry.known(), *registry.ALIASES), key=len, reverse=True))
    typed = re.compile(rf"(?<![-\w/.])juju (?:{words})\b(?!/)")
    for path in sorted(Path(registry.__file__).parents[2].rglob("*.py")):
        for text in texts(path):
            if typed.search(text):
                assert kept.get(path.name, "?") in text, f"{path}: {text}"


def texts(path: Path) -> list[str]:
    """Return the texts of a module that are no docstrings."""
    tree = ast.parse(path.read_text())
    docs = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs
    ]


# --- debug-log of what is not there -----------------------------------------------------------------------


def test_debug_log_says_which_names_belong_to_nothing(lab: Run) -> None:
    ok(lab("deploy", CHARM, "web", "--no-wait"))
    ended = lab("debug-log", "--no-tail", "--include", "wbe/0", "--exclude", "9", "-i", "nosuch")
    assert (ended.status, ended.out) == (0, "")
    assert ended.err.splitlines() == [
        'WARNING there is no "wbe/0" in model "shop" or its log; did you mean "web/0"?',
        'WARNING there is no "nosuch" in model "shop" or its log',
        'WARNING there is no "9" in model "shop" or its log; did you mean "0"?',
    ]
    quiet = ("debug-log", "--no-tail", "-i", "web", "-i", "web/0", "-i", "unit-web-0", "-i", "we*", "-x", "0")
    assert lab(*quiet).err == ""


def test_what_is_gone_may_be_in_the_log(lab: Run, tmp_path: Path) -> None:
    ctx = open_context(DataDir(tmp_path / "data"), "lab", environ={})
    with ctx.store.write() as tx:
        model = tx.scalar("model_by_name", owner="admin", name="shop")
        logs.append(ctx.of(tx, model), "unit-old-3", "INFO", "unit", "bye", now=ctx.clock.now())
    ctx.close()
    for name in ("old/3", "old"):
        ended = lab("debug-log", "--no-tail", "--include", name)
        assert ("bye" in ended.out, ended.err) == (True, ""), name


def test_help_commands_marks_what_is_not_supported_here(lab: Run) -> None:
    listed = dict(line.split(maxsplit=1) for line in ok(lab("help", "commands")).splitlines())
    marked = {name for name, summary in listed.items() if summary.endswith("(not supported here).")}
    assert {"migrate", "enable-ha", "dump-db", "add-branch", "add-k8s", "scale-application"} <= marked
    for name in marked:
        assert "Not supported: " in ok(lab("help", name)) or "not supported here" in ok(lab("help", name))
    assert not marked & {"deploy", "status", "agree", "download-backup", "add-user"}


def test_a_backup_without_a_path_names_where_it_lies_and_warns_inside_a_work_tree(
    lab: Run, tmp_path: Path
) -> None:
    """It holds the private key of the controller."""
    ended = lab("create-backup")
    assert ended.status == 0
    (made,) = tmp_path.glob("juju-backup-*.tar.gz")
    assert f"Downloaded to {made}" in ended.err
    assert made.stat().st_mode & 0o777 == 0o600
    assert "WARNING" not in ended.err
    (tmp_path / ".git").write_text("gitdir: elsewhere\n")  # as in a linked work tree
    inside = lab("create-backup", "--filename", "copy.tar.gz")
    assert (
        f"copy.tar.gz holds the private key of the controller, and lies in the git work tree {tmp_path}"
        in " ".join(inside.err.split())
    )


@pytest.mark.parametrize("given", ["trust=true", "trust.yaml"])
def test_trust_is_given_among_the_settings(lab: Run, tmp_path: Path, given: str) -> None:
    """`deploy --config` and `refresh --config` take `trust` as a pair or in a file, as Juju does."""
    (tmp_path / "trust.yaml").write_text("other: {trust: true, greeting: Hi}\n")
    given = given.replace("trust.yaml", str(tmp_path / "trust.yaml"))
    ok(lab("deploy", CHARM, "other", "--config", given, "--no-wait"))
    assert ok(lab("config", "other", "trust")) == "true\n"
    ok(lab("trust", "other", "--remove", "--no-wait"))
    ok(lab("refresh", "other", "--path", CHARM, "--config", given, "--no-wait"))
    assert ok(lab("config", "other", "trust")) == "true\n"


@pytest.mark.parametrize("words", [("deploy", CHARM, "other"), ("refresh", "web", "--path", CHARM)])
def test_settings_come_from_one_file_at_most(lab: Run, tmp_path: Path, words: tuple[str, ...]) -> None:
    ok(lab("deploy", CHARM, "web", "--no-wait"))
    files = [tmp_path / "a.yaml", tmp_path / "b.yaml"]
    for file in files:
        file.write_text("web: {greeting: Hi}\nother: {greeting: Hi}\n")
    ended = lab(*words, *(f"--config={file}" for file in files), "--no-wait")
    refused(ended, "only a single config YAML file can be specified, got 2")


@pytest.mark.parametrize(
    "command",
    [
        ("model-config",),
        ("add-model", "new", "--config"),
        ("model-defaults",),
        ("bootstrap", "local", "new", "--config"),
        ("bootstrap", "local", "new", "--model-default"),
    ],
)
def test_a_default_base_without_support_is_refused(lab: Run, command: tuple[str, ...]) -> None:
    """No charm could be deployed on it; bases of the file `pushjuju.toml` are supported."""
    refused(
        lab(*command, "default-base=ubuntu@25.04"),
        'base "ubuntu@25.04" not supported\nknown bases: ubuntu@24.04',
    )
    refused(lab(*command, "default-series=bionic"), 'base "ubuntu@18.04" not supported')
    ok(lab(*command, "default-base=debian@12"))
