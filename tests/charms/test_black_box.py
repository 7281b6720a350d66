"""What a charm sees from the inside, on real machines with relations: environment, tools, flush, outcomes.

One deployment serves all tests: `near` and `far`, two units each on two machines, related to each other and
each to itself, and a subordinate of `far`. Every test leaves them as it found them.
"""

from __future__ import annotations

import json
import re
import shlex
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pushjuju import JUJU_VERSION
from tests.charms import prober
from tests.charms.black_box_rows import COMMON, IN_ACTION, NO_ACTION, NOT_LEADER, Rows
from tests.charms.client import Client
from tests.charms.prober import Run, Said, answers, ask, ask_in_action, prepare_hooks, runs

pytestmark = pytest.mark.machine
DOWN, RING = "2", "0"
_BOX = "/var/lib/juju/agents/unit-{}/charm"
_ANY = "any text"


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """What all tests of this module look at.

    Attributes:
        uuid: Of the model.
        machines: Unit -> its machine.
        lives: Unit -> its runs up to now, also of a unit that is gone.
    """

    client: Client
    tree: Path
    uuid: str
    machines: dict[str, str]
    lives: dict[str, list[Run]]
    broken: list[list[Said]]
    created: list[list[Said]]


def _other(client: Client) -> str:
    """Return the unit of `near` that does not lead."""
    return "near/0" if client.leader("near") == "near/1" else "near/1"


@pytest.fixture(scope="module")
def deployment(shared_client: Client, tmp_path_factory: pytest.TempPathFactory) -> Deployment:
    """Everything deployed and related; a third unit of `near` came and went again."""
    client, folder = shared_client, tmp_path_factory.mktemp("charms")
    retry = "automatically-retry-hooks=false"
    words = ("--add-model", "box", "--model-default", "mode=", "--model-default", retry)
    client.run("bootstrap", "local", "here", *words)
    client.run("add-machine", "-n", "2")
    tree = prober.charm(folder)
    inside = {"juju-info": {"interface": "juju-info", "scope": "container"}}
    below = prober.charm(folder, "below", subordinate=True, peers=None, provides=None, requires={
        "host": inside["juju-info"]})  # fmt: skip
    for name in ("near", "far"):
        client.run("deploy", tree, name, "-n", "2", "--to", "0,1")
    client.run("deploy", below)
    client.run("integrate", "near:down", "far:up")
    client.run("integrate", "below:host", "far")
    client.run("exec", "--unit", "near/leader", "leader-set told=once; relation-set -r 2 --app by=leader")
    hooks = {
        "down-relation-created": ["relation-list", "relation-ids", "relation-get", "relation-list --app"],
        "down-relation-broken": [
            "relation-list", "relation-ids --format=json", "relation-list -r 2 --app",
            "relation-set late=1", "relation-get - near/2", "relation-get --format=json",
            "relation-list -r 2",
        ],
    }  # fmt: skip
    prepare_hooks(client, "1", hooks)
    client.run("add-unit", "near", "--to", "1")
    client.run("run", "near/0", "do", "script=exit 0")
    client.run("update-status", "near/0")
    client.run("remove-unit", "near/2")
    found = {
        "created": answers(client, "1", "down-relation-created"),
        "broken": answers(client, "1", "down-relation-broken"),
    }
    client.on("1", "rm /var/lib/probe/in-* /var/lib/probe/from-*")
    lives = {**runs(client, "0"), **runs(client, "1")}
    units = {name: unit for app in ("near", "far") for name, unit in client.units(app).items()}
    return Deployment(
        client=client, tree=tree, uuid=client.json("show-model")["box"]["model-uuid"],
        machines={name: unit["machine"] for name, unit in units.items()}, lives=lives, **found,
    )  # fmt: skip


# --- 1: the environment of one run per kind ---------------------------------------------------------------


