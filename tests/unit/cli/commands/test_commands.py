"""The commands on a real store, without machines: the work behind them is somebody else's test."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pushjuju.cli.work import drive
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.model import models
from tests.world import HELLO_PAGE
from tests.world.commandline import Run, ok

CHARM = str(HELLO_PAGE)


pytestmark = pytest.mark.usefixtures("settled", "utc")


def test_bootstrap_says_what_juju_says(run: Run) -> None:
    ended = run("bootstrap", "local/default", "home", "--add-model", "x", "--build-agent")
    assert (ended.status, ended.out) == (0, "")
    assert ended.err == (
        "--build-agent is ignored: there are no agents\n"
        'Creating Juju controller "home" on local/default\n'
        'Bootstrap complete, controller "home" is now available\n'
        'Initial model "x" added\n'
    )
    assert ok(run("switch")) == "home:admin/x\n"


def test_model_defaults_of_the_controller_reach_its_models(run: Run) -> None:
    run("bootstrap", "local", "--model-default", "mode=", "--config", "update-status-hook-interval=10m")
    run("add-model", "x", "--config", "default-base=ubuntu@22.04")
    shown = json.loads(ok(run("model-config", "--format", "json")))
    assert shown["mode"] == {"Value": "", "Source": "controller"}
    assert shown["default-base"]["Value"] == "ubuntu@22.04/stable"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["status"], "No controllers registered."),
        (["controllers"], "No controllers registered."),
        (["switch"], "No controllers registered."),
        (["bootstrap", "nowhere"], "cloud nowhere not found"),
    ],
)
def test_without_a_controller(run: Run, words: list[str], text: str) -> None:
    ended = run(*words)
    assert ended.status == 1
    assert ended.err.startswith(f"ERROR {text}\n")


def test_the_first_deploy_needs_no_ceremony(run: Run, settled: list[Any]) -> None:
    ended = run("deploy", CHARM)
    assert ended.status == 0
    assert ended.err == (
        'No controller yet: made controller "local" for machines on this computer, with model "default"\n'
        'Located local charm "hello-page", revision 0\n'
        'Deploying "hello-page" from local charm "hello-page", revision 0 on ubuntu@24.04/stable\n'
    )
    assert settled[0] == ("hello-page",)
    assert ok(run("switch")) == "local:admin/default\n"
    status = json.loads(ok(run("status", "--format", "json")))
    assert list(status["applications"]["hello-page"]["units"]) == ["hello-page/0"]


def test_switch(lab: Run) -> None:
    ok(lab("add-model", "other"))
    assert lab("switch", "shop").err == "lab:admin/other -> lab:admin/shop\n"
    assert lab("switch", "lab:shop").err == "lab:admin/shop (no change)\n"
    assert lab("switch", ":other").err == "lab:admin/shop -> lab:admin/other\n"
    ok(lab("bootstrap", "manual", "second", "--no-switch"))
    assert lab("switch", "second").err == "lab:admin/other -> second\n"
    assert lab("switch", "lab:").err == "second -> lab:admin/other\n"
    ended = lab("switch", "nonsense")
    assert ended.status == 1
    assert "not found" in ended.err


def test_a_reset_key_gets_the_default_of_the_provider_again(lab: Run) -> None:
    ok(lab("add-model", "taken", "manual"))
    ok(lab("model-config", "enable-os-upgrade=true"))
    assert ok(lab("model-config", "enable-os-upgrade")) == "True\n"
    ok(lab("model-config", "--reset", "enable-os-upgrade"))
    assert ok(lab("model-config", "enable-os-upgrade")) == "False\n"


def test_models(lab: Run) -> None:
    assert (
        lab("add-model", "dev", "--no-switch").err == "Added 'dev' model on local/default for user 'admin'\n"
    )
    assert ok(lab("models")) == (
        "Controller: lab\n\n"
        "Model       Cloud/Region   Type   Status     Machines  Cores  Units  Access  Last connection\n"
        "controller  local/default  local  available         0      -  -      admin   just now\n"
        "dev         local/default  local  available         0      -  -      admin   just now\n"
        "shop*       local/default  local  available         0      -  -      admin   just now\n"
    )
    listed = json.loads(ok(lab("list-models", "--format=json")))
    assert listed["current-model"] == "shop"
    assert [model["short-name"] for model in listed["models"]] == ["controller", "dev", "shop"]
    shown = json.loads(ok(lab("show-model", "dev", "--format", "json")))["dev"]
    needed = (
        "name", "short-name", "model-uuid", "model-type", "controller-uuid", "controller-name",
        "is-controller", "cloud", "life",
    )  # fmt: skip
    assert all(key in shown for key in needed)
    assert lab("add-model", "dev").err == 'ERROR model "dev" for admin already exists\n'
    assert "is not a valid name" in lab("add-model", "Bad_").err


@pytest.mark.parametrize("text", ["shop", "admin/shop", "lab:shop", "lab:admin/shop"])
def test_a_model_may_be_named_in_many_ways(lab: Run, text: str) -> None:
    ok(lab("add-model", "other"))
    assert json.loads(ok(lab("status", "-m", text, "--format", "json")))["model"]["name"] == "shop"
    assert (
        json.loads(ok(lab("status", "--format", "json", env={"JUJU_MODEL": text})))["model"]["name"] == "shop"
    )


def test_a_models_uuid_names_it(lab: Run) -> None:
    uuid = json.loads(ok(lab("show-model", "--format", "json")))["shop"]["model-uuid"]
    assert json.loads(ok(lab("show-model", uuid[:8], "--format", "json")))["shop"]["model-uuid"] == uuid


def test_contradicting_variables(lab: Run) -> None:
    ended = lab("status", env={"JUJU_MODEL": "lab:shop", "JUJU_CONTROLLER": "other"})
    assert ended.err.startswith("ERROR controller name from JUJU_MODEL (lab) conflicts")


def test_status_of_an_empty_model(lab: Run) -> None:
    ended = lab("status")
    assert ended.status == 0
    assert ended.err == '\nModel "admin/shop" is empty.\n'
    assert lab("status", "nothing").err == "Nothing matched specified filter.\n"
    assert lab("status", "a", "b").err == "Nothing matched specified filters.\n"
    assert lab("status", "--color", "--no-color").err == "ERROR cannot mix --no-color and --color\n"
    wanted = "provided relations, storage options are always enabled in non tabular formats\n"
    assert lab("status", "--relations", "--storage", "--format", "json").err.startswith(wanted)
    ended = lab("status", env={"JUJU_STATUS_ISO_TIME": "perhaps"})
    assert (ended.status, ended.err) == (
        2,
        "ERROR invalid JUJU_STATUS_ISO_TIME env var, expected true|false\n",
    )


def test_a_failing_status_gives_an_empty_document(lab: Run) -> None:
    ended = lab("status", "-m", "nothing", "--format", "json")
    assert (ended.status, ended.out) == (1, "{}\n")
    assert ended.err == "ERROR model lab:admin/nothing not found\n"


def test_deploy_with_everything(lab: Run, settled: list[Any]) -> None:
    ended = lab(
        "deploy", CHARM, "front", "-n", "2", "--config", "port=81", "--config", "greeting=a=b",
        "--constraints", "mem=2G", "--constraints", "cpu-cores=2", "--base", "ubuntu@22.04", "--trust",
        "--no-wait",
    )  # fmt: skip
    assert ended.status == 0, ended.err
    assert 'Warning: constraint "cpu-cores" is deprecated in favor of "cores".' in ended.err
    assert settled[-1] == "no-wait"
    config = json.loads(ok(lab("config", "front", "--format", "json")))
    assert config["settings"]["port"]["value"] == 81
    assert config["settings"]["greeting"]["value"] == "a=b"
    assert config["application-config"]["trust"]["value"] is True
    assert ok(lab("constraints", "front")) == "cores=2 mem=2048M\n"
    assert json.loads(ok(lab("constraints", "front", "--format", "json"))) == {"cores": 2, "mem": 2048}
    machines = json.loads(ok(lab("machines", "--format", "json")))
    assert list(machines["machines"]) == ["0", "1"]
    assert machines["machines"]["0"]["base"] == {"name": "ubuntu", "channel": "22.04"}
    assert list(json.loads(ok(lab("show-machine", "1", "--format", "json")))["machines"]) == ["1"]


@pytest.mark.parametrize(
    ("words", "status", "text"),
    [
        ([], 2, "no charm or bundle specified"),
        ([CHARM, "a", "b"], 2, 'unrecognized args: ["b"]'),
        ([CHARM, "Bad"], 2, 'invalid application name "Bad"'),
        ([CHARM, "-n", "0"], 2, "--num-units must be a positive integer"),
        ([CHARM, "-n", "99999999999999"], 2, "--num-units must be at most 10000"),
        (
            [CHARM, "--revision", "3"],
            1,
            "specifying a revision requires a channel for future upgrades. Please use --channel",
        ),
        ([CHARM, "--to", "lxd:"], 2, 'invalid --to parameter "lxd:"'),
        (
            [CHARM, "--series", "jammy", "--base", "ubuntu@22.04"],
            2,
            "--series and --base cannot be specified together",
        ),
        ([CHARM, "--attach-storage", "a/0", "-n", "2"], 2, "--attach-storage cannot be used with -n"),
        ([CHARM, "--config", "port=x"], 1, ""),
        ([CHARM, "--config", "missing.yaml"], 1, "open missing.yaml: no such file or directory"),
        ([CHARM, "--constraints", "memory=1"], 1, 'unknown constraint "memory"'),
        ([CHARM, "--to", "7"], 1, "machine 7 not found"),
        (["./nothing"], 1, 'no charm was found at "./nothing"'),
        (
            ["postgres!"],
            1,
            'cannot parse name and/or revision in URL "postgres!": name "postgres!" not valid',
        ),
        (
            [CHARM, "--storage", "x"],
            2,
            'invalid value "x" for option --storage: expected "name=constraints"',
        ),
    ],
)
def test_a_refused_deploy_changes_nothing(lab: Run, words: list[str], status: int, text: str) -> None:
    ended = lab("deploy", *words)
    assert ended.status == status
    assert ended.err.splitlines()[0].startswith(f"ERROR {text}")
    shown = json.loads(ok(lab("status", "--format", "json")))
    assert shown["applications"] == shown["machines"] == {}


def test_deploying_twice(lab: Run) -> None:
    ok(lab("deploy", CHARM))
    for more in ((), ("--dry-run",)):
        ended = lab("deploy", CHARM, *more)
        assert ended.err == (
            'ERROR cannot add application "hello-page": application already exists\n'
            "deploy application using an alias name:\n    pushjuju deploy <application> <alias>\n"
            "or use remove-application to remove the existing one and try again.\n"
        )


def test_a_dry_run_refuses_what_deploy_refuses(lab: Run) -> None:
    for words, text in (
        (("--bind", "nope=alpha"), "nope"),
        (("--to", "7"), "machine 7 not found"),
        (("--storage", "none=1G"), 'charm "hello-page" has no store called "none"'),
    ):
        ended = lab("deploy", CHARM, *words, "--dry-run")
        assert (ended.status, text in ended.err) == (1, True), ended.err
        assert lab("deploy", CHARM, *words).err == ended.err


def test_all_settings_that_cannot_be_are_told(lab: Run) -> None:
    wrong = ("portt=1", "nosuch=x")
    refused = [lab("deploy", CHARM, *(f"--config={item}" for item in wrong))]
    ok(lab("deploy", CHARM))
    refused.append(lab("config", "hello-page", *wrong))
    for ended in refused:
        assert ended.status == 1
        assert 'unknown option "portt"\n' in ended.err
        assert 'also:\n  unknown option "nosuch"\n' in ended.err


def test_a_dry_run_deploys_nothing(lab: Run) -> None:
    assert "would be deployed" in lab("deploy", CHARM, "--dry-run").err
    assert json.loads(ok(lab("status", "--format", "json")))["applications"] == {}


def test_config(lab: Run, tmp_path: Path, settled: list[Any]) -> None:
    ok(lab("deploy", CHARM, "web"))
    settled.clear()
    ok(lab("config", "web", "port=81", "banner=false"))
    assert settled[0] == ("web",)
    assert ok(lab("config", "web", "port")) == "81\n"
    assert ok(lab("config", "web", "banner", "--format", "json")) == "false\n"
    assert ok(lab("config", "web", "token")) == "\n"
    (tmp_path / "greeting.txt").write_text("from a file")
    ok(lab("config", "web", "greeting=@greeting.txt", "--reset", "port,banner"))
    assert ok(lab("config", "web", "greeting")) == "from a file\n"
    assert ok(lab("config", "web", "port")) == "8080\n"
    ok(lab("config", "web", "--file", "-", stdin="web:\n  port: 99\n"))
    assert ok(lab("config", "web", "port")) == "99\n"
    dump = ok(lab("config", "web"))
    ok(lab("config", "web", "--file", "-", stdin=dump))
    assert ok(lab("config", "web")) == dump


@pytest.mark.parametrize(
    ("words", "status", "text"),
    [
        ([], 2, "no application name specified"),
        (["Web"], 2, 'invalid application name "Web"'),
        (["web", "a", "b"], 2, "cannot specify multiple keys to get"),
        (["web", "port", "x=1"], 2, "cannot get value and set values simultaneously"),
        (["web", "port", "--reset", "x"], 2, "cannot get value and reset keys simultaneously"),
        (["web", "port=1", "port=2"], 2, 'key "port" specified more than once'),
        (["web", "port=1", "--reset", "port"], 2, 'cannot set and reset key "port" simultaneously'),
        (["other"], 1, 'application "other" not found'),
        (["web", "nokey"], 1, 'key "nokey" not found in "web" application config or charm settings.'),
        (["web", "nokey=1"], 1, 'parsing settings for application: unknown option "nokey"'),
    ],
)
def test_refused_config(lab: Run, words: list[str], status: int, text: str) -> None:
    ok(lab("deploy", CHARM, "web"))
    ended = lab("config", *words)
    assert (ended.status, ended.err.splitlines()[0]) == (status, f"ERROR {text}")


def test_model_config(lab: Run) -> None:
    ok(lab("model-config", "mode=", "update-status-hook-interval=10m"))
    assert ok(lab("model-config", "update-status-hook-interval")) == "10m\n"
    assert ok(lab("model-config", "mode")) == "\n"
    ok(lab("model-config", "--reset", "mode"))
    assert json.loads(ok(lab("model-config", "mode", "--format", "json"))) == {
        "mode": {"Value": "requires-prompts", "Source": "default"}
    }
    dump = ok(lab("model-config", "--format", "yaml"))
    ok(lab("model-config", "--file", "-", stdin=dump))
    assert lab("model-config", "nokey").err == 'ERROR key "nokey" not found in "shop" model.\n'
    assert lab("model-config", "agent-version=3").status == 1
    ok(lab("model-config", "--file", "-", "--ignore-read-only-fields", stdin="agent-version: 3\n"))


def test_removals_ask_first(lab: Run) -> None:
    ok(lab("deploy", CHARM, "web", "-n", "2"))
    ended = lab("remove-unit", "web/1", stdin="n\n")
    assert ended.status == 1
    assert ended.out == "will remove unit web/1\n"
    assert ended.err == (
        "WARNING This command will perform the following actions:\n\n"
        "Continue [y/N]? ERROR unit removal: aborted\n"
    )
    assert lab("remove-application", "web", "--dry-run").out == (
        "will remove application web\n- will remove unit web/0\n- will remove unit web/1\n"
    )
    assert lab("remove-machine", "0", stdin="").err.endswith("ERROR machine removal: aborted\n")
    assert lab("remove-machine", "0", "--dry-run").err.endswith("actions:\n\nThis will require `--force`\n")
    assert "--force" not in lab("remove-machine", "0", "--dry-run", "--force").err
    ok(lab("remove-unit", "web/1", stdin="y\n"))
    assert ok(lab("remove-unit", "web/0", "--no-prompt")) == "will remove unit web/0\n"
    ok(lab("model-config", "mode="))
    assert ok(lab("remove-application", "web")) == "will remove application web\n"
    assert json.loads(ok(lab("status", "--format", "json")))["applications"] == {}


def test_removals_are_for_all_or_none(lab: Run, settled: list[Any]) -> None:
    """All faults are told, each as Juju tells it."""
    ok(lab("deploy", CHARM, "web", "-n", "2"))
    ok(lab("add-machine"))
    works = len(settled)
    ended = lab("remove-unit", "wob/0", "web/1", "web/7", "--no-prompt")
    assert (ended.status, ended.out) == (1, "")
    assert ended.err == (
        'ERROR removing unit wob/0 failed: unit "wob/0" does not exist\n\nDid you mean:\n\tweb/0\n'
        'ERROR removing unit web/7 failed: unit "web/7" does not exist\n\nDid you mean:\n\tweb/0\n'
    )
    ended = lab("remove-machine", "2", "0", "--no-prompt")
    assert (ended.status, ended.out) == (1, "")
    assert ended.err == 'ERROR removing machine failed: machine 0 has unit "web/0" assigned\n'
    ended = lab("remove-application", "web", "nope", stdin="y\n")
    assert (ended.status, ended.out) == (1, "")
    assert ended.err == 'ERROR removing application nope failed: application "nope" not found\n', (
        "nobody is asked"
    )
    assert len(settled) == works, "nothing was to be worked"
    assert len(json.loads(ok(lab("machines", "--format", "json")))["machines"]) == 3


@pytest.mark.parametrize(
    ("words", "status", "text"),
    [
        (["remove-unit"], 2, "no units specified"),
        (["remove-unit", "web"], 2, 'invalid unit name "web"'),
        (["remove-unit", "web/0", "--no-wait"], 2, "--no-wait without --force not valid"),
        (["remove-unit", "web/0"], 1, 'removing unit web/0 failed: unit "web/0" does not exist'),
        (["remove-application"], 2, "no application specified"),
        (["remove-application", "web"], 1, 'removing application web failed: application "web" not found'),
        (["remove-machine"], 2, "no machines specified"),
        (["remove-machine", "x"], 2, 'invalid machine id "x"'),
        (["remove-machine", "7"], 1, "removing machine failed: machine 7 not found"),
        (["add-machine", "-n", "-1"], 2, "-n must be a positive integer"),
        (["add-machine", "3"], 1, "machine-id cannot be specified when adding machines"),
        (["add-machine", "zone=a", "-n", "2"], 2, "cannot use -n when specifying a placement directive"),
        (
            ["add-machine", "--constraints", "container=lxd"],
            2,
            'container constraint "lxd" not allowed when adding a machine',
        ),
        (
            ["add-machine", "--disks", "loop,4G bad_word"],
            2,
            (
                'invalid value "loop,4G bad_word" for option --disks: cannot parse disk constraints: '
                'unrecognized storage constraint "bad_word" not valid'
            ),
        ),
        (["add-machine", "ssh:root@h", "--disks", "1G"], 2, "--disks is for machines that a cloud makes"),
        (["add-machine", "lxd:0", "--disks", "1G"], 2, "--disks is for machines that a cloud makes"),
        (
            ["add-machine", "--disks", "fast,1G"],
            1,
            'cannot add a new machine: validating volume params: pool "fast" not found',
        ),
        (
            ["add-machine", "--disks", "loop"],
            1,
            "cannot add a new machine: validating volume params: invalid size 0",
        ),
        (
            ["add-machine", "--disks", "tmpfs,1G"],
            1,
            'cannot add a new machine: validating volume params: "tmpfs" provider does not support "block"',
        ),
        (
            ["add-machine", "--disks", "loop,1M,600", "--disks", "loop,1M,600"],
            1,
            "cannot add a new machine: validating volume params: at most 1000 instances supported, 1200",
        ),
        (["add-unit"], 2, "no application specified"),
        (["add-unit", "web"], 1, 'application "web" not found'),
        (["add-unit", "web", "-n", "0"], 2, "--num-units must be a positive integer"),
        (["add-unit", "web", "-n", "99999999999999"], 2, "--num-units must be at most 10000"),
        (["resolved"], 2, "no unit specified"),
        (["resolved", "web/0", "--all"], 2, "specifying unit names(s) with --all not supported"),
        (["refresh"], 2, "no application specified"),
        (["refresh", "web"], 1, 'application "web" not found'),
        (["refresh", "web", "--path", ".", "--switch", "x"], 2, "--switch and --path are mutually exclusive"),
        (["trust"], 2, "no application name specified"),
        (["show-unit"], 2, "an unit name must be supplied"),
        (["show-unit", "web/0"], 1, 'unit "web/0" not found'),
        (["show-unit", "web", "db/x"], 2, "unit names web, db/x not valid"),
        (["show-unit", "web/0", "--related-unit", "db"], 2, "related unit name db not valid"),
        (["show-application", "a/1", "B"], 2, "application names a/1, B not valid"),
        (["show-status-log"], 2, "entity name is missing."),
        (["show-status-log", "web/0", "--type", "x"], 2, 'unexpected status type "x"'),
        (["show-status-log", "web"], 2, '"web" is not a valid name for a unit'),
        (
            ["show-status-log", "web/0", "-n", "1", "--days", "1"],
            2,
            "backlog size, backlog date and backlog days back",
        ),
        (["show-status-log", "web/0"], 1, "no status history available"),
        (["debug-log", "--tail", "--no-tail"], 2, "setting --tail and --no-tail not valid"),
        (
            ["show-status-log", "web/0", "-n", "-3"],
            2,
            "backlog size and backlog days back cannot be negative",
        ),
        (["debug-log", "--no-tail", "--retry"], 2, "setting --no-tail and --retry not valid"),
        (
            ["debug-log", "--level", "LOUD"],
            2,
            'level value "LOUD" is not one of "TRACE", "DEBUG", "INFO", "WARNING", "ERROR"',
        ),
        (["ssh"], 2, "no target name specified"),
        (["ssh", "web/0"], 1, 'unit "web/0" not found'),
        (["ssh", "7"], 1, "machine 7 not found"),
        (["scp", "a"], 2, "at least two arguments required"),
        (["add-model", "A B"], 2, '"A B" is not a valid name: model names may only contain lowercase'),
        (
            ["deploy", "local:web-0"],
            1,
            "cannot interpret as a redeployment of a local charm from the controller: charm",
        ),
        (["retry-provisioning", "7"], 1, "machine 7 not found"),
        (["destroy-model"], 2, "no model specified"),
        (
            ["destroy-model", "x", "--destroy-storage", "--release-storage"],
            2,
            "--destroy-storage and --release-storage",
        ),
        (["destroy-model", "x", "--timeout", "1s"], 2, "--timeout can only be used with --force (dangerous)"),
        (["branch", "x"], 1, "branch not supported by pushjuju"),
        (["expose", "web"], 1, 'application "web" not found'),
        (["expose"], 2, "no application name specified"),
        (["set-firewall-rule"], 2, "no well known service specified"),
        (["set-firewall-rule", "x"], 1, 'service "x" not supported'),
        (["set-firewall-rule", "ssh", "--allowlist", "x"], 2, "invalid allow-list subnet: invalid CIDR"),
        (["update-status", "x"], 2, 'invalid unit name "x"'),
        (["controller", "stop"], 2, 'unknown subcommand "stop"'),
    ],
)
def test_refusals_have_jujus_text(lab: Run, words: list[str], status: int, text: str) -> None:
    ended = lab(*words)
    assert ended.status == status
    assert ended.out == ""
    assert ended.err.startswith(f"ERROR {text}")


def test_units_and_machines(lab: Run, settled: list[Any]) -> None:
    ok(lab("deploy", CHARM, "web"))
    ok(lab("add-unit", "web", "-n", "2"))
    assert settled[-1] == ["web/1", "web/2"]
    ok(lab("add-unit", "web", "--to", "0"))
    assert lab("add-machine", "-n", "2").err == "created machine 3\ncreated machine 4\n"
    assert (
        lab("add-machine", "-n", "2", "--disks", "loop,1G,2").err == "created machine 5\ncreated machine 6\n"
    )
    planned = lab("remove-machine", "5", "--dry-run")
    assert planned.out == "will remove machine 5\n- will remove volume 5/0\n- will remove volume 5/1\n"
    assert "--force" not in planned.err
    shown = json.loads(ok(lab("show-unit", "web/3", "--format", "json")))["web/3"]
    assert shown["machine"] == "0"
    assert {"opened-ports", "charm", "leader"} <= set(shown)
    assert ok(lab("status", "--format", "oneline")).count("- web/") == 4
    assert lab("remove-machine", "4", "--no-prompt").out == "will remove machine 4\n"
    kept = lab("remove-machine", "3", "--keep-instance", "--no-prompt")
    assert kept.out == "will remove machine 3 (but retaining cloud instance)\n"


def test_refresh(lab: Run) -> None:
    ok(lab("deploy", CHARM, "web"))
    ended = lab("refresh", "web", "--path", CHARM, "--config", "port=82")
    assert 'Added local charm "hello-page", revision 1, to the model\n' in ended.err
    assert json.loads(ok(lab("status", "--format", "json")))["applications"]["web"]["charm-rev"] == 1
    assert ok(lab("config", "web", "port")) == "82\n"


def test_history_and_log(lab: Run) -> None:
    ok(lab("deploy", CHARM, "web"))
    table = ok(lab("show-status-log", "web/0"))
    assert table.startswith("Time ")
    assert "waiting for machine" in table
    listed = json.loads(ok(lab("show-status-log", "web/0", "--type", "workload", "--format", "json")))
    assert [entry["status"] for entry in listed] == ["waiting"]
    assert ok(lab("show-status-log", "--type", "model")).count("available") == 1
    assert ok(lab("debug-log", "--replay", "--no-tail")) == ""


def test_destroy_model_asks_for_its_name(lab: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    ok(lab("deploy", CHARM, "web"))
    ended = lab("destroy-model", "shop", stdin="other\n")
    assert ended.status == 1
    assert ended.err == (
        'WARNING This command will destroy the "admin/shop" model and affect the following resources. '
        "It cannot be stopped.\n"
        "\n"
        " - 1 machine will be destroyed\n"
        '  - machine list: "0 ()"\n'
        " - 1 application will be removed\n"
        '  - application list: "web"\n'
        " - 0 filesystem and 0 volume will be destroyed\n"
        "\n"
        "To continue, enter the name of the model to be destroyed: ERROR model destruction: aborted\n"
    )
    ok(lab("remove-application", "web", "--no-prompt"))
    background: list[bool] = []

    def work(_cli: object, ctx: Context, _model: str) -> None:
        background.append(True)
        doomed = models.list_models(ctx)[0]
        with ctx.write(doomed.uuid) as tx:
            models.delete(tx)

    monkeypatch.setattr(drive, "background", work)
    ended = lab("destroy-model", "shop", stdin="shop\n", env={"PUSHJUJU_WAIT": "0"})
    assert ended.status == 0
    told = "Destroying model\nWaiting for model to be removed, 1 machine(s)...\nModel destroyed.\n"
    assert ended.err.endswith(told)
    assert background == [True]
    assert ok(lab("whoami")) == "Controller:  lab\nModel:       <no-current-model>\nUser:        admin\n"


def test_plugins_are_listed(lab: Run) -> None:
    listed = json.loads(ok(lab("plugins", "--format", "json")))
    assert {"local", "manual"} <= {entry["name"] for entry in listed}


def test_controllers(lab: Run) -> None:
    listed = json.loads(ok(lab("controllers", "--format", "json")))
    assert listed["current-controller"] == "lab"
    assert listed["controllers"]["lab"]["uuid"]
    shown = json.loads(ok(lab("show-controller", "--format", "json")))["lab"]
    assert shown["details"]["agent-version"].startswith("3.6.")
    assert json.loads(ok(lab("whoami", "--format", "json"))) == {
        "controller": "lab",
        "model": "shop",
        "user": "admin",
    }


def test_explain_tells_what_waits(lab: Run) -> None:
    ok(lab("deploy", CHARM, "web"))
    listed = json.loads(ok(lab("explain", "--format", "json")))
    assert {"web/0", "machine 0"} <= {entry["subject"] for entry in listed}
    machine = json.loads(ok(lab("explain", "0", "--format", "json")))[0]
    assert machine["doing"] == "waiting"
    assert machine["reason"]
    assert ok(lab("explain", "web/0")).startswith("Subject  Doing")
    assert lab("explain", "9").err == "ERROR machine 9 not found\n"
    assert lab("explain", "nope").err == 'ERROR application "nope" not found\n'
    assert lab("explain", "wep").err == 'ERROR application "wep" not found\n\nDid you mean:\n\tweb\n'
    assert lab("explain", "web/9").err == (
        'ERROR unit or storage "web/9" not found\n\nDid you mean:\n\tweb/0\n'
    )
    shown = ok(lab("explain", "web"))
    assert "next: pushjuju explain web/0" in shown
    assert "next: pushjuju explain 0" in ok(lab("explain", "web/0"))


def test_a_removal_that_waits_says_for_what(lab: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[str] = []
    monkeypatch.setattr(drive, "background", lambda _cli, ctx, _model: left.append(ctx.controller.name))
    ok(lab("deploy", CHARM, "web"))
    ended = lab("remove-machine", "0", "--force", "--no-prompt")
    assert (ended.status, ended.out) == (0, "will remove machine 0\n- will remove unit web/0\n")
    assert "machine 0 is removed by force if it still exists by then: " in ended.err
    assert left == ["lab"], "somebody has to do it when its time has come"
    listed = json.loads(ok(lab("explain", "0", "--format", "json")))
    waits = [entry for entry in listed if entry["doing"] == "waiting to be removed"]
    assert [entry["reason"] for entry in waits] == [
        "machine 0 is removed by force if it still exists by then"
    ]
    assert waits[0]["again"]
    quiet = lab("remove-machine", "0", "--force", "--no-prompt", env={"PUSHJUJU_WAIT": "0"})
    assert "removed by force" not in quiet.err
