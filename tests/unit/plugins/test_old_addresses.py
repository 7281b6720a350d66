"""Plugins of API 1.5 import the public types from where they stood: they get them, with a warning."""

from __future__ import annotations

import importlib

import pytest

from pushjuju.core import charmstore
from pushjuju.plugins.api import clouds, firewalls, providers, sources, storage_types, targets


@pytest.mark.parametrize(
    ("old", "name", "value"),
    [
        ("types", "Provider", providers.Provider),
        ("types", "CloudSpec", clouds.CloudSpec),
        ("types", "StorageType", storage_types.StorageType),
        ("types", "SSHTarget", targets.SSHTarget),
        ("types", "Firewall", firewalls.Firewall),
        ("charmtypes", "CharmStore", sources.CharmStore),
    ],
)
def test_an_old_address_gives_the_type_and_warns(old: str, name: str, value: object) -> None:
    module = importlib.import_module(f"pushjuju.plugins.{old}")
    with pytest.warns(DeprecationWarning, match=f"import {name} from pushjuju.plugins.api"):
        assert getattr(module, name) is value


def test_what_never_was_there_is_not_there_now() -> None:
    module = importlib.import_module("pushjuju.plugins.types")
    with pytest.raises(AttributeError, match="nothing"):
        _ = module.nothing


def test_the_error_of_charm_stores_is_found_among_the_other_errors() -> None:
    with pytest.warns(DeprecationWarning, match="import HubError from pushjuju.core.charmstore"):
        assert getattr(importlib.import_module("pushjuju.core.errors"), "HubError") is charmstore.HubError  # noqa: B009
