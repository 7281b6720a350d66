"""No value of a secret is in what is kept of what a unit says: log, output, statuses, errors, the store."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from pushjuju.plugins.hooks import secrets as tools
from pushjuju.services.entities.secret import secret_masks
from pushjuju.services.entities.secret.secret_masks import plain
from tests.unit.uniter.apply.test_charm_secrets import shared, town
from tests.world.controller import TestController
from tests.world.machine import event, ok, status_event
from tests.world.secret_charm import add, begin, during

__all__ = ["town"]
HUSH = "correct-horse"


def messages(town: TestController) -> str:
    """All that the log and the statuses say."""
    dump = town.dump()
    return json.dumps([dump[name] for name in ("log", "status", "status_history", "operation")], default=str)


@pytest.mark.parametrize("unit", ["db/0", "db/1"])
def test_lines_and_statuses_of_a_unit_are_masked(town: TestController, unit: str) -> None:
    add(town, "db/0", f"password={HUSH} pem#base64=bGluZSBvbmUKbGluZSB0d28=")
    hook = begin(town, unit)
    events = [
        event(1, "log", level="INFO", module="juju-log", message=f"logging in with {HUSH}, {HUSH}!"),
        event(2, "output", stream="stderr", line=f"curl -u me:{HUSH} failed: line two"),
        status_event(3, "blocked", f"bad password {HUSH}"),
        event(4, "log", level="INFO", module="juju-log", message="Y29ycmVjdC1ob3JzZQ== in base64"),
    ]
    town.commit(hook.dispatch, ok(events=events))
    said = messages(town)
    assert "logging in with *****, *****!" in said
    assert "curl -u me:***** failed: *****" in said
    assert "***** in base64" in said
    assert town.workload(unit) == ("blocked", "bad password *****")
    assert HUSH not in said


def test_what_a_unit_was_granted_is_masked_for_it_alone(town: TestController) -> None:
    secret = shared(town, "token=first")
    during(town, "db/0", f"secret-set {secret} token={HUSH}")
    for unit, said in (("web/0", "got *****"), ("db/1", "got *****")):
        hook = begin(town, unit)
        line = event(1, "log", level="INFO", module="juju-log", message=f"got {HUSH}")
        town.commit(hook.dispatch, ok(events=[line]))
        assert said in messages(town)
    assert HUSH not in messages(town)


def test_short_values_would_mask_half_of_every_text(town: TestController) -> None:
    add(town, "db/0", "flag=yes")
    hook = begin(town, "db/0")
    line = event(1, "log", level="INFO", module="juju-log", message="yes, all is well")
    town.commit(hook.dispatch, ok(events=[line]))
    assert "yes, all is well" in messages(town)


def test_very_many_values_cost_a_bounded_search(
    town: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(secret_masks, "MOST_VALUES", 20)
    add(town, "db/0", " ".join(f"old{n}=oldvalue{n:03}" for n in range(30)))
    town.clock.advance(10)
    add(town, "db/0", f"password={HUSH}")
    found: list[set[str]] = []
    masking = secret_masks._masking
    monkeypatch.setattr(secret_masks, "_masking", lambda values: found.append(set(values)) or masking(values))
    hook = begin(town, "db/0")
    line = event(1, "log", level="INFO", module="juju-log", message=f"got {HUSH}")
    town.commit(hook.dispatch, ok(events=[line]))
    assert "got *****" in messages(town)  # the newest ones are among them
    assert {len(values) for values in found} == {20}


def test_a_unit_without_secrets_pays_nothing(town: TestController) -> None:
    def look(tx: Any) -> Any:
        return secret_masks.mask_of(town.ctx, tx, "web/0")

    assert town.read(look) is plain


def test_the_machine_masks_what_a_run_has_read_or_written() -> None:
    call: Any = SimpleNamespace(reads={"masks": []})
    tools._hide(call, {"password": "Y29ycmVjdC1ob3JzZQ==", "flag": "eWVz"})
    assert call.reads["masks"] == ["Y29ycmVjdC1ob3JzZQ==", HUSH, "eWVz"]


def test_no_value_is_in_the_store_the_decisions_or_the_frames(town: TestController) -> None:
    secret = shared(town, f"token=first password={HUSH}")
    during(town, "db/0", f"secret-set {secret} token=second password={HUSH}x")
    town.settle()
    assert HUSH not in json.dumps(town.dump(), default=repr)
    for path in town.ctx.controller.root.rglob("*"):
        assert not path.is_file() or HUSH.encode() not in path.read_bytes()
    frames = [frame for played in town.played_machines.values() for frame in played.frames]
    assert frames
    assert HUSH not in json.dumps(frames, default=str)
