"""Hosts that leave a controller; the server and the processes are real."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from tests.postgres import databases
from tests.postgres.hosts import Host, done
from tests.waiting import comes


def test_a_process_ends_when_its_host_is_unregistered(
    pair: tuple[Host, Host],
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


def test_only_a_host_that_can_use_the_store_kills_the_controller(
    pair: tuple[Host, Host],
    tmp_path: Path,
    postgres_url: str,
    postgres_host: str,
) -> None:
    first, second = pair
    key = tmp_path / "two/data/controllers/prod/controller.key"
    right = key.read_text()
    key.write_text("MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=\n")
    refused = second("kill-controller", "--no-prompt", "prod")
    assert refused.returncode == 1
    assert "another key for the controller" in refused.stderr
    assert "pushjuju unregister prod    forgets the controller on this host alone" in refused.stderr
    assert key.exists()
    assert "controller" in done(first("models"))
    key.write_text(right)
    name = urlsplit(postgres_url).path[1:]
    databases.command(postgres_host, f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
    refused = second("kill-controller", "--no-prompt", "prod")
    assert "cannot be reached" in refused.stderr
    assert key.exists()
    databases.command(postgres_host, f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
    done(second("kill-controller", "--no-prompt", "prod"))
    assert "pushjuju unregister CONTROLLER" in first("models").stderr
    done(first("kill-controller", "--no-prompt", "prod"))
    assert not (tmp_path / "one/data/controllers/prod").exists()
