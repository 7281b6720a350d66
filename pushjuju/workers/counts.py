"""What a controller process has done since it began, for its own metrics (`controller run --metrics`)."""

from __future__ import annotations

from collections import Counter
from datetime import datetime

from pushjuju.core.clock import SystemClock, from_iso
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.basis.tally import bound_of
from pushjuju.services.views.metrics.reading import Sample, histogram
from pushjuju.store.queue import Claim
from pushjuju.workers.outcome import Outcome


class Counts:
    """The claims of one process, and how they ended."""

    def __init__(self) -> None:
        self._claims: Counter[str] = Counter()
        self._waits: Counter[int] = Counter()
        self._waited = 0.0
        self._takeovers: Counter[str] = Counter()
        self.lost = 0  # the number of keys that another process took over
        self.held = 0  # the number of keys that the process works on now
        self._overtaken = 0
        self._hooks = 0
        self._overhead = 0.0

    def claimed(self, claim: Claim, now: datetime) -> None:
        """Note a claim, and how long the key was due before."""
        self.held += 1
        self._claims["takeover" if claim.former else "free"] += 1
        if claim.former:
            self._takeovers["lease" if claim.ended else "presence"] += 1
        waited = max((now - from_iso(claim.due)).total_seconds(), 0.0)
        self._waits[bound_of(int(waited * 1000))] += 1
        self._waited += waited

    def note(self, outcome: Outcome) -> None:
        """Note contacts with a machine that ended, and whether the machine had heard of a later lease."""
        self._overtaken += outcome.overtaken
        for contact in outcome.contacts:
            if contact.runs:
                self._hooks += len(contact.runs)
                self._overhead += max(contact.seconds - sum(contact.runs), 0.0)

    def samples(self) -> list[Sample]:
        """Return the metrics of the process."""
        found = [Sample("claims_total", (kind,), self._claims[kind]) for kind in ("free", "takeover")]
        found += histogram("claim_latency_seconds", (), self._waits, self._waited)
        found += [Sample("takeovers_total", (by,), self._takeovers[by]) for by in ("lease", "presence")]
        found += [Sample("leases_lost_total", (), self.lost), Sample("claimed_keys", (), self.held)]
        found += [Sample("overtaken_total", (), self._overtaken)]
        found += [Sample("hook_overhead_seconds", (), self._overhead, "_sum")]
        return [*found, Sample("hook_overhead_seconds", (), self._hooks, "_count")]

    def of_process(self, ctx: Context) -> list[Sample]:
        """Return the same and what the process has done with the store; call in the thread of the store."""
        found = [*self.samples(), *(Sample(*item) for item in ctx.store.figures())]
        if ctx.store.engine.clock() is None:
            return found
        apart = (SystemClock().now() - ctx.clock.now()).total_seconds()
        return [*found, Sample("clock_offset_seconds", (), apart)]
