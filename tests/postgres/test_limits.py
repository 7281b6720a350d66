"""What users see when the server has no free connection; the server and the processes are real."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from importlib import import_module
from pathlib import Path

from tests.postgres import databases
from tests.postgres.test_absence import Run, Server, alone, run, started  # noqa: F401 - fixtures
from tests.waiting import comes

ROLE = "shop"


def test_a_command_without_a_free_connection_says_so_and_the_work_goes_on(
    alone: Server,  # noqa: F811
    run: Run,  # noqa: F811
    tmp_path: Path,
) -> None:
    host = str(alone.folder)
    databases.command(host, f"CREATE ROLE {ROLE} LOGIN CONNECTION LIMIT 5")
    databases.command(host, f"CREATE DATABASE {ROLE} OWNER {ROLE}")
    url = f"postgresql://{ROLE}@/{ROLE}?host={host}"
    assert not run("bootstrap", "local", "home", "--store", url, "--insecure-store").returncode
    with started(tmp_path, "controller", "run") as (process, said):
        psycopg = import_module("psycopg")  # an extra
        comes(lambda: f":{process.pid}:" in run("controller", "processes").stdout, said.read_text())
        with ExitStack() as taken:
            with suppress(psycopg.OperationalError):
                while True:
                    taken.enter_context(psycopg.connect(url))
            refused = run("add-model", "new")
            assert refused.returncode == 1
            assert 'too many connections for role "shop"' in refused.stderr
            assert "Traceback" not in refused.stderr
        databases.command(host, f"ALTER ROLE {ROLE} CONNECTION LIMIT -1")
        assert not run("add-model", "new").returncode
        assert process.poll() is None, said.read_text()
    assert "Traceback" not in said.read_text()