def _environ(deployment: Deployment, unit: str, name: str, **more: str) -> dict[str, Any]:
    """Return the whole environment of a hook; patterns for what differs from run to run."""
    tag = unit.replace("/", "-")
    box = _BOX.format(tag)
    return {
        "CHARM_DIR": box,
        "JUJU_CHARM_DIR": box,
        "JUJU_CONTEXT_ID": re.compile(rf"{unit}-{name}-[0-9a-f]{{32}}"),
        "JUJU_HOOK_NAME": name,
        "JUJU_DISPATCH_PATH": f"hooks/{name}",
        "JUJU_AGENT_SOCKET_ADDRESS": f"/var/lib/juju/agents/unit-{tag}/agent.socket",
        "JUJU_AGENT_SOCKET_NETWORK": "unix",
        "JUJU_UNIT_NAME": unit,
        "JUJU_MODEL_UUID": deployment.uuid,
        "JUJU_MODEL_NAME": "box",
        "JUJU_API_ADDRESSES": re.compile(r"\S+:\d+"),
        "JUJU_VERSION": JUJU_VERSION,
        "JUJU_MACHINE_ID": "1" if unit.endswith("/2") else deployment.machines.get(unit, _ANY),
        "JUJU_PRINCIPAL_UNIT": "",
        "JUJU_AVAILABILITY_ZONE": "",
        "CLOUD_API_VERSION": "",
        "JUJU_SLA": "unsupported",
        "JUJU_METER_STATUS": "AMBER",
        "JUJU_METER_INFO": "not set",
        "JUJU_CHARM_HTTP_PROXY": "",
        "JUJU_CHARM_HTTPS_PROXY": "",
        "JUJU_CHARM_FTP_PROXY": "",
        "JUJU_CHARM_NO_PROXY": re.compile("[^ ]*"),
        "PATH": f"/var/lib/juju/tools/unit-{tag}:"
        "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/snap/bin",
        "APT_LISTCHANGES_FRONTEND": "none",
        "DEBIAN_FRONTEND": "noninteractive",
        "LANG": "C.UTF-8",
        "TERM": "tmux-256color",
        **more,
    }


def _relation(endpoint: str, number: str, unit: str, application: str, **more: str) -> dict[str, str]:
    return {
        "JUJU_RELATION": endpoint,
        "JUJU_RELATION_ID": f"{endpoint}:{number}",
        "JUJU_REMOTE_UNIT": unit,
        "JUJU_REMOTE_APP": application,
        **more,
    }


def _differences(found: dict[str, str], wanted: dict[str, Any]) -> dict[str, Any]:
    """Return what is not as wanted: variable -> (found, wanted)."""
    names = sorted(found.keys() | wanted.keys())
    return {
        name: (found.get(name), wanted.get(name))
        for name in names
        if not _fits(found.get(name), wanted.get(name))
    }


def _fits(found: str | None, wanted: Any) -> bool:
    if found is None or wanted is None:
        return found is wanted
    if isinstance(wanted, re.Pattern):
        return bool(wanted.fullmatch(found))
    return wanted in (_ANY, found)


def _one(deployment: Deployment, unit: str, name: str, **wanted: str) -> dict[str, str]:
    """Return the environment of a unit's first run of a name that has these values."""
    for run in deployment.lives[unit]:
        if run.name == name and all(run.environ.get(key) == value for key, value in wanted.items()):
            return dict(run.environ)
    raise AssertionError(
        f"{unit} never ran {name} with {wanted}: {[run.name for run in deployment.lives[unit]]}"
    )


@pytest.mark.parametrize("name", ["install", "config-changed", "start", "stop", "remove"])
def test_environment_of_plain_hooks(deployment: Deployment, name: str) -> None:
    assert _differences(_one(deployment, "near/2", name), _environ(deployment, "near/2", name)) == {}


def test_environment_of_leaders_and_of_update_status(deployment: Deployment) -> None:
    elected = next(unit for unit in ("near/0", "near/1") if "leader-elected" in _names(deployment, unit))
    for unit, name in (
        (elected, "leader-elected"),
        ("near/2", "leader-settings-changed"),
        ("near/0", "update-status"),
    ):
        assert _differences(_one(deployment, unit, name), _environ(deployment, unit, name)) == {}


def _names(deployment: Deployment, unit: str) -> list[str]:
    return [run.name for run in deployment.lives[unit]]


