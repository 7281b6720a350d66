"""A host that loses its network: the server, the processes and the network are real."""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from pushjuju.core.values import changed
from pushjuju.store.db import Store
from pushjuju.store.queue import WorkQueue, machine_key, touch
from tests.postgres import databases, server
from tests.postgres.hosts import Cable
from tests.unit.store.conftest import MODEL
from tests.waiting import comes

pytestmark = pytest.mark.machine
NOW = MODEL.created
KEY = machine_key(MODEL.uuid, "0")
HOLDS = """
import sys, time
from datetime import datetime
from pushjuju.core.errors import StoreError
from pushjuju.store.db import Store
from pushjuju.store.queue import WorkQueue
store = Store.open(sys.argv[1])
store.engine.appear("cut.example:1:1")
queue = WorkQueue(store, "cut.example:1:1")
print(len(queue.claim_some(sys.argv[2], datetime.fromisoformat(sys.argv[3]), 1)), flush=True)
try:
    while True:
        begun = time.monotonic()
        with store.read() as tx:
            tx.rows("model_list")
        time.sleep(0.1)
except StoreError as error:
    print(time.monotonic() - begun, error.message, flush=True)
"""


def test_work_of_a_host_without_network_is_free_before_its_lease_ends(cable: Cable, tmp_path: Path) -> None:
    """The time of the queue stands still here, so that no lease ends: only the server tells."""
    with (
        server.running(tmp_path, durable=True, address=cable.here) as folder,
        databases.database(folder) as url,
        closing(Store.open(url, create=True)) as store,
    ):
        with store.write() as tx:
            tx.insert("model", changed(MODEL, name="shop"))
            touch(tx, KEY, NOW)
        queue = WorkQueue(store, "near.example:1:1")
        far = url.partition("?")[0].replace("@/", f"@{cable.here}/")
        argv = [sys.executable, "-c", HOLDS, far, KEY, str(NOW)]
        there = ["ip", "netns", "exec", cable.namespace, *argv]
        with subprocess.Popen(there, stdout=subprocess.PIPE, text=True) as other:
            assert other.stdout is not None
            assert other.stdout.readline() == "1\n"
            comes(lambda: store.lives("dead.example:1:1") is False)
            assert not queue.claim_some(KEY, NOW, 1)
            cable.cut()
            begun = time.monotonic()
            comes(lambda: queue.claim_some(KEY, NOW, 1))
            assert time.monotonic() - begun < 30
            waited, _, said = other.stdout.readline().partition(" ")
            assert float(waited) < 30
            assert "cannot be reached" in said
