"""What a controller process has done since it began, for its own metrics (`controller run --metrics`)."""

from __future__ import annotations

from collections import Counter
from datetime import datetime

from pushjuju.core.clock import from_iso
from pushjuju.services.entities.basis.tally import bound_of
from pushjuju.services.views.metrics.reading import Sample, histogram
from pushjuju.store.queue import Claim


class Counts:
    """The claims of one process, and how they ended.

    Attributes:
        lost: The number of keys that another process took over.
        held: The number of keys that the process works on now.
    """

    def __init__(self) -> None:
        self._claims: Counter[str] = Counter()
        self._waits: Counter[int] = Counter()
        self._waited = 0.0
        self.lost = 0
        self.held = 0

    def claimed(self, claim: Claim, now: datetime) -> None:
        """Note a claim, and how long the key was due before."""
        self.held += 1
        self._claims["takeover" if claim.former else "free"] += 1
        waited = max((now - from_iso(claim.due)).total_seconds(), 0.0)
        self._waits[bound_of(int(waited * 1000))] += 1
        self._waited += waited

    def samples(self) -> list[Sample]:
        """Return the metrics of the process."""
        found = [Sample("claims_total", (kind,), self._claims[kind]) for kind in ("free", "takeover")]
        found += histogram("claim_latency_seconds", (), self._waits, self._waited)
        found += [Sample("leases_lost_total", (), self.lost), Sample("claimed_keys", (), self.held)]
        return found
