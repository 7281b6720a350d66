"""Keys of model-config that belong to the provider of a model's cloud."""

from __future__ import annotations

import pytest

from pushjuju.core.errors import NotValid
from pushjuju.plugins.api.clouds import Attr
from pushjuju.services.entities.model import provider_keys

DISK = Attr(name="disk", summary="How disks are made", choices=("thin", "thick"))
PLACE = Attr(name="place", summary="Where")


def test_a_value_that_is_no_choice_is_refused() -> None:
    provider_keys.check({"disk": DISK, "place": PLACE}, {"disk": "thin", "place": "any", "other": 1})
    with pytest.raises(NotValid, match=r'disk: expected one of \[thin thick\], got "fat"'):
        provider_keys.check({"disk": DISK}, {"disk": "fat"})


def test_names_that_nobody_knows() -> None:
    names = ("disk", "mode", "name", "ssh-jump-host", "set-before", "typo")
    assert provider_keys.unknown(names, {"disk": DISK}, {"set-before": 1}) == ["typo"]
