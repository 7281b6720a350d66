"""Real machines for tests, which are removed for certain after the tests.

Import the fixture in a conftest:

    from pushjuju.testing.machines import local_cloud  # noqa: F401

The fixture is a LocalCloud: data directories for controllers, providers, a key for the login. The end of the
run removes all its machines, also after failures; the next run removes those of a killed run. Mark tests
that use the fixture with `machine`.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from pushjuju.core.base import Base
from pushjuju.plugins.api.clouds import CloudSpec
from pushjuju.plugins.api.providers import ModelInfo, Services, StartRequest, no_progress
from pushjuju.plugins.providers.local.bases import cache_dir, ensure_base
from pushjuju.plugins.providers.local.provider import LocalProvider
from pushjuju.plugins.providers.local.sources import BasesConfig
from pushjuju.plugins.providers.local.sweep import leftovers, sweep
from pushjuju.plugins.providers.local.system import which
from pushjuju.plugins.providers.nspawn.layout import Layout
from pushjuju.testing.ssh import TestTransport, new_key

RUNS = Path("/var/tmp/pushjuju-tests")  # noqa: S108 (one folder per run, 0700, made by root)
BASE_VARIABLE = "PUSHJUJU_TEST_BASE"
_CONTROLLER = "11111111-2222-4333-8444-555555555555"
_MODEL = "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee"


def skip_reason() -> str:
    """Return why local machines cannot be made here, or an empty text."""
    if os.geteuid() != 0:
        return "local machines in tests need root"
    missing = [command for command in ("systemd-nspawn", "ip", "nft", "mmdebstrap") if not which(command)]
    return f"not installed: {', '.join(missing)}" if missing else ""


class LocalCloud:
    """What a test needs to start machines of its own.

    Attributes:
        root: Folder of this run, with the data directories.
        key: Private key that logs in to every machine.
        public_key: The public line of this key.
        ssh: Runs scripts on machines.
    """

    def __init__(self, root: Path, environ: Mapping[str, str]) -> None:
        self.root = root
        self.key = root / "id_ed25519"
        self.public_key = new_key(self.key)
        self.ssh = TestTransport(self.key)
        self.base = Base.parse(environ.get(BASE_VARIABLE, "ubuntu@24.04"))
        self._environ = dict(environ)
        self._numbers = itertools.count()

    def prepare(self) -> None:
        """Build the base image now, so that no test waits for the build."""
        found = ensure_base(BasesConfig(), self.base, cache_dir(self._environ), no_progress)
        self.base = Base.parse(found.base)

    def data_dir(self) -> Path:
        """Return a new data directory for a controller."""
        folder = self.root / f"data{next(self._numbers)}"
        folder.mkdir(mode=0o700)
        return folder

    def provider(
        self, data_dir: Path, *, model: str = _MODEL, config: Mapping[str, Any] | None = None
    ) -> LocalProvider:
        """Return the local provider for a model of a controller."""
        return LocalProvider(
            cloud=CloudSpec(name="local", type="local", config=config or {}),
            model=ModelInfo(uuid=model, name="test", controller_uuid=_CONTROLLER),
            services=Services(data_dir=data_dir, environ=self._environ),
        )

    def request(self, machine_id: str, **changes: Any) -> StartRequest:
        """Return a request for a plain machine."""
        wanted = {"machine_id": machine_id, "base": self.base, "authorized_keys": (self.public_key,)}
        return StartRequest(**{**wanted, **changes})

    def leftovers(self, data_dir: Path) -> list[str]:
        """Return what is left of a controller's machines on this host."""
        return leftovers(Layout.of(data_dir))

    def sweep_data_dir(self, data_dir: Path) -> None:
        """Remove all machines of a controller, in whatever state they are."""
        sweep(Layout.of(data_dir))


@pytest.fixture(scope="session")
def local_cloud() -> Iterator[LocalCloud]:
    """Yield a LocalCloud; skip the test when local machines cannot be made here."""
    reason = skip_reason()
    if reason:
        pytest.skip(reason)
    RUNS.mkdir(parents=True, exist_ok=True)
    _sweep_dead_runs()
    root = Path(
        tempfile.mkdtemp(prefix=f"run-{os.getpid()}-", dir=RUNS)
    )  # other fixtures in this process may use it
    cloud = LocalCloud(root, os.environ)
    try:
        cloud.prepare()
        yield cloud
    finally:
        _sweep_run(root)


def _sweep_dead_runs() -> None:
    """Remove what is left of runs whose process has ended."""
    for folder in RUNS.glob("run-*"):
        if not Path("/proc", folder.name.split("-")[1]).exists():
            with contextlib.suppress(FileNotFoundError):  # another run is removing them
                _sweep_run(folder)


def _sweep_run(root: Path) -> None:
    for folder, names, _ in os.walk(root):
        if "local" in names and (
            Path(folder, "local", "machines").exists() or any(Path(folder).glob("local/*.json"))
        ):
            sweep(Layout.of(Path(folder)))
            names.remove("local")
    shutil.rmtree(root)