@pytest.mark.parametrize(
    ("unit", "name", "relation"),
    [
        ("near/2", "down-relation-created", _relation("down", DOWN, "", "far")),
        ("near/2", "down-relation-joined", _relation("down", DOWN, "far/1", "far")),
        ("near/2", "down-relation-changed", _relation("down", DOWN, "far/1", "far")),
        ("far/0", "up-relation-changed", _relation("up", DOWN, "", "near")),
        (
            "far/0",
            "up-relation-departed",
            _relation("up", DOWN, "near/2", "near", JUJU_DEPARTING_UNIT="near/2"),
        ),
        (
            "near/2",
            "down-relation-departed",
            _relation("down", DOWN, "far/0", "far", JUJU_DEPARTING_UNIT="near/2"),
        ),
        ("near/2", "down-relation-broken", _relation("down", DOWN, "", "far")),
        ("near/2", "ring-relation-created", _relation("ring", RING, "", "near")),
        ("near/0", "ring-relation-joined", _relation("ring", RING, "near/2", "near")),
        (
            "near/0",
            "ring-relation-departed",
            _relation("ring", RING, "near/2", "near", JUJU_DEPARTING_UNIT="near/2"),
        ),
    ],
)
def test_environment_of_relation_hooks(
    deployment: Deployment, unit: str, name: str, relation: dict[str, str]
) -> None:
    found = _one(deployment, unit, name, JUJU_REMOTE_UNIT=relation["JUJU_REMOTE_UNIT"])
    assert _differences(found, _environ(deployment, unit, name, **relation)) == {}


def test_environment_of_a_subordinate(deployment: Deployment) -> None:
    for unit in ("below/0", "below/1"):
        found = _one(deployment, unit, "host-relation-joined")
        principal = found["JUJU_PRINCIPAL_UNIT"]
        wanted = _environ(
            deployment, unit, "host-relation-joined", JUJU_PRINCIPAL_UNIT=principal,
            JUJU_MACHINE_ID=deployment.machines[principal], **_relation("host", "3", principal, "far"),
        )  # fmt: skip
        assert _differences(found, wanted) == {}


def test_environment_of_an_action(deployment: Deployment) -> None:
    found = _one(deployment, "near/0", "do")
    number = found["JUJU_ACTION_UUID"]
    wanted = _environ(
        deployment, "near/0", "do", JUJU_HOOK_NAME="", JUJU_DISPATCH_PATH="actions/do", JUJU_ACTION_NAME="do",
        JUJU_ACTION_UUID=number, JUJU_ACTION_TAG=f"action-{number}",
    )  # fmt: skip
    assert number.isdigit()
    assert _differences(found, wanted) == {}


def test_environment_of_commands_and_of_proxies(deployment: Deployment) -> None:
    text = "tr '\\0' '\\n' < /proc/$$/environ"
    wanted = _environ(deployment, "near/0", "run-commands", JUJU_HOOK_NAME="")
    del wanted["JUJU_DISPATCH_PATH"]
    assert _differences(_lines(deployment.client.run("exec", "--unit", "near/0", text)), wanted) == {}
    own = ["juju-http-proxy=http://own:1", "juju-no-proxy=own"]
    plain = ["http-proxy=http://plain:2", "no-proxy=b,a,b"]
    with_own = {**wanted, "JUJU_CHARM_HTTP_PROXY": "http://own:1", "JUJU_CHARM_NO_PROXY": "own"}
    assert _differences(_lines(_with_config(deployment, own, text)), with_own) == {}
    for name, value in (("http_proxy", "http://plain:2"), ("no_proxy", "a,b")):
        wanted[name] = wanted[name.upper()] = value
    assert _differences(_lines(_with_config(deployment, plain, text)), wanted) == {}


def _with_config(deployment: Deployment, settings: list[str], command: str) -> str:
    """Run a command on a unit while the model has some settings."""
    deployment.client.run("model-config", *settings)
    try:
        return deployment.client.run("exec", "--unit", "near/0", command)
    finally:
        deployment.client.run(
            "model-config", "--reset", ",".join(item.partition("=")[0] for item in settings)
        )


def _lines(text: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in text.splitlines() if line)


def test_the_process_of_a_run(deployment: Deployment) -> None:
    """Directory, user, mask, open files, standard input."""
    text = "pwd; id -u; id -g; umask; readlink /proc/$$/fd/0; ulimit -n; ulimit -Hn"
    *said, files, most = deployment.client.run("exec", "--unit", "near/0", text).splitlines()
    assert said == [_BOX.format("near-0"), "0", "0", "0022", "/dev/null"]
    assert int(files) == min(64000, int(most))


