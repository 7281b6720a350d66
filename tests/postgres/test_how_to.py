"""The page that leads a controller into PostgreSQL and to several hosts, on two hosts of this computer."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.postgres import background, databases, fixtures, server
from tests.waiting import comes
from tests.world import how_to

ADDRESS = "postgresql://pushjuju@db.example.com/pushjuju?sslmode=verify-full"
UNITS = "tests/charms/test_contrib.py makes the template of a unit file on a machine with systemd"
KEY = "needs systemd, which decrypts the key; tests/postgres/test_hosts.py joins with such a credential"
LOST = "needs a server that lost commits; tests/postgres/test_absence.py takes units out of that error"


@pytest.fixture
def names(postgres_host: str) -> Iterator[tuple[str, str]]:
    """Names of a user and of its two databases, which are gone at the end."""
    fixtures.require_psycopg()
    name = f"page_{secrets.token_hex(4)}"
    yield name, f"{name}_moved"
    for database in (name, f"{name}_moved"):
        databases.command(postgres_host, f"DROP DATABASE IF EXISTS {database} WITH (FORCE)")
    databases.command(postgres_host, f"DROP ROLE IF EXISTS {name}")


@contextmanager
def host(home: Path, postgres_host: str) -> Iterator[how_to.Shell]:
    """A host with the programs of PostgreSQL, on which somebody types."""
    made = how_to.Shell(home, PUSHJUJU_DATA=str(home / "data"), PGHOST=postgres_host, PGUSER="pushjuju")
    made.environ["PATH"] += f"{os.pathsep}{server._programs()}"
    yield made
    background.end(home / "data")


def test_a_controller_grows_to_two_hosts(tmp_path: Path, postgres_host: str, names: tuple[str, str]) -> None:
    """The server has no TLS and asks for no password: it is reached through a socket of this computer."""
    name, moved = names
    with host(tmp_path / "one", postgres_host) as first, host(tmp_path / "two", postgres_host) as second:
        prepare = {
            "pushjuju controller move": f"createdb {moved} --owner {name}; pushjuju bootstrap manual old",
            "pushjuju controller key export": "pushjuju switch prod:",
            "pushjuju model-config -m lab": "pushjuju add-model lab",
        }
        address = f"postgresql://{name}@/{name}?host={postgres_host}"

        def run(line: str) -> tuple[int, str]:
            for begin, before in prepare.items():
                if line.startswith(begin):
                    assert first(before)[0] == 0
            if line.startswith("db.example.com:"):
                (second.home / ".pgpass").write_text(f"{line}\n")
                return 0, ""
            if line.startswith("createuser"):
                return first(line, stdin="sesame\nsesame\n")
            if "controller move" in line:
                line = line.replace(address, address.replace(f"/{name}?", f"/{moved}?"))
            if "controller join" in line:
                shutil.copy(first.home / "controller.key", second.home)
            if "shred" in line and not (second.home / "controller.key").exists():
                return 0, ""  # the page has another way to keep the key
            if "controller run" in line:
                with first.serves(line, "."):
                    comes(lambda: "lab" in first("pushjuju controller processes")[1])
                    return 0, ""
            if "drain" in line:
                with second.serves("pushjuju controller run", "."):
                    comes(lambda: "waiting" in first("pushjuju controller processes")[1])
                    return first(line)
            here = second if re.search("join|shred|unregister", line) else first
            return here(line)

        how_to.play(
            "grow-to-several-hosts.md",
            run,
            left_out={line: UNITS for line in how_to.commands("grow-to-several-hosts.md") if "sudo" in line}
            | {line: KEY for line in how_to.commands("grow-to-several-hosts.md") if "pj " in line}
            | {line: LOST for line in how_to.commands("grow-to-several-hosts.md") if "resolved" in line},
            put={
                "createuser pushjuju": f"createuser {name}",
                "createdb pushjuju --owner pushjuju": f"createdb {name} --owner {name}",
                f"'{ADDRESS}'": f"'{address}' --insecure-store",
                "openstack": "manual",
                "HOST": socket.gethostname(),
            },
        )
