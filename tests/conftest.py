"""Settings and fixtures for all tests."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from pushjuju.store.sqlite import SqliteEngine
from tests.world.bases import build_bases
from tests.world.printed import in_utc

if TYPE_CHECKING:
    from tests.charms_tools.hubstore import HubStore
    from tests.world.charms import Charms
    from tests.world.controller import TestController

# no deadline: a loaded machine may be slow. CI runs the same examples each time, so that only the change
# decides; on developers' machines the examples differ. A failure prints how to repeat its example.
settings.register_profile("pushjuju", deadline=None, print_blob=True, derandomize="CI" in os.environ)
settings.load_profile("pushjuju")


pytest_plugins = ["tests.postgres.fixtures"]

# Transactions are checked as on an engine that locks models (`store.scope`). SQLite locks the whole file, so
# a transaction that reads or writes too much would not be noticed otherwise.
SqliteEngine.locks_models = True


# Background jobs of a shell ignore Ctrl-C, and children inherit that: tests that interrupt a command would
# wait without end. With a handler of our own, children start with the default.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# files with few tests that take minutes each; otherwise files with more tests take longer
_LONGEST = (
    "test_bare_host",
    "test_suites",
    "test_clouds_deploy",
    "test_storage",
    "test_exec",
    "test_manual",
    "test_refresh_states",
    "test_maas_deploy",
    "test_relations",
    "test_firewall",
    "test_from_sources",
    "test_clocks",
    "test_contrib",
    "test_charmhub",
    "test_resources",
)


@cache
def _starts_machines(file: Path) -> bool:
    return "mark.machine" in file.read_text()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files without tests on machines when only such tests run: each worker would read them all."""
    wanted = config.option.markexpr.split()
    only_machines = wanted[:1] == ["machine"] and "or" not in wanted
    left_out = only_machines and collection_path.suffix == ".py" and not _starts_machines(collection_path)
    return True if left_out else None


def pytest_itemcollected(item: pytest.Item) -> None:
    """Refuse a test on machines that `pytest_ignore_collect` would leave out."""
    if item.get_closest_marker("machine") and not _starts_machines(item.path):
        raise pytest.UsageError(f"{item.path}: write `pytest.mark.machine` in the file itself")


@pytest.hookimpl(trylast=True)  # after the deselection by marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run the slowest files with machines first, so that no processor is idle at the end."""
    if config.option.markexpr.startswith("machine"):
        tests = Counter(item.path for item in items)
        place = {name: number for number, name in enumerate(_LONGEST)}
        items.sort(key=lambda item: (place.get(item.path.stem, len(place)), -tests[item.path]))


def pytest_sessionstart(session: pytest.Session) -> None:
    """Build base images before the first test on machines: a build takes minutes, and all would wait."""
    config = session.config
    wanted = config.option.markexpr.startswith("machine") and not hasattr(config, "workerinput")
    named = (config.invocation_params.dir / name.partition("::")[0] for name in config.args)
    if wanted and any(path.is_dir() or _starts_machines(path) for path in named):
        build_bases()


class _Failures:
    """Names a test when it fails: the report at the end is lost when a run is ended before."""

    def __init__(self, reporter: pytest.TerminalReporter) -> None:
        self._reporter = reporter

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._reporter.write_line(f"\n{report.when} of {report.nodeid} failed")


@pytest.hookimpl(trylast=True)  # the reporter is made by the same hook
def pytest_configure(config: pytest.Config) -> None:
    """Name failures at once, in the process that prints."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if isinstance(reporter, pytest.TerminalReporter) and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Failures(reporter))


@pytest.fixture(autouse=True)
def no_copy_of_a_controller_stays_in_the_checkout() -> Iterator[None]:
    """Fail when a test leaves a backup in the checkout: it holds private keys, and could be committed."""
    checkout = Path(__file__).parents[1]
    before = set(checkout.glob("juju-backup-*"))
    yield
    left = set(checkout.glob("juju-backup-*")) - before
    for path in left:
        path.unlink(missing_ok=True)
    assert not left


@pytest.fixture(scope="session")
def packs(tmp_path_factory: pytest.TempPathFactory) -> Charms:
    """Return a packer of small charms, which packs equal charms once."""
    from tests.world.charms import Charms

    return Charms(tmp_path_factory.mktemp("charms"))


@pytest.fixture(scope="session")
def empty_controller(tmp_path_factory: pytest.TempPathFactory, packs: Charms) -> Path:
    """Return a controller's data directory with one model, as a template to copy."""
    from tests.world.controller import TestController

    root = tmp_path_factory.mktemp("shop")
    TestController.build(root, packs).ctx.close()
    return root


@pytest.fixture
def runtime(tmp_path: Path, empty_controller: Path, packs: Charms) -> Iterator[TestController]:
    """Yield a controller with the model `shop`, a fake clock, and machines simulated in this process."""
    from tests.world.controller import TestController

    made = TestController.copy(empty_controller, tmp_path, packs)
    yield made
    made.ctx.close()


@pytest.fixture
def hub() -> Iterator[HubStore]:
    """Yield a stand-in for Charmhub, which tests cannot reach."""
    from tests.charms_tools.hubstore import running

    with running() as store:
        yield store


@pytest.fixture
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Make commands print times in UTC."""
    with in_utc(monkeypatch):
        yield