# --- 2: the rows of errors --------------------------------------------------------------------------------


def _faults(rows: Rows, said: list[Said]) -> list[tuple[str, Said]]:
    """Return the rows that were answered otherwise."""
    wanted = [Said(rc=rc, out="", err=f"ERROR {text}\n") for _, rc, text in rows]
    return [(row[0], one) for row, one, two in zip(rows, said, wanted, strict=True) if one != two]


def test_errors_of_the_tools(deployment: Deployment) -> None:
    rows = COMMON + NO_ACTION
    assert (
        _faults(rows, ask(deployment.client, deployment.client.leader("near"), *(row[0] for row in rows)))
        == []
    )


def test_errors_of_a_unit_that_does_not_lead(deployment: Deployment) -> None:
    assert (
        _faults(
            NOT_LEADER, ask(deployment.client, _other(deployment.client), *(row[0] for row in NOT_LEADER))
        )
        == []
    )


def test_errors_of_the_tools_in_an_action(deployment: Deployment) -> None:
    rows = COMMON + IN_ACTION
    assert (
        _faults(
            rows,
            ask_in_action(deployment.client, deployment.client.leader("near"), *(row[0] for row in rows)),
        )
        == []
    )


def test_a_tool_whose_run_is_over(deployment: Deployment) -> None:
    """The id of a run that ended is refused; so is a socket where nobody listens."""
    (said,) = ask(deployment.client, "near/0", "echo $JUJU_CONTEXT_ID")
    late, away = ask(
        deployment.client,
        "near/0",
        f"JUJU_CONTEXT_ID={said.out.strip()} config-get",
        "JUJU_AGENT_SOCKET_ADDRESS=/nowhere/agent.socket config-get",
    )
    assert (late.rc, late.out) == (away.rc, away.out) == (1, "")
    assert late.err == f'ERROR bad request: wrong context ID; got "{said.out.strip()}"\n'
    assert re.fullmatch(r"ERROR .*connect: no such file or directory\n", away.err)


def test_ports_that_collide(deployment: Deployment) -> None:
    """With those of the same unit, of the same run, and of another unit on the machine."""
    unit = "near/0"
    other = next(u for u, m in deployment.machines.items() if m == deployment.machines[unit] and u != unit)
    assert ask(deployment.client, other, "open-port 100-200")[0].rc == 0
    assert ask(deployment.client, unit, "open-port 80-90")[0].rc == 0
    rows = [
        (
            "open-port 50-100",
            1,
            f'cannot open 50-100/tcp (unit "{unit}"): port range conflicts with 100-200/tcp (unit "{other}")',
        ),
        (
            "open-port 100-200",
            1,
            (
                f'cannot open 100-200/tcp (unit "{unit}"): '
                f'port range conflicts with 100-200/tcp (unit "{other}")'
            ),
        ),
        (
            "close-port 80-85",
            1,
            f'cannot close 80-85/tcp (unit "{unit}"): port range conflicts with 80-90/tcp (unit "{unit}")',
        ),
        (
            "open-port 85-95",
            1,
            f'cannot open 85-95/tcp (unit "{unit}"): port range conflicts with 80-90/tcp (unit "{unit}")',
        ),
        (
            "open-port 300-310; open-port 305",
            1,
            (
                f'cannot open 305/tcp (unit "{unit}"): '
                f'port range conflicts with 300-310/tcp (unit "{unit}") requested earlier'
            ),
        ),
    ]
    assert _faults(rows, ask(deployment.client, unit, *(row[0] for row in rows))) == []
    good = ask(
        deployment.client, unit, "open-port 80-90", "open-port 100-200/udp", "open-port --endpoints up 80-90"
    )
    assert good == [Said(rc=0, out="", err="")] * 3
    ask(deployment.client, unit, "close-port 80-90", "close-port 100-200/udp", "close-port 300-310")
    ask(deployment.client, other, "close-port 100-200")
    assert ask(deployment.client, unit, "opened-ports --format=json")[0].out == "[]\n"


def test_an_endpoint_of_a_port_that_is_not_there(deployment: Deployment) -> None:
    """It is noticed when the run ends: the run has failed."""
    done = deployment.client.try_run(
        "run", "near/0", "do", "script=open-port --endpoints x 80", "--format", "json"
    )
    task = json.loads(done.stdout)["near/0"]
    assert (task["status"], task["message"]) == ("failed", "committing requested changes failed")
    assert task["results"]["stderr"] == (
        'cannot open/close ports: open port range: endpoint "x" for unit "near/0" not found\n'
    )
    assert task["results"]["return-code"] == 1


