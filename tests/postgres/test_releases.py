"""Two releases of pushjuju with one store; the server and the processes are real."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from pushjuju.store.statements import migrations
from tests.postgres.test_absence import Run, run, started  # noqa: F401 - a fixture
from tests.waiting import comes


def test_a_process_ends_when_a_newer_release_has_changed_its_store(
    postgres_url: str,
    run: Run,  # noqa: F811
    tmp_path: Path,
) -> None:
    assert not run("bootstrap", "local", "home", "--store", postgres_url, "--insecure-store").returncode
    newer = migrations()[-1][0] + 1
    with started(tmp_path, "controller", "run") as (process, said):
        comes(lambda: f":{process.pid}:" in run("controller", "processes").stdout, said.read_text())
        psycopg = import_module("psycopg")  # an extra
        with psycopg.connect(postgres_url, autocommit=True) as link:
            link.execute("UPDATE pushjuju.schema_version SET version = %s", [newer])
        comes(lambda: process.poll() is not None, f"it goes on: {said.read_text()}")
        assert process.returncode == 1
        refused = run("models")
        assert refused.returncode == 1
        for text in (said.read_text(), refused.stderr):
            assert f"has schema {newer}" in text
            assert "upgrade pushjuju" in text
            assert "Traceback" not in text
