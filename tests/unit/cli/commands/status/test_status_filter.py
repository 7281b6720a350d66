"""What the patterns of `status` keep."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest

from pushjuju.cli.work.status_document import is_empty
from pushjuju.services.views.status.status_filter import filter_status
from tests.world import CHECKOUT

_PATH = CHECKOUT / "tests/golden/status/document.py"
_SPEC = importlib.util.spec_from_file_location("shop_document", _PATH)
assert _SPEC is not None
assert _SPEC.loader is not None
SHOP = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(SHOP)


def kept(*patterns: str) -> tuple[str, str, str]:
    """Return the machines, the units and the applications that stay, as texts."""
    document, _ = filter_status(SHOP.DOCUMENT, patterns)
    machines: list[str] = []
    for name, machine in document["machines"].items():
        machines += [name, *machine.get("containers", {})]
    units: list[str] = []
    for application in document["applications"].values():
        for name, unit in application.get("units", {}).items():
            units += [name, *unit.get("subordinates", {})]
    return " ".join(sorted(machines)), " ".join(sorted(units)), " ".join(sorted(document["applications"]))


ALL = ("0 1 2 2/lxd/0 3", "logship/0 logship/1 pg/0 pg/1 web/0 web/1", "logship pg web")
PG = ("0 1", "logship/0 logship/1 pg/0 pg/1", "logship pg")


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        ([], ALL),
        (["pg"], PG),
        (["PG"], PG),
        (["pg/*"], PG),
        (["p*"], PG),
        (["pg/0"], ("0", "logship/0 pg/0", "logship pg")),
        (["pg/leader"], ("0", "logship/0 pg/0", "logship pg")),
        (["logship/1"], ("1", "logship/1 pg/1", "logship pg")),
        (["logship/leader"], ("0", "logship/0 pg/0", "logship pg")),
        (["3"], ("3", "web/1", "web")),
        (["2"], ("2 2/lxd/0", "web/0", "web")),
        (["2/lxd/0"], ("2 2/lxd/0", "", "")),
        (["pending"], ("3", "web/1", "web")),
        (["10.20.0.12"], ("1", "logship/1 pg/1", "logship pg")),
        (["10.20.9.0/24"], ("2 2/lxd/0", "", "")),
        (["allocating"], ("3", "web/1", "web")),
        (["waiting"], ("3", "web/1", "web")),
        (["executing"], ("0", "logship/0 pg/0", "logship pg")),
        (["exposed"], ("2 3", "web/0 web/1", "web")),
        (["not", "exposed"], PG),
        (["161/udp"], ("2", "web/0", "web")),
        (["5000-6000/tcp"], PG),
        (["nothing"], ("", "", "")),
        (["pg/0", "bad!name"], ("", "", "")),
        (["error"], ("", "", "")),
        (["3", "pg/1"], ("1 3", "logship/1 pg/1 web/1", "logship pg web")),
    ],
)
def test_what_a_pattern_keeps(patterns: list[str], expected: tuple[str, str, str]) -> None:
    assert kept(*patterns) == expected


def _relations(*patterns: str) -> list[str]:
    _, rows = filter_status(SHOP.DOCUMENT, patterns, SHOP.RELATIONS)
    return [f"{row['provider']} {row['requirer']}" for row in rows]


def test_relations_stay_between_applications_that_match() -> None:
    assert _relations("pg/0", "web/0") == [
        "pg:peers pg:peers",
        "pg:juju-info logship:juju-info",
        "pg:database web:db",
    ]
    assert _relations("0") == []
    document, _ = filter_status(SHOP.DOCUMENT, ["pg"])
    assert set(document["applications"]["pg"]["relations"]) == {"juju-info", "peers"}
    document, _ = filter_status(SHOP.DOCUMENT, ["0"])
    assert "relations" not in document["applications"]["pg"]


def test_storage_follows_its_unit() -> None:
    document, _ = filter_status(SHOP.DOCUMENT, ["web/1"])
    assert set(document["storage"]["storage"]) == {"cache/1"}
    assert set(document["storage"]["filesystems"]) == {"3/0"}


def test_saas_and_offers_always_stay() -> None:
    document, _ = filter_status(SHOP.DOCUMENT, ["nothing"])
    assert document["offers"]
    assert document["application-endpoints"]
    assert not is_empty(document)
    empty: dict[str, Any] = {"model": {}, "machines": {}, "applications": {}}
    assert is_empty(empty)


def test_an_agent_error_hides_the_workload() -> None:
    unit = {"workload-status": {"current": "error"}, "juju-status": {"current": "idle"}, "machine": "0"}
    document = {"applications": {"a": {"units": {"a/0": unit}}}, "machines": {"0": {}}}
    assert filter_status(document, ["error"])[0]["applications"]
    assert not filter_status(document, ["idle"])[0]["applications"]


@pytest.mark.parametrize("pattern", ["log", "log/0", "log/leader", "blocked"])
def test_status_of_a_subordinate_shows_the_other_subordinates_of_its_principal(pattern: str) -> None:
    """As Juju: of each kept principal; nothing of units of the principal that have none that matches."""
    log = {"leader": True, "workload-status": {"current": "blocked"}}
    document = {
        "machines": {"0": {}, "1": {}},
        "applications": {
            "web": {
                "units": {
                    "web/0": {"machine": "0", "subordinates": {"log/0": log, "nrpe/0": {}}},
                    "web/1": {"machine": "1", "subordinates": {"nrpe/1": {}}},
                },
                "relations": {"juju-info": [{"related-application": name} for name in ("log", "nrpe")]},
            },
            "log": {"relations": {"info": [{"related-application": "web"}]}},
            "nrpe": {"relations": {"info": [{"related-application": "web"}]}},
            "other": {},
        },
    }
    filtered, _ = filter_status(document, [pattern])
    applications = filtered["applications"]
    assert set(applications) == {"web", "log", "nrpe"}
    assert set(filtered["machines"]) == {"0"}
    units = applications["web"]["units"]
    assert {name: set(unit["subordinates"]) for name, unit in units.items()} == {"web/0": {"log/0", "nrpe/0"}}
    assert applications["web"]["relations"] == {"juju-info": [{"related-application": "log"}]}
    assert "relations" not in applications["nrpe"]


def test_neighbours_on_the_machine_of_a_match_stay_by_name() -> None:
    document = {
        "machines": {"0": {}},
        "applications": {
            "a": {"units": {"a/0": {"machine": "0"}}},
            "b": {"units": {"b/0": {"machine": "0"}}, "relations": {}},
        },
    }
    filtered, _ = filter_status(document, ["a"])
    assert set(filtered["applications"]) == {"a", "b"}
    assert "units" not in filtered["applications"]["b"]