def test_hooks_without_a_remote_unit(deployment: Deployment) -> None:
    """In -created and -broken nobody is there; the application stands for its units."""
    assert deployment.created == [
        [
            Said(rc=0, out="", err=""),
            Said(rc=0, out="down:2\n", err=""),
            Said(rc=0, out="{}\n", err=""),
            Said(rc=0, out="far\n", err=""),
        ]
    ]
    ((members, ids, application, late, own, remote, by_id),) = deployment.broken
    assert members == by_id == Said(rc=0, out="", err="")
    assert ids.out == '["down:2"]\n', "the relation lives on, it is the unit that leaves"
    assert application.out == "far\n"
    assert late == Said(rc=0, out="", err="")
    assert 'late: "1"\n' in own.out
    assert remote.out == "{}\n"


# --- 3: values in three formats ---------------------------------------------------------------------------


def _formats(command: str) -> list[str]:
    tool, _, rest = command.partition(" ")
    return [f"{tool} --format={form} {rest}" for form in ("smart", "yaml", "json")]


VALUES = [
    ("config-get unset", "", "", "null\n"),
    ("config-get nothing", "", "", "null\n"),
    ("config-get word", "abc\n", "abc\n", '"abc"\n'),
    ("config-get empty", "", '""\n', '""\n'),
    ("config-get truth", "True\n", "true\n", "true\n"),
    ("config-get whole", "3\n", "3\n", "3\n"),
    ("config-get half", "2.5\n", "2.5\n", "2.5\n"),
    ("relation-ids down", "down:2\n", "- down:2\n", '["down:2"]\n'),
    ("relation-ids nothing", "", "[]\n", "[]\n"),
    ("relation-get -r 2 nothing far/0", "", "", "null\n"),
    ("relation-get -r 2 word far/0", "abc\n", "abc\n", '"abc"\n'),
    ("relation-get -r 2 truth far/0", "true\n", '"true"\n', '"true"\n'),
    ("relation-get -r 2 whole far/0", "3\n", '"3"\n', '"3"\n'),
    ("relation-get -r 2 markup far/0", "<a&b> é\n", "<a&b> é\n", '"\\u003ca\\u0026b\\u003e é"\n'),
    ("relation-get -r 2 lines far/0", "a\nb\n", "|-\n  a\n  b\n", '"a\\nb"\n'),
    ("relation-get -r 2 last far/0", "a\n\n", "|\n  a\n", '"a\\n"\n'),
    ("relation-get -r 2 --app - far", "{}\n", "{}\n", "{}\n"),
    ("relation-list -r 2", "far/0\nfar/1\n", "- far/0\n- far/1\n", '["far/0","far/1"]\n'),
    ("is-leader", "True\n", "true\n", "true\n"),
    ("leader-get nothing", "", "", "null\n"),
    ("leader-get", "told: once\n", "told: once\n", '{"told":"once"}\n'),
]


def test_values_in_three_formats(deployment: Deployment) -> None:
    data = json.dumps({"word": "abc", "truth": "true", "whole": "3", "markup": "<a&b> é", "lines": "a\nb",
                       "last": "a\n"}, ensure_ascii=False)  # fmt: skip
    deployment.client.run(
        "exec", "--unit", "far/0", f"printf %s {shlex.quote(data)} | relation-set -r 2 --file -"
    )
    lines = [line for command, *_ in VALUES for line in _formats(command)]
    said = ask(deployment.client, deployment.client.leader("near"), *lines)
    wanted = [text for _, *texts in VALUES for text in texts]
    differing = [
        (line, one)
        for line, one, text in zip(lines, said, wanted, strict=True)
        if one != Said(rc=0, out=text, err="")
    ]
    assert differing == []
    deployment.client.run(
        "exec", "--unit", "far/0", "relation-set -r 2 word= truth= whole= markup= lines= last="
    )


