"""A whole life through requests alone: options in, results out, no command line."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pushjuju.core.errors import NotValid, UsageError
from pushjuju.services.requests import removals
from pushjuju.services.requests.action import operations
from pushjuju.services.requests.application import settings
from pushjuju.services.requests.application.deploy import DeployOptions, deploy
from pushjuju.services.requests.application.refresh import RefreshOptions, progress, refresh
from pushjuju.services.requests.application.settings import ConfigOptions
from pushjuju.services.requests.application.unit_requests import AddUnitsOptions, add_units
from pushjuju.services.requests.relation import integrate
from pushjuju.services.views import tasks
from tests.world.charms import UBUNTU
from tests.world.controller import TestController
from tests.world.runtime import PlayedRuntime, drive
from tests.world.said import problems_of

ACTIONS = {"actions.yaml": "greet:\n  description: d\n"}


class Notes:
    """Keeps what requests say to the user."""

    def __init__(self) -> None:
        self.infos: list[str] = []
        self.warnings: list[str] = []

    def info(self, text: str) -> None:
        self.infos.append(text)

    def warn(self, text: str) -> None:
        self.warnings.append(text)

    def downloading(self, what: str) -> Any:
        raise AssertionError(f"{what} comes from no store")


def test_deployed_related_configured_acted_refreshed_and_removed(runtime: TestController) -> None:
    ctx, model, work, notes = runtime.ctx, runtime.model, PlayedRuntime(runtime), Notes()

    def rest() -> list[str]:
        """Work until all is at rest; return what ran on web/0 since the last time."""
        assert problems_of(asyncio.run(drive(runtime, work))) == ()
        ran = runtime.of("web/0")
        runtime.clear()
        return ran

    first = runtime.charms.make(files=ACTIONS, requires={"db": {"interface": "sql"}}).path
    store = runtime.charms.make("store", peers=None, provides={"db": {"interface": "sql"}}).path
    options = DeployOptions(charm=str(first), base=UBUNTU, config={"title": "old"}, num_units=2)
    deployed = deploy(ctx, model, options, notices=notes)
    assert (deployed.application, deployed.charm, deployed.revision) == ("web", "web", 0)
    assert deployed.units == ("web/0", "web/1")
    assert deploy(ctx, model, DeployOptions(charm=str(store))).units == ("store/0",)
    assert "install" in rest()

    integrate.integrate(ctx, model, "web", "store")
    assert "db-relation-joined" in rest()
    settings.set_config(ctx, model, ConfigOptions(application="web", values={"title": "new"}))
    assert rest() == ["config-changed"]
    assert add_units(ctx, model, AddUnitsOptions(application="web")) == ["web/2"]
    assert "cluster-relation-joined" in rest()
    queued = operations.enqueue(ctx, model, operations.ActionRequest(action="greet", receivers=["web/0"]))
    rest()
    (task,) = tasks.get_tasks(ctx, model, [task.id for task in queued.tasks])
    assert task.status == "completed"

    newer = runtime.charms.make(files={**ACTIONS, "new": "1"}, requires={"db": {"interface": "sql"}}).path
    refreshed = refresh(ctx, model, RefreshOptions(application="web", path=str(newer)), notices=notes)
    assert (refreshed.charm, refreshed.revision, refreshed.works) == ("web", 1, True)
    assert rest()[:2] == ["upgrade-charm", "config-changed"]
    assert [line.rpartition(",")[0] for line in progress(ctx, model, "web")] == [
        f"unit web/{number} has revision 1" for number in range(3)
    ]
    assert (notes.infos, notes.warnings) == ([], [])

    removals.remove_applications(ctx, model, ["web", "store"])
    assert rest()[-2:] == ["stop", "remove"]
    assert (runtime.applications(), runtime.machine_ids()) == ([], [])


def test_a_dry_run_and_a_refusal_by_the_cloud_leave_nothing(runtime: TestController) -> None:
    options = {"charm": str(runtime.charms.make().path)}
    assert deploy(runtime.ctx, runtime.model, DeployOptions(**options, dry_run=True)).units == ("web/0",)

    def refuse(*_: Any, **machines: Any) -> None:
        assert machines["count"] == 1
        raise NotValid("no such machines")

    with pytest.raises(NotValid, match="no such machines"):
        deploy(runtime.ctx, runtime.model, DeployOptions(**options), precheck=refuse)
    assert (runtime.applications(), runtime.blobs()) == ([], [])


@pytest.mark.parametrize(
    ("error", "wrong"),
    [
        (UsageError, {"num_units": 0}),
        (UsageError, {"num_units": 2, "attach_storage": ["data/0"]}),
        (NotValid, {"revision": 3}),
        (NotValid, {"channel": "a/b/c/d"}),
        (UsageError, {"application": "9"}),
    ],
)
def test_options_that_can_never_work_are_no_options(error: type[Exception], wrong: dict[str, Any]) -> None:
    with pytest.raises(error):
        DeployOptions(charm="web", **wrong)


def test_a_refresh_names_one_charm() -> None:
    with pytest.raises(UsageError, match="--path and --revision are mutually exclusive"):
        RefreshOptions(application="web", path="./web", revision=3)
