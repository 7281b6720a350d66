"""The controller dies by SIGKILL at every step of storage: each is done once, and no data is lost."""

from __future__ import annotations

import subprocess

import pytest

from pushjuju.core.storage import Directive
from pushjuju.services.requests import removals
from pushjuju.services.requests.storage import storage_requests
from pushjuju.services.views.status import storage_document
from tests.chaos.controller import CHARMS, DEPLOY_HOOKS, REMOVE_HOOKS, RealController
from tests.chaos.test_kills import die_on

pytestmark = pytest.mark.machine

STORES = """
storage:
  data:
    type: filesystem
    location: /srv/data
    minimum-size: 16M
  cache:
    type: filesystem
    location: /srv/cache
    minimum-size: 4M
"""
# Who comes first to a file system leaves a mark; the mark tells how often it was made.
DO = """case $hook in *-storage-attached)
  echo "$hook" >> "$JUJU_STORAGE_LOCATION/marks"
  cp "$JUJU_STORAGE_LOCATION/marks" "/root/marks-$(basename "$JUJU_STORAGE_LOCATION")";;
esac"""
MAKING = ("create-begun", "made", "create-noted", "attach-begun", "mounted", "attach-noted")
TAKING = ("detach-begun", "unmounted", "detach-noted")
ENDING = ("destroy-begun", "destroyed", "destroy-noted")


def words(steps: tuple[str, ...]) -> str:
    return ",".join(f"storage-{step}" for step in steps)


def loops(*places: str) -> list[str]:
    """Return the files behind loop devices of this host that are in some places."""
    argv = ["losetup", "-n", "-O", "BACK-FILE"]
    found = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    return [line for line in found.splitlines() if any(place in line for place in places)]


@pytest.mark.parametrize("pool", ["loop", "local"])
async def test_death_at_each_step_of_storage(world: RealController, pool: str) -> None:
    metadata = (CHARMS / "tally" / "metadata.yaml").read_text() + STORES
    wanted = {"data": Directive(pool=pool), "cache": Directive(pool="tmpfs")}
    world.deploy(DO, storage=wanted, **{"metadata.yaml": metadata})
    assert die_on(world, words(MAKING)) == [f"storage-{step}" for step in MAKING]
    real_machine = world.machine()
    attached = ["cache-storage-attached", "data-storage-attached"]
    assert real_machine.begun() == [f"{hook} 1" for hook in (*attached, *DEPLOY_HOOKS)]
    assert (real_machine.root / "root/marks-data").read_text() == "data-storage-attached\n"
    # Images are told by their place on this host, files inside a machine by their names alone.
    own = [path.name for path in world.layout.state.rglob(".loop/*")]
    assert len(loops(str(world.layout.state), *own)) == 1

    world.add_machine()  # so that the unit's own is not the last one
    removals.remove_units(world.ctx, world.uuid, ["tally/0"])
    assert die_on(world, words(TAKING)) == [f"storage-{step}" for step in TAKING]
    kept = storage_document.document(world.ctx, world.uuid)["storage"]
    assert {item["status"]["current"] for item in kept.values()} == {"detached"}
    assert real_machine.begun()[-2:] == [f"{hook} 1" for hook in REMOVE_HOOKS]

    answers = storage_requests.remove(world.ctx, world.uuid, list(kept))
    assert not [answer.error for answer in answers if answer.error]
    assert die_on(world, words(ENDING)) == [f"storage-{step}" for step in ENDING]
    assert storage_document.document(world.ctx, world.uuid) == {}
    assert loops(str(world.layout.state), *own) == []
    assert [machine.id for machine in world.machines()] == ["1"]