def test_maps_in_three_formats(deployment: Deployment) -> None:
    smart, yaml_text, json_text, every = ask(
        deployment.client, "near/0", *_formats("config-get"), "config-get --all --format=json"
    )
    assert smart == yaml_text
    assert yaml_text.out == (
        'config-changed: ""\nempty: ""\nhalf: 2.5\ntruth: true\nupdate-status: ""\nwhole: 3\nword: abc\n'
    )
    wanted = {"config-changed": "", "empty": "", "half": 2.5, "truth": True, "update-status": "",
              "whole": 3, "word": "abc"}  # fmt: skip
    assert json_text.out == json.dumps(wanted, separators=(",", ":")) + "\n"
    assert json.loads(every.out) == {**wanted, "unset": None}


def test_output_goes_to_a_file(deployment: Deployment) -> None:
    first, second = ask(
        deployment.client,
        "near/0",
        "cd /tmp && config-get -o found word && cat found && rm found",
        "config-get -o /nowhere/found word",
    )
    assert first == Said(rc=0, out="abc\n", err="")
    assert second == Said(rc=1, out="", err="ERROR open /nowhere/found: no such file or directory\n")


# --- 4: a hook that fails ---------------------------------------------------------------------------------


@contextmanager
def _mended(deployment: Deployment) -> Iterator[None]:
    """Take the script of config-changed away at the end, and let units go on that are in error."""
    try:
        yield
    finally:
        deployment.client.try_run("config", "near", "--reset", "config-changed")
        for unit, (workload, _) in deployment.client.agents("near").items():
            if workload == "error":
                deployment.client.run("resolved", unit)
    assert set(deployment.client.agents("near").values()) == {("active", "idle")}


_KEPT = """if [ $JUJU_UNIT_NAME = {leader} ]; then
status-set maintenance 'kept it'
application-version-set 7.7
leader-set kept=yes
payload-register docker web 17
juju-log 'kept line'
relation-set -r 2 dropped=1
relation-set -r 2 --app dropped=1
open-port 8080
state-set dropped=1
juju-reboot
exit 3
fi"""


def test_what_is_left_of_a_hook_that_fails(deployment: Deployment) -> None:
    client, leader = deployment.client, deployment.client.leader("near")
    boot = client.on(deployment.machines[leader], "cat /proc/sys/kernel/random/boot_id")
    with _mended(deployment):
        done = client.fail("config", "near", f"config-changed={_KEPT.format(leader=leader)}")
        assert 'hook failed: "config-changed"' in done.error
        status = client.status()["applications"]["near"]
        unit = status["units"][leader]
        assert unit["workload-status"]["current"] == "error"
        assert unit["workload-status"]["message"] == 'hook failed: "config-changed"'
        assert status["version"] == "7.7"
        assert any("kept line" in line for line in client.log(leader))
        said = ask(
            client, leader, "status-get --include-data --format=json", "leader-get kept",
            f"relation-get -r 2 dropped {leader}", "relation-get -r 2 --app dropped near",
            "opened-ports", "state-get dropped", "payload-status-set web 17 stopped",
        )  # fmt: skip
        assert json.loads(said[0].out)["message"] == "kept it"
        assert said[1].out == "yes\n"
        assert [one.out for one in said[2:6]] == ["", "", "", ""]
        assert said[6] == Said(rc=0, out="", err="")
        assert client.on(deployment.machines[leader], "cat /proc/sys/kernel/random/boot_id") == boot
        client.run("exec", "--unit", leader, "leader-set kept=; payload-unregister web 17; status-set active")


# --- 5: what was written and not flushed yet --------------------------------------------------------------


def test_a_run_reads_what_it_wrote(deployment: Deployment) -> None:
    leader = deployment.client.leader("near")
    said = ask(
        deployment.client, leader,
        f"relation-set -r 2 new=1; relation-get -r 2 new {leader}",
        "relation-set -r 2 --app new=2; relation-get -r 2 --app new near",
        f"relation-set -r 2 new=; relation-get -r 2 --format=json new {leader}",
        "open-port 8080; open-port --endpoints up,down 10-20/udp; open-port ICMP; opened-ports",
        "opened-ports --endpoints", "opened-ports --format=json",
        "close-port 8080; close-port icmp; close-port --endpoints up,down 10-20/udp; opened-ports",
        "state-set a=1 b=2; state-get", "state-delete a; state-get --format=json", "state-get b",
        "state-delete b; state-get --format=json", "relation-set -r 2 --app new=",
        "status-get; status-set maintenance; status-get; status-set active",
        "leader-set fresh=1; leader-get fresh; leader-set fresh=",
    )  # fmt: skip
    assert [one.rc for one in said] == [0] * len(said)
    assert [one.out for one in said] == [
        "1\n", "2\n", "null\n", "icmp\n8080/tcp\n10-20/udp\n",
        "icmp (*)\n8080/tcp (*)\n10-20/udp (down, up)\n", '["icmp","8080/tcp","10-20/udp"]\n', "",
        'a: "1"\nb: "2"\n', '{"b":"2"}\n', "2\n", "{}\n", "", "active\nactive\n", "1\n",
    ]  # fmt: skip


