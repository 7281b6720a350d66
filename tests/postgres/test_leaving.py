"""Hosts that leave a controller; the server and the processes are real."""

from __future__ import annotations

from pathlib import Path

from tests.postgres.test_hosts import Host, done, host, pair  # noqa: F401 - fixtures
from tests.waiting import comes


def test_a_process_ends_when_its_host_is_unregistered(
    pair: tuple[Host, Host],  # noqa: F811
    tmp_path: Path,
) -> None:
    """Else it would claim work, and fail for want of its files."""
    first, second = pair
    with second.at_work() as process:
        comes(lambda: f":{process.pid}:" in done(first("controller", "processes")))
        done(second("unregister", "--no-prompt", "prod"))
        assert process.wait(timeout=60) == 1
    assert "controller prod is no longer registered on this host" in (tmp_path / "two/said").read_text()
    assert f":{process.pid}:" not in done(first("controller", "processes"))
