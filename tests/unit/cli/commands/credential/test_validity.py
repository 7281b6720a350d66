"""A credential that the cloud refuses: what is told, what is not asked any more, and the way out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pushjuju.cli.work import drive
from pushjuju.services.entities.machine import credential_validity
from pushjuju.workers.machine import credentials
from tests.world.commandline import Run

CREDENTIALS = "credentials:\n  up:\n    bob: {auth-type: token, token: TOKEN}\n"


class Sky:
    """A controller `up` on a cloud of the type `sky`, with a model `shop`."""

    def __init__(self, run: Run, folder: Path) -> None:
        self.run = run
        self.folder = folder
        self.file = folder / "sky.json"
        self.set(good=["first"], answers=[], instances={}, calls=[])

    def set(self, **values: Any) -> None:
        """Change what the cloud does."""
        known = json.loads(self.file.read_text()) if self.file.exists() else {}
        self.file.write_text(json.dumps({**known, **values}))

    @property
    def calls(self) -> list[str]:
        """What the cloud was asked since the last look."""
        calls = json.loads(self.file.read_text())["calls"]
        self.set(calls=[])
        return list(calls)

    def ok(self, *words: str) -> str:
        """Run a command that works, and return its output."""
        done = self.run(*words)
        assert done.status == 0, done.err
        return done.out

    def data(self, *words: str) -> Any:
        """Return what a command tells as JSON."""
        return json.loads(self.ok(*words, "--format", "json"))

    def token(self, token: str) -> str:
        """Write a file with another token."""
        (self.folder / "bob.yaml").write_text(CREDENTIALS.replace("TOKEN", token))
        return "bob.yaml"


@pytest.fixture
def sky(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sky:
    site = tmp_path / "site"
    info = site / "sky-1.dist-info"
    info.mkdir(parents=True)
    (info / "entry_points.txt").write_text("[pushjuju]\nsky = tests.world.sky\n")
    monkeypatch.syspath_prepend(site)
    monkeypatch.setattr(drive, "background", lambda *_: None)
    made = Sky(run, tmp_path)
    cloud = {"type": "sky", "auth-types": ["token"], "state": str(made.file), "regions": {"one": {}}}
    (tmp_path / "up.yaml").write_text(json.dumps({"clouds": {"up": cloud}}))
    made.ok("add-cloud", "up", "up.yaml")
    made.ok("add-credential", "up", "-f", made.token("first"))
    made.ok("bootstrap", "up", "up")
    made.ok("add-model", "shop")
    made.ok("add-model", "other")
    made.ok("switch", "shop")
    return made


def _refused(sky: Sky) -> None:
    sky.set(good=[])
    sky.run("add-machine", "--no-wait")  # the check of what is asked for says it first
    sky.set(good=["first"])
    sky.ok("add-machine", "--no-wait")
    sky.set(good=[], calls=[])
    sky.run("wait-for", "machine", "0", "--timeout", "1s")


def test_a_refused_credential_suspends_the_models_that_use_it(sky: Sky) -> None:
    _refused(sky)
    shown = sky.data("status")
    assert shown["model"]["model-status"]["current"] == "suspended"
    assert shown["model"]["model-status"]["message"] == "suspended since cloud credential is not valid"
    assert shown["model"]["model-status"]["reason"] == "AuthFailure: no such token"
    machine = shown["machines"]["0"]["machine-status"]
    assert machine["current"] == "provisioning error"
    assert machine["message"] == "the cloud refuses the credential: AuthFailure: no such token"
    assert "suspended since cloud credential is not valid" in sky.ok("status").splitlines()[1]
    told = {item["short-name"]: item for item in sky.data("models")["models"]}
    assert [told[name]["status"]["current"] for name in ("shop", "other")] == ["suspended"] * 2
    assert told["other"]["credential"]["validity-check"] == "invalid"
    assert sky.data("show-model")["shop"]["credential"] == {
        "name": "bob", "owner": "admin", "cloud": "up", "validity-check": "invalid",
    }  # fmt: skip
    content = sky.ok("show-credential", "up", "bob", "-c", "up")
    assert "validity-check: invalid" in content


def test_a_suspended_model_asks_the_cloud_for_nothing(sky: Sky) -> None:
    _refused(sky)
    assert sky.calls[0] == "start 0"
    again = sky.run("retry-provisioning", "0")
    assert again.status == 1
    assert "pushjuju update-credential up bob" in again.err
    assert sky.calls == []
    sky.ok("add-credential", "up", "-f", _more(sky))
    refused = sky.run("set-credential", "up", "eve")
    text = 'credential "eve" cannot be used for model shop: the cloud refuses the credential: AuthFailure'
    assert refused.err.startswith(f"ERROR {text}")


def _more(sky: Sky) -> str:
    (sky.folder / "eve.yaml").write_text(CREDENTIALS.replace("TOKEN", "second").replace("bob", "eve"))
    return "eve.yaml"


def test_another_credential_lets_its_machines_be_tried_anew(sky: Sky) -> None:
    _refused(sky)
    sky.ok("add-credential", "up", "-f", _more(sky))
    sky.set(good=["second"])
    sky.ok("set-credential", "up", "eve")
    told = {item["short-name"]: item["status"]["current"] for item in sky.data("models")["models"]}
    assert (told["shop"], told["other"]) == ("available", "suspended")
    assert sky.data("status")["machines"]["0"]["machine-status"]["current"] == "allocating"


def test_another_credential_and_new_tries_come_together_or_not_at_all(
    sky: Sky, monkeypatch: pytest.MonkeyPatch
) -> None:
    _refused(sky)
    sky.ok("add-credential", "up", "-f", _more(sky))
    sky.set(good=["second"])

    def cut(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(credential_validity, "renew", cut)
        assert sky.run("set-credential", "up", "eve").status != 0
    assert sky.data("show-model")["shop"]["credential"]["name"] == "bob"
    sky.ok("set-credential", "up", "eve")
    assert sky.data("show-model")["shop"]["credential"]["name"] == "eve"


def test_a_cloud_that_never_answers_is_not_waited_for(sky: Sky, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(credentials, "CALL_S", 0.05)
    sky.set(silent=True, good=["other"])
    done = sky.run("update-credential", "up", "bob", "-f", sky.token("other"))
    assert done.status == 1
    assert "the cloud did not answer within" in done.err


def test_update_credential_tries_it_on_the_models_first(sky: Sky) -> None:
    _refused(sky)
    bad = sky.run("update-credential", "up", "bob", "-f", sky.token("worse"))
    assert (bad.status, bad.out) == (1, "")
    assert bad.err.splitlines()[:5] == [
        "Credential invalid for:",
        "  other:",
        "    the cloud refuses the credential: AuthFailure: no such token",
        "  shop:",
        "    the cloud refuses the credential: AuthFailure: no such token",
    ]
    assert "Use ‘pushjuju set-credential’ to change credential for these models before repeating" in bad.err
    assert "worse" not in sky.ok("show-credential", "up", "bob", "--show-secrets")
    sky.set(good=["better"])
    good = sky.run("update-credential", "up", "bob", "-f", sky.token("better"))
    assert good.err.splitlines() == [
        "Credential valid for:",
        "  other",
        "  shop",
        "Local client was updated successfully with provided credential information.",
    ]
    told = {item["short-name"]: item["status"]["current"] for item in sky.data("models")["models"]}
    assert told == {"controller": "available", "other": "available", "shop": "available"}
    assert sky.data("status")["machines"]["0"]["machine-status"]["current"] == "allocating"
    sky.set(calls=[])
    sky.run("wait-for", "machine", "0", "--timeout", "1s")
    assert sky.calls[0] == "start 0"


def test_a_credential_of_another_account_does_not_show_our_machines(sky: Sky) -> None:
    sky.ok("add-machine", "--no-wait")
    sky.run("wait-for", "machine", "0", "--timeout", "1s")
    assert list(json.loads(sky.file.read_text())["instances"]) == ["0"]
    sky.set(instances={}, good=["first", "foreign"])
    refused = sky.run("update-credential", "up", "bob", "-f", sky.token("foreign"))
    assert refused.status == 1
    assert '  shop:\n    couldn\'t find instance "sky-0" for machine 0\n' in refused.err
    assert "foreign" not in sky.ok("show-credential", "up", "bob", "--show-secrets")
    forced = sky.run("update-credential", "up", "bob", "-f", sky.token("foreign"), "--force")
    assert forced.status == 0, forced.err
    assert "Use ‘pushjuju set-credential’ to change credential for these models.\n" in forced.err
    assert "foreign" in sky.ok("show-credential", "up", "bob", "--show-secrets")


def test_a_model_whose_cloud_has_no_such_thing_is_not_added(sky: Sky) -> None:
    """The cloud is asked only for settings of its provider, and only what it says counts."""
    sky.set(zones=["blue"], calls=[])
    sky.ok("add-model", "plain", "--config", "logging-config=<root>=INFO")
    assert sky.calls == []
    ended = sky.run("add-model", "grey", "--config", "zone-of-sky=grey")
    assert (ended.status, ended.err) == (1, 'ERROR the sky has no zone "grey"\nlook up\n')
    assert "grey" not in sky.ok("models")
    sky.ok("add-model", "blue", "--config", "zone-of-sky=blue")
    assert sky.calls == ["check", "check"]
    sky.set(good=[])
    ended = sky.run("add-model", "late", "--config", "zone-of-sky=grey")
    assert ended.status == 0
    assert "WARNING zone-of-sky could not be checked: " in ended.err
