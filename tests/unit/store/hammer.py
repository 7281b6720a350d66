"""One of several processes that work on one store at once; run by test_two_processes.py.

Each round touches keys, claims what is due, takes a number of a sequence and counts what it has seen.
Arguments: store, directory for proofs, rounds, name.
"""

from __future__ import annotations

import os
import random
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pushjuju.store.db import Store
from pushjuju.store.files import waits
from pushjuju.store.processes import process_owner
from pushjuju.store.queue import Claim, WorkQueue, touch

MODEL = "11111111-0000-4000-8000-000000000000"
KEYS = [f"m/machine/{number}" for number in range(4)]


class Hammer:
    """One worker of the queue that also makes work."""

    def __init__(self, place: Path | str, proofs: Path, name: str) -> None:
        self.store = Store.open(place)
        self.store.remember()
        self.store.appear()
        self.queue = WorkQueue(self.store, process_owner())
        self.proofs = proofs
        self.random = random.Random(name)

    def ask(self) -> None:
        """Want one more look at a key, and say how many were wanted in all."""
        key = self.random.choice(KEYS)
        with self.store.write() as tx:
            wanted = int(tx.scalar("model_config_get", model=MODEL, key=f"wanted {key}") or 0) + 1
            tx.run("model_config_set", model=MODEL, key=f"wanted {key}", value=str(wanted))
            touch(tx, key, datetime.now(UTC), "asked")

    def work(self) -> bool:
        """Work one key, if any is due and free."""
        claim = self.queue.claim("m/", datetime.now(UTC))
        if claim is None:
            return False
        proof = self.proofs / claim.key.replace("/", "-")
        handle = os.open(proof, os.O_CREAT | os.O_EXCL)  # fails when another owner works the same key
        self._look(claim)
        os.close(handle)
        proof.unlink()
        again = datetime.now(UTC) + timedelta(milliseconds=5) if self.random.random() < 0.2 else None
        self.queue.finish(claim, datetime.now(UTC), again)
        return True

    def anything_left(self) -> bool:
        """Return True when a key is due, also one of a process that has just died."""
        return self.queue.anything_due("m/", datetime.now(UTC))

    def _look(self, claim: Claim) -> None:
        with self.store.read() as tx:
            wanted = tx.scalar("model_config_get", model=MODEL, key=f"wanted {claim.key}")
        time.sleep(self.random.random() / 500)
        assert self.queue.heartbeat(claim, datetime.now(UTC))
        with self.store.write() as tx:
            tx.run("model_config_set", model=MODEL, key=f"seen {claim.key}", value=wanted or "0")
            print(tx.next(MODEL, "operation"), flush=True)


def main() -> None:
    """Ask and work some rounds, then work until nothing is left."""
    with waits.told_by(lambda _: None):  # on a busy machine one may wait for more than a second
        place = sys.argv[1] if "://" in sys.argv[1] else Path(sys.argv[1])
        hammer = Hammer(place, Path(sys.argv[2]), sys.argv[4])
        for _ in range(int(sys.argv[3])):
            hammer.ask()
            hammer.work()
        quiet = 0
        while quiet < 20 or hammer.anything_left():
            quiet = 0 if hammer.work() else quiet + 1
            time.sleep(0.005)


if __name__ == "__main__":
    main()
