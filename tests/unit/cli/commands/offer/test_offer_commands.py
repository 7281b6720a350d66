"""offer, offers, find-offers, show-offer, remove-offer, consume, remove-saas, and integrate with an offer."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from pushjuju.cli.complete import completing
from tests.world.charms import Charms
from tests.world.commandline import Run
from tests.world.two_models import TwoModels

pytestmark = pytest.mark.usefixtures("settled")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, packs: Charms) -> Path:
    """A data directory with db in model prod, and web in model shop, which is the current one."""
    made = TwoModels(tmp_path_factory.mktemp("models"), packs)
    made.deploy(made.shop, "web", "proxy")
    made.deploy(made.prod, "db")
    return made.keep()


@pytest.fixture
def lab(run: Run, built: Path, tmp_path: Path) -> Run:
    """Return `run` in a copy of it."""
    shutil.copytree(built, tmp_path / "data")
    return run


def words(text: str) -> list[str]:
    return [" ".join(row.split()) for row in text.splitlines()]


def test_the_way_of_an_offer(lab: Run, settled: list[Any]) -> None:
    ended = lab("offer", "prod.db:server,fast", "hosted")
    assert (ended.status, ended.out) == (0, "")
    assert ended.err == 'Application "db" endpoints [server, fast] available at "admin/prod.hosted"\n'
    assert lab("find-offers").out.splitlines()[1] == (
        "home   admin/prod.hosted  admin   mem:fast, sql:server"
    )
    ended = lab("consume", "prod.hosted", "mydb")
    assert (ended.status, ended.out, ended.err) == (0, "", "Added home:admin/prod.hosted as mydb\n")
    assert lab("integrate", "web:db", "mydb").status == 0
    assert settled == [["web", "mydb"]]
    table = lab("status", "--relations").out
    assert "mydb  waiting  home   admin/prod.hosted" in table
    assert "mydb:server           web:db    sql        regular  joining" in table
    assert (
        "hosted  db           db     0    0/1        fast      mem        provider"
        in lab("status", "-m", "prod").out
    )
    document = json.loads(lab("status", "-m", "prod", "--format", "json").out)
    assert document["offers"]["hosted"]["total-connected-count"] == 1
    shown = json.loads(lab("offers", "-m", "prod", "--format", "json").out)
    assert shown["hosted"]["connections"][0]["status"]["current"] == "joining"
    assert words(lab("offers", "-m", "prod").out)[1].startswith("hosted admin 0 joining server sql provider")
    assert words(lab("offers", "-m", "prod", "--format", "summary").out)[1] == (
        "hosted db local:db-0 0/1 home admin/prod.hosted fast mem provider"
    )


def test_integrate_with_an_offer(lab: Run, settled: list[Any]) -> None:
    lab("offer", "prod.db:server")
    ended = lab("integrate", "web", "admin/prod.db", "--via", "192.168.0.0/16, 10.0.0.0/8")
    assert (ended.status, ended.out, ended.err) == (0, "", "")
    assert settled == [["web", "db"]]
    listed = json.loads(lab("offers", "-m", "prod", "--format", "json").out)
    assert listed["db"]["connections"][0]["ingress-subnets"] == ["10.0.0.0/8", "192.168.0.0/16"]
    assert "cannot add relation" in lab("integrate", "web", "home:prod.db:server").err


def test_suspend_is_for_the_model_of_the_offer(lab: Run) -> None:
    lab("offer", "prod.db:server")
    lab("integrate", "web", "prod.db")
    ended = lab("suspend-relation", "0")
    assert ended.status == 1
    assert ended.err.startswith(
        'ERROR cannot set suspend status for "web:db db:server" which is not associated with an offer'
    )
    assert lab("suspend-relation", "-m", "prod", "0", "--message", "rest").status == 0
    assert "suspending  rest" in lab("status", "--relations").out
    assert lab("resume-relation", "-m", "prod", "0").status == 0


def test_remove_saas(lab: Run, settled: list[Any]) -> None:
    lab("offer", "prod.db:server")
    lab("consume", "prod.db")
    ended = lab("remove-saas", "db", "other")
    assert (ended.status, ended.out) == (1, "")
    assert ended.err == 'removing SAAS application other failed: saas application "other" not found\n'
    assert settled == [["db"]]
    assert "SAAS" not in lab("status").out


def test_remove_offer(lab: Run, settled: list[Any]) -> None:
    lab("offer", "prod.db:server")
    lab("integrate", "web", "prod.db")
    settled.clear()
    ended = lab("remove-offer", "prod.db")
    assert ended.status == 1
    assert ended.err.startswith('ERROR cannot delete application offer "db": offer has 1 relation\n')
    ended = lab("remove-offer", "prod.db", "--force", stdin="n\n")
    assert ended.status == 1
    assert "WARNING! This command will remove offers: prod.db" in ended.err
    assert ended.err.endswith("ERROR offer removal: aborted\n")
    assert lab("remove-offer", "prod.db", "--force", "-y").status == 0
    assert settled == [()]
    assert "terminated" in lab("status").out
    lab("switch", "prod")
    lab("offer", "db:server")
    assert lab("remove-offer", "db").status == 0


def test_show_offer(lab: Run) -> None:
    lab("offer", "prod.db:server")
    for name in ("prod.db", "home:admin/prod.db"):
        assert words(lab("show-offer", name).out)[1] == "home admin/prod.db admin d server sql provider"
    assert lab("show-offer", "db", "-m", "prod").status == 0
    assert list(json.loads(lab("show-offer", "prod.db", "--format", "json").out)) == ["home:admin/prod.db"]


def test_find_offers(lab: Run) -> None:
    lab("offer", "prod.db:server")
    for more in ([], ["prod"], ["home:"], ["admin/prod.db"], ["--url", "prod.d"], ["--offer", "b"]):
        assert "admin/prod.db" in lab("find-offers", *more).out, more
    for more in (["shop"], ["--interface", "http"], ["kim/prod"], ["--offer", "x"]):
        assert lab("find-offers", *more).err == "ERROR no matching application offers found\n", more


def test_offers_without_any(lab: Run) -> None:
    assert lab("offers").out == (
        "Offer  User  Relation ID  Status  Endpoint  Interface  Role  Ingress subnets\n"
    )
    assert lab("list-offers", "--format", "json").out == "{}\n"


def test_completion(lab: Run, tmp_path: Path) -> None:
    env = {"PUSHJUJU_DATA": str(tmp_path / "data"), "HOME": str(tmp_path)}

    def told(*argv: str) -> list[str]:
        return [text for text, _ in completing.answer(argv, env)[1]]

    lab("offer", "prod.db:server", "hosted")
    lab("consume", "prod.hosted", "mine")
    assert told("consume", "") == ["admin/prod.hosted"]
    assert told("remove-saas", "") == ["mine"]
    assert "admin/prod.hosted" in told("integrate", "web", "")
    assert told("offers", "-m", "prod", "") == ["hosted"]


def test_the_plan_of_an_integration(lab: Run) -> None:
    lab("offer", "prod.db:server")
    before = lab("status", "--format", "json").out
    ended = lab("plan", "--", "integrate", "web", "prod.db")
    assert "Traceback" not in ended.err
    assert "db" in ended.out
    after = lab("status", "--format", "json").out
    assert json.loads(before)["applications"] == json.loads(after)["applications"]


def test_grant_on_an_offer(lab: Run) -> None:
    lab("offer", "prod.db:server")
    lab("add-user", "kim")
    assert lab("grant", "kim", "consume", "prod.db").err == ""
    listed = json.loads(lab("offers", "-m", "prod", "--allowed-consumer", "kim", "--format", "json").out)
    assert listed["db"]["users"]["kim"]["access"] == "consume"
    assert lab("revoke", "kim", "consume", "admin/prod.db").status == 0
    assert lab("offers", "-m", "prod", "--allowed-consumer", "kim", "--format", "json").out == "{}\n"
    assert lab("grant", "kim", "read", "prod.x").err.startswith('ERROR application offer "admin/prod.x" not')


@pytest.mark.parametrize(
    ("argv", "status", "text"),
    [
        (["offer"], 2, "an offer must at least specify application endpoint"),
        (["offer", "a:b", "c", "d"], 2, 'unrecognized args: ["d"]'),
        (["offer", "db"], 1, 'endpoints must conform to format "<application-name>:<endpoint-name>[,...]" '),
        (["offer", "d_b:x"], 1, 'application name "d_b" not valid'),
        (["offer", "db:"], 1, 'specify endpoints for db" '),
        (["offer", "none.db:x"], 1, "model home:admin/none not found"),
        (["offer", "x:y"], 1, 'cannot add application offer "x": application "x" not found'),
        (["remove-offer"], 2, "no offers specified"),
        (["remove-offer", "prod.x"], 1, 'application offer "admin/prod.x" not found'),
        (["remove-offer", "home:prod.x", "prod.y"], 1, "all offer URLs must use the same controller"),
        (["remove-offer", "a/b/c.d"], 1, "application offer URL has invalid form"),
        (["find-offers", "--url", "a.b", "--offer", "c"], 2, "cannot specify both a URL term and offer term"),
        (["find-offers", "a.b", "--url", "c.d"], 2, "URL term cannot be specified twice"),
        (["show-offer"], 2, "must specify endpoint URL"),
        (["show-offer", "prod.x"], 1, 'application offer "admin/prod.x" not found'),
        (["consume"], 2, "no remote offer specified"),
        (["consume", "db"], 1, "application offer URL is missing application"),
        (["consume", "prod.db:x"], 1, 'saas offer "prod.db:x" shouldn\'t include endpoint'),
        (["consume", "prod.db", "a b"], 2, 'invalid application name "a b"'),
        (["consume", "prod.db"], 1, 'application offer "admin/prod.db" not found'),
        (["consume", "other:prod.db"], 1, 'controller "other" is not this controller, "home"'),
        (["remove-saas"], 2, "no SAAS application names specified"),
        (["remove-saas", "a b"], 2, 'invalid SAAS application name "a b"'),
        (["remove-saas", "db", "--no-wait"], 1, "--no-wait requires --force"),
        (["integrate", "a.b", "c.d"], 2, "providing more than one remote endpoints not supported"),
        (["integrate", "web", "prod.db"], 1, 'application offer "admin/prod.db" not found'),
        (["integrate", "web", "prod.db", "--via", "x"], 2, "invalid CIDR address: x"),
    ],
)
def test_refusals(lab: Run, settled: list[Any], argv: list[str], status: int, text: str) -> None:
    ended = lab(*argv)
    assert (ended.status, ended.out) == (status, "")
    assert ended.err.startswith(f"ERROR {text}"), ended.err
    assert settled == []
