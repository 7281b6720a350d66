"""Annotations of entities."""

from __future__ import annotations

from pushjuju.services.entities.basis import annotations as notes
from tests.world.controller import TestController


def test_only_numbers_are_places_in_pictures(runtime: TestController) -> None:
    said = {"web": ("12.5", "-3"), "db": ("1", ""), "cache": ("nan", "1"), "log": ("left", "1")}
    for name, (x, y) in said.items():
        runtime.write(
            lambda tx, name=name, x=x, y=y: notes.put(
                tx, notes.Kind.APPLICATION, name, {"gui-x": x, "gui-y": y}
            )
        )
    with runtime.ctx.read(runtime.model) as tx:
        assert notes.places(tx) == {"web": (12.5, -3.0)}
