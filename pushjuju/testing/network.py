"""Network faults between a controller and a local machine, for tests. Needs root.

line = Line.of(data_dir, instance_id)
with line.cut():
    ...  # no packet passes: connections hang, new ones time out
with line.refused(22):
    ...  # the machine refuses SSH connections at once
with line.slow(300):
    ...  # each packet takes 300 ms longer; skipped where the kernel has no netem
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from pushjuju.core.errors import ProviderError
from pushjuju.plugins.providers.local.system import run
from pushjuju.plugins.providers.nspawn.layout import Layout

_TABLE = "pushjuju_fault"


@dataclass(frozen=True, slots=True)
class Line:
    """The network cable of a machine.

    Attributes:
        namespace: The machine's network namespace; the end of the cable on this host has the same name.
    """

    namespace: str

    @classmethod
    def of(cls, data_dir: Path, instance_id: str) -> Line:
        """Return the network cable of a running machine.

        Args:
            data_dir: The folder of the machine's provider: the `machines` folder of the controller.
        """
        layout = Layout.of(data_dir)
        record = layout.read(instance_id)
        assert record is not None, f"no machine {instance_id}"
        return cls(layout.namespace(record.index))

    @contextmanager
    def cut(self) -> Iterator[None]:
        """Pull the cable for the block."""
        run(["ip", "link", "set", self.namespace, "down"])
        try:
            yield
        finally:
            run(["ip", "link", "set", self.namespace, "up"])

    @contextmanager
    def refused(self, port: int) -> Iterator[None]:
        """Make the machine refuse connections to a TCP port for the block."""
        rule = (
            f"table inet {_TABLE} {{ chain in {{ type filter hook input priority -300; "
            f"tcp dport {port} reject with tcp reset; }}; }}\n"
        )
        self._inside("nft", "-f", "-", stdin=rule)
        try:
            yield
        finally:
            self._inside("nft", "delete", "table", "inet", _TABLE)

    @contextmanager
    def slow(self, delay_ms: int, loss_percent: float = 0.0) -> Iterator[None]:
        """Delay packets to the machine, and lose some of them, for the block."""
        words = ["netem", "delay", f"{delay_ms}ms"]
        words += ["loss", f"{loss_percent}%"] if loss_percent else []
        try:
            run(["tc", "qdisc", "add", "dev", self.namespace, "root", *words])
        except ProviderError as error:
            pytest.skip(f"the kernel cannot delay packets: {error.detail or error.message}")
        try:
            yield
        finally:
            run(["tc", "qdisc", "del", "dev", self.namespace, "root"])

    def _inside(self, *command: str, stdin: str = "") -> None:
        run(["ip", "netns", "exec", self.namespace, *command], stdin=stdin)
