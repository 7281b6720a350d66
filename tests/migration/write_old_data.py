"""Write the files of `old/`: what the commit before the work keeps, and what its commands say about that.

    sudo unshare --uts sh -c "hostname old-controller && python -m tests.migration.write_old_data"

The commands of that commit work on machines of the local cloud. `data.tar.xz` is the data directory in the
moment in which the controller died, in the middle of a hook on each machine of `web`; `journal.json` has the
journals of these machines at the end of the hooks, `shown.json` what commands print about the data directory.
The keys in these files open nothing: the machines are removed.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from tests import tars
from tests.migration.old_commit import CHARMS, Commands, Host, fetch, wait

OLD = Path(__file__).parent / "old"
LATER = ("lock", "processes", "machines", "log")  # files of processes and of machines that are no more

SETUP = (
    "bootstrap local home",
    "add-cloud --client rack rack.yaml",
    "add-user kim",
    "disable-user kim",
    "enable-user kim",
    "model-defaults automatically-retry-hooks=false",
    "add-model prod",
    "deploy ./charms/db",
    "offer db:server",
    "grant kim consume prod.db",
    "add-model shop",
    "model-config logging-config=<root>=INFO;unit=DEBUG",
    "set-model-constraints mem=100M",
    "create-storage-pool here rootfs",
    "add-secret token first=one second=two",
    "grant kim read shop",
    "set-firewall-rule juju-application-offer --allowlist 10.0.0.0/8",
    "deploy ./charms/web -n 2 --resource page=page.txt --storage data=here,10M --config title=hi",
    "deploy ./charms/log",
    "grant-secret token web",
    "integrate web:juju-info log",
    "consume prod.db",
    "integrate web:db db",
    "expose web --to-cidrs 10.0.0.0/8",
    "run web/0 dump name=monday",
    "exec --unit web/1 echo done",
    "config web port=8080",
    "disable-command destroy-model stays",
)
SHOWN = (
    "application-storage web",
    "config web",
    "constraints web",
    "controllers",
    "debug-log --replay --no-tail --level INFO",
    "disabled-commands",
    "export-bundle",
    "find-offers",
    "firewall-rules",
    "hooks",
    "list-machines",
    "model-config",
    "model-constraints",
    "model-defaults",
    "models --format yaml",
    "offers -m prod",
    "operations",
    "regions local",
    "resources web",
    "resources web --details",
    "secrets --format yaml",
    "show-application web log",
    "show-cloud rack --client",
    "show-machine 0",
    "show-model",
    "show-offer prod.db",
    "show-operation 1",
    "show-relation 1",
    "show-secret token --reveal",
    "show-status-log web/0",
    "show-storage data/0",
    "show-task 2",
    "show-unit web/0",
    "show-user kim",
    "ssh-keys",
    "status --format yaml",
    "status --relations --storage",
    "status --format yaml -m prod",
    "storage --format yaml",
    "storage-pools",
    "subnets",
    "switch",
)


def main() -> int:
    """Write the files."""
    with tempfile.TemporaryDirectory(prefix="pushjuju-old-") as folder:
        home = Path(folder)
        if reason := fetch(home / "tree"):
            print(reason, file=sys.stderr)
            return 1
        shutil.copytree(CHARMS, home / "charms")
        (home / "page.txt").write_text("a page\n")
        (home / "rack.yaml").write_text("clouds: {rack: {type: manual, endpoint: 10.0.0.1}}\n")
        work(home, Commands(home / "tree", home))
    return 0


def work(home: Path, old: Commands) -> None:
    """Make machines and units, keep all of it in the middle of a hook, and remove the machines."""
    OLD.mkdir(exist_ok=True)
    try:
        for line in SETUP:
            print(line)
            old(*line.split())
        old("create-backup", "--filename", "backup.tar.gz", "a note")
        shutil.copy(home / "backup.tar.gz", OLD)
        hold(home, old)
        pack(home / "data", OLD / "data.tar.xz")
        let_go(home)
    finally:
        old("kill-controller", "home", "--no-prompt", "--timeout", "0s")
    shutil.rmtree(home / "data")
    unpack(OLD / "data.tar.xz", home)
    (OLD / "shown.json").write_text(json.dumps({line: old(*line.split()) for line in SHOWN}, indent=1) + "\n")


def hold(home: Path, old: Commands) -> None:
    """Kill the controller in the middle of a hook of each unit of web."""
    with old.start("config", "web", "title=held") as process:
        wait(lambda: all(host.held(3) for host in Host.all(home)))
        process.kill()


def let_go(home: Path) -> None:
    """Let the hooks end; keep what the journals of the machines have then."""
    journal = {}
    for host in Host.all(home):
        host.let_go()
        wait(host.ended)
        journal |= host.journal()
    (OLD / "journal.json").write_text(json.dumps(journal, indent=1) + "\n")


def pack(data: Path, archive: Path) -> None:
    """Pack a data directory; the store as one file."""
    for path in data.rglob("state.db"):
        subprocess.run(
            ["sqlite3", path, "PRAGMA journal_mode = DELETE; VACUUM"], check=True, stdout=subprocess.DEVNULL
        )
    with tarfile.open(archive, "w:xz") as tar:
        tar.add(data, "data", filter=lambda item: None if item.name.rpartition("/")[2] in LATER else item)


def unpack(archive: Path, home: Path) -> None:
    """Write the data directory of an archive."""
    with tarfile.open(archive) as tar:
        tars.unpack(tar, home)


if __name__ == "__main__":
    sys.exit(main())