# --- 6: leaders and others --------------------------------------------------------------------------------


def test_what_only_a_leader_may(deployment: Deployment) -> None:
    """The leader's writes reach everybody; the other unit reads what it may."""
    client, leader, other = deployment.client, deployment.client.leader("near"), _other(deployment.client)
    written = ask(
        client, leader, "relation-set -r 2 --app pool=8", "relation-set -r 0 --app pool=9",
        "status-set --application blocked 'by the leader'", "leader-set colour=blue",
        "status-get --application",
    )  # fmt: skip
    assert [one.rc for one in written] == [0] * 5
    assert written[4].out == "blocked\n"
    shown = client.status()["applications"]["near"]["application-status"]
    assert (shown["current"], shown["message"]) == ("blocked", "by the leader")
    read = ask(client, other, "relation-get -r 0 --app pool near", "leader-get colour", "is-leader")
    assert [one.out for one in read] == ["9\n", "blue\n", "False\n"]
    assert ask(client, "far/0", "relation-get -r 2 --app pool near")[0].out == "8\n"
    client.run(
        "exec", "--unit", leader,
        "relation-set -r 2 --app pool=; relation-set -r 0 --app pool=; leader-set colour=; "
        "status-set --application active",
    )  # fmt: skip


# --- 7: how actions end -----------------------------------------------------------------------------------


def _act(deployment: Deployment, unit: str, script: str) -> dict[str, Any]:
    done = deployment.client.try_run(
        "run", unit, "do", f"script={script}", "--string-args", "--format", "json"
    )
    found: dict[str, Any] = json.loads(done.stdout)[unit]
    return found


@pytest.mark.parametrize(
    ("script", "status", "message", "code", "flushed"),
    [
        ("true", "completed", "", 0, True),
        ("action-fail no", "failed", "no", 0, True),
        ("action-fail", "failed", "action failed without reason given, check action for errors", 0, True),
        ("action-fail one; action-fail two", "failed", "two", 0, True),
        ("action-fail no; exit 4", "failed", "exit status 4", 4, False),
        ("open-port --endpoints x 80", "failed", "committing requested changes failed", 1, False),
        ("action-fail no; open-port --endpoints x 80", "failed", "no", 1, False),
    ],
)
def test_how_actions_end(
    deployment: Deployment, script: str, status: str, message: str, code: int, flushed: bool
) -> None:
    task = _act(deployment, "near/0", f"state-set ran=1; action-set out.size=10G; echo said; {script}")
    assert (task["status"], task.get("message", "")) == (status, message)
    assert task["results"]["out"] == {"size": "10G"}
    assert (task["results"]["return-code"], task["results"]["stdout"]) == (code, "said\n")
    read, _ = ask(deployment.client, "near/0", "state-get ran", "state-delete ran")
    assert read.out == ("1\n" if flushed else "")
    assert deployment.client.agents("near")["near/0"] == ("active", "idle")


def test_an_action_that_is_cancelled_changes_nothing(deployment: Deployment) -> None:
    client = deployment.client
    found: list[dict[str, Any]] = []
    script = "state-set ran=1; action-set half=yes; touch /tmp/acting; sleep 60"
    worker = threading.Thread(target=lambda: found.append(_act(deployment, "near/0", script)))
    worker.start()
    machine = deployment.machines["near/0"]
    client.until(lambda: client.on(machine, "ls /tmp/acting 2>/dev/null || true"))
    (number,) = next(
        operation["tasks"] for operation in client.json("operations", "--status", "running").values()
    )
    client.run("cancel-task", number)
    worker.join(30)
    task = client.json("show-task", number)
    assert (task["status"], task["message"]) == ("aborted", "terminated")
    assert task["results"]["half"] == "yes"
    read, _ = ask(client, "near/0", "state-get ran", "rm /tmp/acting")
    assert read.out == ""
    assert client.agents("near")["near/0"] == ("active", "idle")


