"""`status` in every format, byte for byte."""

from __future__ import annotations

import copy
import json
import re
from types import ModuleType
from typing import Any

from pushjuju.cli.commands.status.status_formats import FORMATS, formatters
from pushjuju.cli.commands.status.status_tabular import tabular
from pushjuju.cli.terminal.output import json_tinted, render, yaml_tinted
from pushjuju.cli.terminal.shapes import struct
from tests.world.printed import Golden

EMPTY: dict[str, Any] = {
    "model": {
        "name": "shop",
        "type": "iaas",
        "controller": "home",
        "cloud": "lab",
        "region": "default",
        "version": "3.6.14",
        "model-status": {"current": "available", "since": "01 Mar 2025 08:58:10Z"},
        "sla": "unsupported",
    },
    "machines": {},
    "applications": {},
    "storage": {},
    "controller": {"timestamp": "09:12:44Z"},
}


def test_the_table(shop: ModuleType, golden: Golden) -> None:
    golden("status/tabular.txt", tabular(shop.DOCUMENT, relations=shop.RELATIONS, storage=True))


def test_the_table_without_extras(shop: ModuleType, golden: Golden) -> None:
    text = formatters()["tabular"](shop.DOCUMENT)
    assert "Integration provider" not in text
    assert "Storage" not in text
    assert tabular(shop.DOCUMENT, relations=shop.RELATIONS, storage=True).startswith(text)


def test_the_table_in_colours(shop: ModuleType, golden: Golden) -> None:
    golden("status/coloured.txt", tabular(shop.DOCUMENT, relations=shop.RELATIONS, storage=True, colour=True))


def test_the_summary_in_colours(shop: ModuleType, golden: Golden) -> None:
    golden("status/coloured-summary.txt", formatters(colour=True)["summary"](shop.DOCUMENT))


def test_yaml(shop: ModuleType, golden: Golden) -> None:
    golden("status/one-application.yaml", formatters()["yaml"](shop.one_application()))


def test_json_of_an_empty_model(golden: Golden) -> None:
    golden("status/empty.json", formatters()["json"](EMPTY))


def test_json_sorts_maps_but_not_structs(shop: ModuleType) -> None:
    text = formatters()["json"](shop.DOCUMENT)
    assert json.loads(text) == shop.DOCUMENT
    assert list(json.loads(text)["machines"]) == ["0", "1", "2", "3"]
    assert list(json.loads(text)["model"]) == list(shop.DOCUMENT["model"])


def test_oneline(shop: ModuleType, golden: Golden) -> None:
    document = copy.deepcopy(shop.DOCUMENT)
    del document["applications"]["pg"]["units"]["pg/1"]
    del document["applications"]["web"]["units"]["web/0"]
    for name in ("oneline", "short", "line"):
        golden("status/oneline.txt", formatters()[name](document))


def test_summary(shop: ModuleType, golden: Golden) -> None:
    document = copy.deepcopy(shop.DOCUMENT)
    document["applications"]["web"]["units"]["web/0"]["open-ports"].remove("161/udp")
    document["application-endpoints"]["mail"]["url"] = "home:admin/infra.mail"
    golden("status/summary.txt", formatters()["summary"](document))


def test_every_format_is_there() -> None:
    assert set(FORMATS) == set(formatters())


def test_an_empty_model_is_its_first_section() -> None:
    assert formatters()["tabular"](EMPTY) == (
        "Model  Controller  Cloud/Region  Version  SLA          Timestamp\n"
        "shop   home        lab/default   3.6.14   unsupported  09:12:44Z\n"
    )


def test_yaml_and_json_in_colours(shop: ModuleType, golden: Golden) -> None:
    golden("status/coloured.yaml", yaml_tinted(formatters()["yaml"](shop.one_application())))
    golden("status/coloured.json", json_tinted(formatters()["json"](EMPTY)))


def test_colours_change_no_character(shop: ModuleType) -> None:
    document = {
        **shop.DOCUMENT,
        "text": "two\nlines: 1\n",
        "url": "http://x:1/",
        "odd: key": [1, "a: b", "::1"],
    }
    for form, tinted in (("yaml", yaml_tinted), ("json", json_tinted)):
        text = formatters()[form](document)
        assert re.sub(r"\x1b\[[0-9;]*m", "", tinted(text)) == text


def test_every_map_of_the_document_is_told_of(shop: ModuleType) -> None:
    document = copy.deepcopy(shop.DOCUMENT)
    applications = document["applications"]
    document["applications"] = {name: applications[name] for name in reversed(applications)}
    document["machines"] = dict(reversed(document["machines"].items()))
    marked = struct(document, "status")
    assert formatters()["json"](document) == render("json", marked)
    assert formatters()["yaml"](document) == render("yaml", marked)
