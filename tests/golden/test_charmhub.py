"""What `info`, `find` and a refused channel look like, byte for byte, in the forms of Juju 3.6."""

from __future__ import annotations

from typing import Any

import pytest

from pushjuju.charms.hub import catalogue
from pushjuju.cli.commands.charm import charm_table
from pushjuju.cli.terminal.output import render
from pushjuju.portable.gotypes import Struct
from tests.world.printed import Golden


def revision(number: int, version: str, size: int, *bases: tuple[str, str]) -> dict[str, Any]:
    return {
        "revision": number,
        "version": version,
        "download": {"size": size},
        "bases": [{"architecture": arch, "name": "ubuntu", "channel": track} for arch, track in bases],
    }


def release(track: str, risk: str, when: str, given: dict[str, Any]) -> list[dict[str, Any]]:
    """Return one entry for each base, as the store lists them."""
    return [
        {
            "channel": {"name": risk, "track": track, "risk": risk, "base": base, "released-at": when},
            "revision": given,
        }
        for base in given["bases"]
    ]


FORTY_ONE = revision(41, "2.1", 12_042_240, ("amd64", "22.04"), ("amd64", "20.04"))
FORTY_SEVEN = revision(47, "2.2", 13_000_000, ("amd64", "22.04"), ("arm64", "22.04"))
FIFTY = revision(50, "3.0", 13_900_000, ("amd64", "24.04"))
DOCUMENT: dict[str, Any] = {
    "type": "charm",
    "id": "charmCHARMcharmCHARMcharmCHARM01",
    "name": "foodb",
    "result": {
        "publisher": {"display-name": "Example Ltd"},
        "summary": "A database of the examples.",
        "description": "Keeps what examples need.\nIt is of no other use: see `docs`.\n",
        "store-url": "https://charmhub.io/foodb",
        "categories": [{"name": "databases"}, {"name": "big-data"}],
    },
    "default-release": {
        "revision": {
            **FORTY_ONE,
            "metadata-yaml": "name: foodb\nprovides: {database: {interface: foodb_client}}\n"
            "requires: {certificates: {interface: tls-certificates, limit: 1}}\n",
            "config-yaml": "options:\n  port: {type: int, default: 5432, description: Where it listens.}\n"
            "  name: {description: Its name.}\n",
        }
    },
    "channel-map": [
        *release("14", "stable", "2024-03-11T08:00:00.000000+00:00", FORTY_ONE),
        *release("14", "edge", "2024-06-02T08:00:00.000000+00:00", FORTY_SEVEN),
        *release("16", "edge", "2024-06-09T08:00:00.000000+00:00", FIFTY),
    ],
}
BUNDLE: dict[str, Any] = {
    "type": "bundle",
    "id": "bundleBUNDLEbundleBUNDLEbundle01",
    "name": "foostack",
    "result": {
        "publisher": {"display-name": "Example Ltd"},
        "summary": "All of the examples.",
        "description": "",
        "store-url": "https://charmhub.io/foostack",
        "contains-charms": [{"name": "foodb"}, {"name": "fooweb"}],
    },
    "default-release": {"revision": {"bases": []}},
    "channel-map": release("latest", "stable", "2024-06-09T08:00:00Z", revision(3, "", 1500, ("all", "all"))),
}


@pytest.mark.parametrize(
    ("name", "arch", "base", "unicode"),
    [
        ("info.txt", "", "", True),
        ("info-ascii.txt", "", "", False),
        ("info-amd64.txt", "amd64", "ubuntu@22.04", True),
    ],
)
def test_info(golden: Golden, name: str, arch: str, base: str, unicode: bool) -> None:
    entry = catalogue.info_document(DOCUMENT)
    golden(f"charmhub/{name}", charm_table.info_text(entry, arch=arch, base=base, unicode=unicode))


def test_info_of_a_bundle(golden: Golden) -> None:
    entry = catalogue.info_document(BUNDLE)
    golden("charmhub/info-bundle.txt", charm_table.info_text(entry, arch="", base="", unicode=True))


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_info_document(golden: Golden, form: str) -> None:
    golden(f"charmhub/info.{form}", render(form, Struct(catalogue.info_document(DOCUMENT).items())))


def test_find(golden: Golden) -> None:
    found = [catalogue.found_entry(item) for item in (DOCUMENT, BUNDLE)]
    golden("charmhub/find.txt", charm_table.found_table(found, "nbvps"))
    golden("charmhub/find-all.txt", charm_table.found_table(found, "naoS"))
    golden("charmhub/find.json", render("json", [Struct(entry.items()) for entry in found]))