def test_a_unit_in_error_still_runs_actions(deployment: Deployment) -> None:
    with _mended(deployment):
        deployment.client.fail("config", "near", "config-changed=[ $JUJU_UNIT_NAME != near/0 ] || exit 3")
        task = _act(deployment, "near/0", "echo here")
        assert (task["status"], task["results"]["stdout"]) == ("completed", "here\n")
        assert deployment.client.agents("near")["near/0"][0] == "error"


def test_output_of_an_action_that_is_no_text(deployment: Deployment) -> None:
    task = _act(deployment, "near/0", r"printf '\377'")
    assert (task["results"]["stdout-encoding"], task["results"]["stdout"].strip()) == ("base64", "/w==")


# --- 8: commands with any code ----------------------------------------------------------------------------


def test_commands_that_end_with_3_are_flushed(deployment: Deployment) -> None:
    """The other side hears of it, once."""
    client = deployment.client
    before = len(runs(client, deployment.machines["far/0"])["far/0"])
    done = client.fail("exec", "--unit", "near/0", "relation-set -r 2 fresh=1; state-set fresh=1; exit 3")
    assert "with return code 3" in done.error
    said = ask(client, "far/0", "relation-get -r 2 fresh near/0")
    assert said[0].out == "1\n"
    heard = runs(client, deployment.machines["far/0"])["far/0"][before:]
    assert [(run.name, run.environ.get("JUJU_REMOTE_UNIT")) for run in heard] == [
        ("up-relation-changed", "near/0")
    ]
    assert ask(client, "near/0", "state-get fresh")[0].out == "1\n"
    client.run("exec", "--unit", "near/0", "relation-set -r 2 fresh=; state-delete fresh")


# --- 9: a reboot in the middle ----------------------------------------------------------------------------


def test_a_reboot_at_once_runs_the_hook_again(deployment: Deployment) -> None:
    client, machine = deployment.client, deployment.machines["near/0"]
    text = (
        "[ $JUJU_UNIT_NAME = near/0 ] || exit 0\nstate-set tries=x\n"
        "echo ran >> /root/tries\n"
        "[ -e /root/rebooted ] || { touch /root/rebooted; juju-reboot --now; sleep 99; }"
    )
    boot = client.on(machine, "cat /proc/sys/kernel/random/boot_id")
    before = len(runs(client, machine)["near/0"])
    with _mended(deployment):
        client.run("config", "near", f"config-changed={text}")
        assert client.on(machine, "cat /proc/sys/kernel/random/boot_id") != boot
        assert client.on(machine, "cat /root/tries") == "ran\nran\n"
        assert [run.name for run in runs(client, machine)["near/0"][before:]][:2] == ["config-changed"] * 2
    ask(client, "near/0", "state-delete tries; rm /root/tries /root/rebooted")


# --- 10: what a charm keeps in its directory --------------------------------------------------------------


def test_files_that_a_charm_made_survive_an_upgrade(deployment: Deployment) -> None:
    client = deployment.client
    make = "umask 077; echo state > .unit-state.db; echo own > .juju-persistent-config; mkdir -p venv/x"
    ask(client, "near/0", make)
    client.run("refresh", "near", "--path", deployment.tree)
    said = ask(
        client, "near/0",
        "stat -c %a .unit-state.db; cat .unit-state.db .juju-persistent-config; ls -d venv/x",
        "ls upgraded", "cat .juju-charm",
    )  # fmt: skip
    assert said[0].out == "600\nstate\nown\nvenv/x\n"
    assert said[1].rc == 0
    assert said[2].out.strip().startswith("local:probe-")
    found = runs(client, deployment.machines["near/0"])["near/0"]
    upgrade = next(run for run in found if run.name == "upgrade-charm")
    assert _differences(dict(upgrade.environ), _environ(deployment, "near/0", "upgrade-charm")) == {}
    ask(client, "near/0", "rm -r .unit-state.db .juju-persistent-config venv upgraded")
