"""The tables of the listing commands, byte for byte."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from types import ModuleType
from typing import Any

import pytest

from pushjuju.cli.commands.cloud import cloud_table
from pushjuju.cli.commands.config import config_table
from pushjuju.cli.commands.controller import controller_table
from pushjuju.cli.commands.credential import credential_table
from pushjuju.cli.commands.machine import machine_table
from pushjuju.cli.commands.model import model_table
from pushjuju.cli.commands.program import doctor, plugins
from pushjuju.cli.commands.status import show_status_log
from pushjuju.cli.commands.storage import storage_table
from pushjuju.cli.commands.unit import show_unit
from pushjuju.cli.terminal import log_lines, times
from pushjuju.cli.terminal.output import render
from pushjuju.core.clock import to_iso
from pushjuju.services.views.listings import log_selection
from tests.world.printed import NINE, Golden

pytestmark = pytest.mark.usefixtures("utc")


def _model(
    name: str, uuid: str, status: str, access: str, seen: datetime | None, now: datetime
) -> dict[str, Any]:
    owner, _, short = name.rpartition("/")
    return {
        "name": f"{owner or 'admin'}/{short}",
        "short-name": short,
        "model-uuid": uuid,
        "model-type": "iaas",
        "controller-uuid": "c",
        "controller-name": "home",
        "is-controller": short == "controller",
        "owner": owner or "admin",
        "cloud": "lab",
        "region": "default",
        "type": "manual",
        "life": "alive",
        "status": {"current": status, "since": "just now"},
        "access": access,
        "last-connection": times.friendly(seen, now),
    }


def _models() -> dict[str, Any]:
    listed = [
        _model("controller", "u1", "available", "admin", NINE, NINE),
        _model("shop", "u2", "available", "admin", NINE - timedelta(minutes=2, seconds=5), NINE),
        _model("kim/dev", "u3", "busy", "read", None, NINE),
    ]
    return {"models": listed, "current-model": "shop"}


COUNTS = {
    "u1": model_table.Counts(machines=1, cores=4),
    "u2": model_table.Counts(machines=4, cores=16, units=6),
    "u3": model_table.Counts(machines=0),
}


def test_models(golden: Golden) -> None:
    forms = model_table.formatters(COUNTS, controller="home", user="admin")
    golden("tables/models.txt", forms["tabular"](_models()))
    assert json.loads(forms["json"](_models())) == _models()
    assert next(iter(json.loads(forms["json"](_models()))["models"][0])) == "name"
    assert forms["yaml"](_models()).startswith(
        "models:\n- name: admin/controller\n  short-name: controller\n"
    )


def test_models_with_uuid() -> None:
    table = model_table.formatters(COUNTS, controller="home", user="admin", uuid=True)["tabular"](_models())
    assert table.splitlines()[3].startswith("controller  u1    lab/default   manual  available         1")


def test_controllers(golden: Golden) -> None:
    document = {
        "controllers": {
            "office": {"controller-uuid": "2", "cloud": "aws", "region": "eu-west-1"},
            "home": {
                "current-model": "admin/shop",
                "user": "admin",
                "access": "superuser",
                "controller-uuid": "1",
                "api-endpoints": [],
                "ca-cert": "",
                "cloud": "lab",
                "region": "default",
                "agent-version": "3.6.14",
                "model-count": 3,
                "machine-count": 1,
                "controller-machines": {"active": 1, "total": 1},
            },
        },
        "current-controller": "home",
    }
    golden("tables/controllers.txt", controller_table.formatters(refreshed=False)["tabular"](document))
    forms = controller_table.formatters(refreshed=True)
    assert forms["tabular"](document).startswith("Controller ")
    shown = json.loads(forms["json"](document))["controllers"]["home"]
    assert shown["uuid"] == "1"
    assert shown["controller-machines"] == {"Active": 1, "Total": 1}
    assert "    controller-uuid: " in forms["yaml"](document)


def test_show_controller_has_jujus_json_names() -> None:
    document = {"home": {"details": {"controller-uuid": "1"}, "models": {"m": {"model-uuid": "2"}}}}
    assert controller_table.show_controller("json", document) == (
        '{"home":{"details":{"uuid":"1"},"models":{"m":{"uuid":"2"}}}}\n'
    )


@dataclass(frozen=True)
class Entry:
    kind: str
    status: str
    message: str
    since: datetime
    data: dict[str, Any] = field(default_factory=dict)


ENTRIES = [
    Entry("juju-unit", "executing", "running install hook", NINE + timedelta(seconds=1)),
    Entry("workload", "active", "Primary", NINE + timedelta(seconds=40)),
]


def test_show_status_log(golden: Golden) -> None:
    golden("tables/history.txt", show_status_log.formatters(utc=False)["tabular"](ENTRIES))
    assert (
        show_status_log.formatters(utc=True)["tabular"](ENTRIES)
        .splitlines()[1]
        .startswith("2025-03-01 09:00:01Z  ")
    )
    assert show_status_log.formatters(utc=False)["json"](ENTRIES[1:]) == (
        '[{"status":"active","message":"Primary","since":"2025-03-01T09:00:40Z","type":"workload"}]\n'
    )
    assert show_status_log.formatters(utc=False)["yaml"](ENTRIES[1:]) == (
        "- status: active\n  message: Primary\n  since: 2025-03-01T09:00:40Z\n  type: workload\n"
    )


def test_storage(golden: Golden) -> None:
    instance = {"kind": "filesystem", "life": "alive", "persistent": False}
    document = {
        "storage": {
            "pgdata/0": {
                **instance,
                "status": {"current": "attached"},
                "attachments": {"units": {"pg/0": {"location": "/srv"}}},
            },
            "pgdata/3": {**instance, "status": {"current": "detached"}},
        },
        "filesystems": {
            "0": {"storage": "pgdata/0", "pool": "rootfs", "size": 8192},
            "1": {"storage": "pgdata/3", "pool": "rootfs", "size": 8192},
        },
    }
    golden("tables/storage.txt", storage_table.tabular(document))
    assert storage_table.tabular({}) == ""
    attached = {"machines": {"1": {"device": "loop3", "read-only": False, "life": "alive"}}}
    of_machine = {"provider-id": "volume-1-0", "size": 5120, "attachments": attached}
    disks = {"volumes": {"1/0": {**of_machine, "status": {"current": "attached"}}}}
    golden("tables/disks.txt", storage_table.volumes(disks))
    assert storage_table.tabular(disks) == ""


def test_machines(shop: ModuleType, golden: Golden) -> None:
    document = machine_table.machines_document(shop.DOCUMENT)
    golden("tables/machines.txt", machine_table.formatters()["tabular"](document))
    assert list(machine_table.machines_document(shop.DOCUMENT, ["3", "7", "2/lxd/0"])["machines"]) == ["3"]
    assert (
        machine_table.formatters()["tabular"](machine_table.machines_document(shop.DOCUMENT, ["7"])).count(
            "\n"
        )
        == 1
    )


@dataclass(frozen=True)
class Record:
    time: str
    entity: str
    level: str
    module: str
    message: str
    location: str = ""
    labels: str = ""


def _record(second: int, entity: str, level: str, module: str, message: str, **more: str) -> Record:
    return Record(f"2025-03-01T09:00:0{second}.250000Z", entity, level, module, message, **more)


RECORDS = [
    _record(
        1,
        "unit-pg-0",
        "INFO",
        "juju.worker.uniter.operation",
        'ran "config-changed" hook (via hook dispatching script: dispatch)',
    ),
    _record(2, "machine-0", "WARNING", "juju.worker.provisioner", "no tools"),
    _record(3, "controller-0", "DEBUG", "juju.apiserver", "started"),
    _record(4, "unit-pg-0", "INFO", "unit.pg/0.juju-log", "hello from charm"),
    _record(5, "unit-pg-0", "INFO", "unit.pg/0.juju-log", "database:5: relation changed"),
]


def test_debug_log(golden: Golden) -> None:
    golden(
        "tables/debug-log.txt", "".join(log_lines.line(record, log_lines.Look()) + "\n" for record in RECORDS)
    )


def test_a_log_line_with_everything() -> None:
    look = log_lines.Look(date=True, milliseconds=True, utc=True, location=True)
    record = _record(1, "unit-pg-0", "INFO", "m", "text", location="a.py:7", labels="http,charmhub")
    assert (
        log_lines.line(record, look) == "unit-pg-0: 2025-03-01 09:00:01.250 INFO m a.py:7 http,charmhub text"
    )


@pytest.mark.parametrize(
    ("selection", "seconds"),
    [
        ({}, "12345"),
        ({"level": "INFO"}, "1245"),
        ({"level": "WARNING"}, "2"),
        ({"include": ["pg"]}, "145"),
        ({"include": ["pg/0"]}, "145"),
        ({"include": ["0"]}, "2"),
        ({"include": ["unit-*", "controller-0"]}, "1345"),
        ({"exclude": ["unit-pg-0"]}, "23"),
        ({"include": ["pg"], "exclude": ["pg/0"]}, ""),
        ({"include_module": ["juju.worker"]}, "12"),
        ({"include": ["pg/*"]}, "145"),
        ({"include": ["p*"]}, "145"),
        ({"include": ["*-0"], "exclude": ["machine-*"]}, "1345"),
        ({"include_module": ["juju.work"]}, ""),
        ({"include_module": ["juju.*.provisioner"]}, "2"),
        ({"include_module": ["unit.*.juju-log", "juju.apiserver"]}, "345"),
        ({"level": "TRACE"}, "12345"),
        ({"exclude_module": ["juju"]}, "45"),
        ({"include_label": ["x"]}, ""),
        ({"exclude_label": ["x"]}, "12345"),
    ],
)
def test_which_records_are_shown(selection: dict[str, Any], seconds: str) -> None:
    shown = log_selection.Selection(**selection).predicate()
    assert "".join(record.time[18] for record in RECORDS if shown(record)) == seconds


def test_application_config() -> None:
    document = {
        "application": "a",
        "charm": "a",
        "settings": {
            "port": {"default": 80, "description": "d", "source": "user", "type": "int", "value": 81}
        },
    }
    assert render("yaml", config_table.application(document)) == (
        "application: a\ncharm: a\nsettings:\n  port:\n    default: 80\n    description: d\n"
        "    source: user\n    type: int\n    value: 81\n"
    )
    assert config_table.bare_value("14.11") == "14.11\n"
    assert config_table.bare_value(True) == "true\n"
    assert config_table.bare_value("") == "\n"


def test_model_config() -> None:
    document = {
        "name": {"value": "shop", "source": "model"},
        "development": {"value": False, "source": "default"},
        "apt-mirror": {"value": "", "source": "default"},
        "cloudinit-userdata": {"value": "x: 1\ny: 2\n", "source": "model"},
    }
    forms = config_table.model_formatters()
    assert forms["tabular"](document) == (
        "Attribute           From     Value\n"
        'apt-mirror          default  ""\n'
        "cloudinit-userdata  model    <value set, see pushjuju model-config cloudinit-userdata>\n"
        "development         default  false\n"
    )
    assert json.loads(forms["json"](document))["development"] == {"Value": False, "Source": "default"}
    assert "development:\n  value: false\n  source: default\n" in forms["yaml"](document)


def test_constraints() -> None:
    values = {"mem": 6144, "cores": 2, "arch": "amd64", "spaces": ["db", "^dmz"], "zones": None}
    assert config_table.constraints("constraints", values) == "arch=amd64 cores=2 mem=6144M spaces=db,^dmz\n"
    assert config_table.constraints("json", values) == (
        '{"arch":"amd64","cores":2,"mem":6144,"spaces":["db","^dmz"]}\n'
    )
    assert config_table.constraints("constraints", {}) == "\n"


UNIT: dict[str, Any] = {
    "opened-ports": [],
    "charm": "local:web-0",
    "leader": True,
    "relation-info": [
        {"relation-id": 1, "endpoint": "db", "related-endpoint": "db", "application-data": {"a": "1"}},
        {
            "relation-id": 2,
            "endpoint": "log",
            "related-endpoint": "log",
            "application-data": {},
            "related-units": {
                "log/0": {"in-scope": True, "data": {"b": "2"}},
                "log/1": {"in-scope": True, "data": {"b": "3"}},
            },
        },
        {"relation-id": 3, "endpoint": "none", "related-endpoint": "x", "application-data": {}},
    ],
}


def test_show_unit_json_has_a_local_unit_everywhere() -> None:
    shown = json.loads(show_unit.unit_text("json", {"web/0": UNIT}))["web/0"]["relation-info"]
    assert shown[0]["local-unit"] == {"in-scope": False, "data": None}
    assert list(shown[1])[-1] == "related-units"
    assert "local-unit" not in show_unit.unit_text("yaml", {"web/0": UNIT})


def test_show_unit_keeps_the_relations_that_say_something() -> None:
    def ids(**flags: Any) -> list[int]:
        found = show_unit.select_relations(UNIT, **flags)
        return [entry["relation-id"] for entry in found.get("relation-info", ())]

    assert ids() == [1, 2]
    assert ids(endpoint="none") == [3]
    assert ids(related_unit="log/1") == [1, 2]
    assert ids(application_only=True) == [1, 2, 3]
    assert ids(application_only=True, endpoint="log") == [2]
    chosen = show_unit.select_relations(UNIT, related_unit="log/1")["relation-info"][1]["related-units"]
    assert list(chosen) == ["log/1"]


def test_show_unit_of_a_related_unit_leaves_out_the_unit_itself() -> None:
    peers = {"endpoint": "ring", "local-unit": {"in-scope": True, "data": {"a": "1"}}, "related-units": {}}
    found = show_unit.select_relations({"relation-info": [peers]}, related_unit="log/1")
    assert "relation-info" not in found


def test_times() -> None:
    assert times.since_text(NINE, utc=False) == "01 Mar 2025 09:00:00Z"
    assert times.since_text(NINE, utc=True) == "2025-03-01 09:00:00Z"
    assert times.clock_text(NINE, utc=False) == "09:00:00Z"
    assert times.clock_text(NINE, utc=True) == "09:00:00"
    assert times.wants_utc({"JUJU_STATUS_ISO_TIME": "true"}, flag=False)
    for seconds, text in ((1, "just now"), (2, "2 seconds ago"), (60, "1 minute ago"), (7300, "2 hours ago")):
        assert times.friendly(NINE - timedelta(seconds=seconds), NINE) == text
    assert times.friendly(NINE - timedelta(days=2), NINE) == "2025-02-27"


def test_times_away_from_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "CET-1")
    time.tzset()
    assert times.since_text(NINE, utc=False) == "01 Mar 2025 10:00:00+01:00"
    assert times.clock_text(NINE, utc=False) == "10:00:00+01:00"
    assert times.rfc3339(NINE, utc=False) == "2025-03-01T10:00:00+01:00"


@pytest.mark.parametrize("zone", ["UTC", "CET-1CEST,M3.5.0,M10.5.0/3", "NST3:30"])
@pytest.mark.parametrize("utc", [True, False])
def test_stored_times(monkeypatch: pytest.MonkeyPatch, zone: str, *, utc: bool) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    text = times.stored_text(utc=utc)
    for minutes in (*range(0, 525_600, 7919), 41_279, 41_280, 41_281):  # the last ones: summer time begins
        moment = NINE + timedelta(minutes=minutes, seconds=minutes % 60, microseconds=minutes)
        assert text(to_iso(moment)) == times.since_text(moment, utc=utc)


def test_own_listings() -> None:
    shown = plugins.table([{"name": "x", "version": "1", "api": "1.0", "hooks": ["pushjuju_user_data"]}])
    assert shown == "Plugin  Version  API  Hooks      Message\nx       1        1.0  user_data\n"
    found = doctor.findings(
        [{"subject": "nspawn", "level": "error", "message": "missing", "fix": "apt install x"}]
    )
    assert found == "Subject  Level  Message\nnspawn   error  missing\n                -> apt install x\n"


def _cloud(kind: str, regions: list[str], **more: Any) -> dict[str, Any]:
    return {"type": kind, "regions": {name: {} for name in regions}, **more}


def test_clouds(golden: Golden) -> None:
    remote = {"lab": _cloud("openstack", ["north", "south"]), "local": _cloud("local", ["default"])}
    local = {
        "aws": _cloud(
            "ec2",
            ["us-east-1", "eu-west-1"],
            **{"default-region": "eu-west-1", "credential-count": 2, "defined": "public"},
            description="Amazon Web Services",
        ),
        "lab": _cloud(
            "openstack",
            ["north"],
            defined="local",
            description="A cloud with a description that is too long to fit",
        ),
    }
    golden("tables/clouds.txt", cloud_table.clouds_table(remote, local))
    golden("tables/clouds-client.txt", cloud_table.clouds_table({}, local))


def test_credentials(golden: Golden) -> None:
    held = {
        "aws": {
            "default-credential": "work",
            "default-region": "eu-west-1",
            "home": {"auth-type": "access-key", "access-key": "AK1"},
            "work": {"auth-type": "access-key", "access-key": "AK2"},
        },
        "lab": {"bob": {"auth-type": "userpass", "username": "bob"}},
    }
    golden("tables/credentials.txt", credential_table.credentials_table({"lab": held["lab"]}, held))
    golden("tables/credentials.yaml", credential_table.credentials("yaml", None, held))
    golden("tables/credentials.json", credential_table.credentials("json", {"lab": held["lab"]}, held))
