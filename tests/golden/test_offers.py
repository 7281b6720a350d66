"""offers, find-offers and show-offer in every format, byte for byte."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from pushjuju.cli.commands.offer import offer_table
from pushjuju.cli.terminal.output import Formatter, render
from tests.world.printed import NINE, Golden

ENDS = {
    "db": {"interface": "pgsql", "role": "provider"},
    "database": {"interface": "postgresql_client", "role": "provider"},
}
USERS = {
    "admin": {"display-name": "admin", "access": "admin"},
    "everyone@external": {"access": "read"},
    "kim": {"display-name": "kim", "access": "consume"},
}
LONG = (
    "PostgreSQL is a powerful, open source object-relational database system. It has more than fifteen "
    "years of active development and a proven architecture that has earned it a strong reputation."
)


def _link(number: int, endpoint: str, status: dict[str, Any], *subnets: str) -> dict[str, Any]:
    return {
        "source-model-uuid": f"{number:08}-1111-4222-8333-444444444444",
        "username": "admin",
        "relation-id": number,
        "endpoint": endpoint,
        "status": status,
        **({"ingress-subnets": list(subnets)} if subnets else {}),
    }


def _listed() -> dict[str, Any]:
    since = NINE - timedelta(minutes=2)
    links = [
        _link(12, "db", {"current": "suspended", "message": "maintenance", "since": since}),
        _link(7, "database", {"current": "joined", "since": since}, "10.20.0.12/32", "192.168.0.0/16"),
    ]
    offer = {
        "application": "pg", "store": "home", "charm": "ch:amd64/postgresql-553",
        "offer-url": "admin/shop.pg", "endpoints": ENDS,
    }  # fmt: skip
    return {
        "pg": {**offer, "connections": links, "users": USERS},
        "pg-idle": {**offer, "offer-url": "admin/shop.pg-idle", "users": USERS},
    }


def _found() -> dict[str, Any]:
    entry = {"access": "admin", "endpoints": ENDS, "users": USERS}
    return {"home:admin/shop.pg": entry, "home:kim/dev.cache": {**entry, "access": "-"}}


def _shown() -> dict[str, Any]:
    return {"home:admin/shop.pg": {"description": LONG, **_found()["home:admin/shop.pg"]}}


CASES: list[tuple[str, dict[str, Formatter], dict[str, Any]]] = [
    ("offers", offer_table.listed(NINE), _listed()),
    ("find-offers", offer_table.found(), _found()),
    ("show-offer", offer_table.shown(), _shown()),
]


@pytest.mark.parametrize(
    ("name", "form", "formats", "document"),
    [(name, form, forms, document) for name, forms, document in CASES for form in sorted(forms)],
)
def test_offers(
    golden: Golden, name: str, form: str, formats: dict[str, Formatter], document: dict[str, Any]
) -> None:
    golden(f"offers/{name}.{form}.txt", formats[form](document))


def test_nothing_offered() -> None:
    heads = "Offer  User  Relation ID  Status  Endpoint  Interface  Role  Ingress subnets\n"
    assert offer_table.listed(NINE)["tabular"]({}) == heads
    assert render("yaml", {}) == "{}\n" == offer_table.listed(NINE)["yaml"]({})


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", [""]),
        ("short", ["short"]),
        ("x" * 100, ["x" * 45, "x" * 45, "x" * 10]),
        ("word " * 60, ["word word word word word word word word word"] * 3),
    ],
)
def test_descriptions_are_broken(text: str, lines: list[str]) -> None:
    assert offer_table._lines(text)[: len(lines)] == lines
