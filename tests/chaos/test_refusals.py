"""Every refused command leaves the store and its files as they were, and says what is wrong with what."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pushjuju.core.base import Base
from pushjuju.workers import background
from tests.chaos.controller import CHARMS, REPOSITORY, RealController

TALLY = CHARMS / "tally"


@pytest.fixture
def idle(tmp_path: Path) -> Iterator[RealController]:
    """A model with one application whose machine nobody makes: its background process seems to run."""
    (tmp_path / "work").mkdir()
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    world = RealController(data, Base.parse("ubuntu@24.04"), tmp_path / "work")
    world.deploy()
    world.ctx.datadir.set_current_controller("local")
    with background.only_one(world.ctx.controller) as held:
        assert held
        yield world
    world.ctx.close()


def everything(world: RealController) -> dict[str, object]:
    """Return all rows, and every file of the data directory that is not the store's own."""
    kept = {}
    for path in sorted(world.data.rglob("*")):
        if path.is_file() and not path.name.startswith("state.db") and not path.name.endswith(".lock"):
            kept[str(path.relative_to(world.data))] = hashlib.sha256(path.read_bytes()).hexdigest()
    return {**world.dump(), "files": sorted(kept.items())}


def scratch(world: RealController) -> Path:
    """Return where the commands keep temporary files."""
    return world.work / "tmp"


def pushjuju(world: RealController, *args: str) -> subprocess.CompletedProcess[str]:
    """Run the command as a person would, without waiting."""
    scratch(world).mkdir(exist_ok=True)
    env = {
        "PATH": "/nonexistent",
        "TMPDIR": str(scratch(world)),
        "HOME": str(world.work),
        "PYTHONPATH": str(REPOSITORY),
        "PUSHJUJU_DATA": str(world.data),
        "PUSHJUJU_WAIT": "0",
        "LC_ALL": "C.UTF-8",
    }
    command = [sys.executable, "-m", "pushjuju.cli", *args]
    return subprocess.run(
        command, cwd=world.work, env=env, capture_output=True, text=True, timeout=60, check=False
    )


def refused(world: RealController, *args: str) -> str:
    """Run a command that must be refused and change nothing; return what it said."""
    before = everything(world)
    done = pushjuju(world, *args)
    assert done.returncode in (1, 2), done
    assert "Traceback" not in done.stderr
    assert everything(world) == before
    return done.stderr


COMMANDS = [
    ("deploy ./nowhere", "nowhere"),
    ("deploy {tally}", 'cannot add application "tally": application already exists'),
    ("deploy {tally} Bad_Name", 'invalid application name "Bad_Name"'),
    ("deploy {tally} web-1", 'invalid application name "web-1"'),
    ("deploy {tally} two --config nope=1", 'unknown option "nope"'),
    ("deploy {tally} two --config number=many", "number"),
    ("deploy {tally} two --config missing.yaml", "missing.yaml"),
    ("deploy {tally} two --config broken.yaml", "cannot parse settings data: yaml: line 2: "),
    ("deploy {tally} two --config bomb.yaml", "cannot parse settings data: yaml: line 6: "),
    ("deploy {tally} two --constraints mem=lots", "mem"),
    ("deploy {tally} two --constraints speed=1", "speed"),
    ("deploy {tally} two --to 99", "machine 99 not found"),
    ("deploy {tally} two --to a:b:c", "unknown placement directive: a:b:c"),
    ("deploy {tally} two --to 0,zone=a -n 2", "unknown placement directive: zone=a"),
    ("deploy {tally} two --constraints arch=riscv64", "invalid constraint value: arch=riscv64"),
    ("add-unit tally --to zone=a", "unknown placement directive: zone=a"),
    ("add-machine zone=a", "unknown placement directive: zone=a"),
    ("add-machine --constraints virt-type=virtual-machine", "virt-type"),
    ("deploy {tally} two -n 0", "--num-units must be a positive integer"),
    ("deploy {tally} two -n many", "many"),
    ("deploy {tally} two --base ubuntu@16.04", "16.04"),
    ("deploy {tally} two --base nonsense", "nonsense"),
    ("deploy {tally} two --unknown-flag", "--unknown-flag"),
    ("deploy {tally} two three four", "four"),
    ("deploy {tally} two --to 0,99 -n 2", "machine 99 not found"),
    ("refresh nobody --path {tally}", "nobody"),
    ("refresh tally --path {other}", "other"),
    ("refresh tally --path {broken}", "metadata.yaml"),
    ("refresh tally --path {tally} --config bomb.yaml", "cannot parse settings data: yaml: line 6: "),
    ("refresh tally --path ./nowhere", "nowhere"),
    ("config nobody", "nobody"),
    ("config nobody number=1", "nobody"),
    ("config tally nope=1", "nope"),
    ("config tally number=2 nope=1", "nope"),
    ("config tally number=many", "number"),
    ("config tally --reset nope", "nope"),
    ("config tally --reset nope number=3", "nope"),
    ("config tally --file missing.yaml", "missing.yaml"),
    ("config tally --file broken.yaml", "cannot parse settings data: yaml: line 2: "),
    ("config tally --file bomb.yaml", "cannot parse settings data: yaml: line 6: "),
    ("config tally number=@missing", "missing"),
    ("add-unit nobody", "nobody"),
    ("add-unit tally -n 0", "--num-units must be a positive integer"),
    ("add-unit tally --to 99", "machine 99 not found"),
    ("add-unit tally -n 2 --to 0,99", "machine 99 not found"),
    ("remove-unit --no-prompt tally/9", "tally/9"),
    ("remove-unit --no-prompt tally/0 tally/9", "tally/9"),
    ("remove-unit --no-prompt tally", "tally"),
    ("remove-application --no-prompt nobody", "nobody"),
    ("remove-application --no-prompt tally nobody", "nobody"),
    ("remove-machine --no-prompt 0", 'machine 0 has unit "tally/0" assigned'),
    ("remove-machine --no-prompt 9", "9"),
    ("remove-machine --no-prompt nonsense", 'invalid machine id "nonsense"'),
    ("resolved tally/0", 'unit "tally/0" is not in an error state'),
    ("resolved --no-retry tally/9", "tally/9"),
    ("trust nobody", "nobody"),
    (
        "model-config update-status-hook-interval=soon",
        "invalid update status hook interval in model configuration",
    ),
    ("model-config uuid=1", "uuid"),
    ("model-config automatically-retry-hooks=perhaps default-base=ubuntu@24.04", "automatically-retry-hooks"),
    ("add-machine --constraints mem=lots", "mem"),
    ("add-machine 0", "machine-id cannot be specified when adding machines"),
    ("add-machine ssh:nobody@127.0.0.1:1", "127.0.0.1"),
    ("show-unit tally/9", "tally/9"),
    ("ssh tally/9", "tally/9"),
]


@pytest.mark.parametrize(("line", "said"), COMMANDS, ids=[line for line, _ in COMMANDS])
def test_refused_command(idle: RealController, line: str, said: str) -> None:
    (idle.work / "broken.yaml").write_text("tally: [\n")
    (idle.work / "bomb.yaml").write_text(BOMB)
    other = charm(idle, **{"metadata.yaml": "name: other\nsummary: s\ndescription: d\n"})
    broken = charm(idle, **{"metadata.yaml": "name: tally\n"})
    words = line.format(tally=charm(idle), other=other, broken=broken).split()
    assert said in refused(idle, words[0], "-m", "chaos", *words[1:])


MODELS = [
    ("add-model chaos", "already exists"),
    ("add-model Bad_Name", "Bad_Name"),
    ("add-model fine nocloud", "nocloud"),
    ("destroy-model --no-prompt nobody", "nobody"),
    ("switch nobody", "nobody"),
    ("bootstrap local local", "already exists"),
    ("bootstrap nocloud", "nocloud"),
]


@pytest.mark.parametrize(("line", "said"), MODELS, ids=[line for line, _ in MODELS])
def test_refused_command_about_models(idle: RealController, line: str, said: str) -> None:
    assert said in refused(idle, *line.split())


# --- charms that nobody should take -----------------------------------------------------------------------

BOMB = (
    "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
    + "".join(
        f"{new}: &{new} [{','.join([f'*{old}'] * 10)}]\n"
        for old, new in zip("abcdefgh", "bcdefghi", strict=True)
    )
    + "tally: {do: *i}\n"
)
DEEP = "name: tally\nsummary: s\ndescription: " + "[" * 50_000 + "]" * 50_000 + "\n"


def charm(world: RealController, **files: str | bytes) -> Path:
    """Return a copy of the charm with some files replaced; `None` is not written."""
    folder = Path(shutil.copytree(TALLY, world.work / f"bad{time.monotonic_ns()}", symlinks=True))
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def archive(world: RealController, *members: tuple[str, str, int]) -> Path:
    """Return a charm archive with more members: name, content, mode."""
    path = world.work / f"bad{time.monotonic_ns()}.charm"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as writer:
        for file in TALLY.iterdir():
            writer.write(file, file.name)
        for name, content, mode in members:
            info = zipfile.ZipInfo(name)
            info.create_system, info.external_attr = 3, mode << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            writer.writestr(info, content)
    return path


def link(world: RealController, target: str) -> Path:
    """Return a charm directory with a symbolic link."""
    folder = charm(world)
    (folder / "hooks").mkdir()
    (folder / "hooks/install").symlink_to(target)
    return folder


def pipe(world: RealController) -> Path:
    """Return a charm directory with a named pipe."""
    folder = charm(world)
    os.mkfifo(folder / "pipe")
    return folder


FILE, LINK = stat.S_IFREG | 0o644, stat.S_IFLNK | 0o777
BAD: dict[str, tuple[Callable[[RealController], Path], str]] = {
    "dots": (lambda world: archive(world, ("../evil", "x", FILE)), "../evil"),
    "dots-inside": (lambda world: archive(world, ("hooks/../../evil", "x", FILE)), "evil"),
    "absolute": (lambda world: archive(world, ("/etc/evil", "x", FILE)), "/etc/evil"),
    "backslash": (lambda world: archive(world, ("..\\evil", "x", FILE)), "evil"),
    "link-out": (
        lambda world: archive(world, ("hooks/install", "../../../etc/passwd", LINK)),
        "hooks/install",
    ),
    "link-absolute": (lambda world: archive(world, ("hooks/install", "/bin/true", LINK)), "hooks/install"),
    "link-then-below": (
        lambda world: archive(world, ("a", "..", LINK), ("a/evil", "x", FILE)),
        "a",
    ),
    "device": (lambda world: archive(world, ("dev", "", stat.S_IFCHR | 0o600)), "dev"),
    "zip-bomb": (lambda world: archive(world, ("zeros", "\0" * 300_000_000, FILE)), "100 times its size"),
    "no-zip": (lambda world: charm(world).rename(world.work / "x") and _text(world), ".charm"),
    "directory-link-out": (lambda world: link(world, "../../../../etc/passwd"), "hooks/install"),
    "directory-link-absolute": (lambda world: link(world, "/bin/true"), "hooks/install"),
    "directory-pipe": (pipe, "pipe"),
    "bomb-metadata": (lambda world: charm(world, **{"metadata.yaml": BOMB}), "metadata.yaml"),
    "bomb-config": (lambda world: charm(world, **{"config.yaml": BOMB}), "config.yaml"),
    "bomb-actions": (lambda world: charm(world, **{"actions.yaml": BOMB}), "actions.yaml"),
    "bomb-manifest": (lambda world: charm(world, **{"manifest.yaml": BOMB}), "manifest.yaml"),
    "bomb-charmcraft": (lambda world: charm(world, **{"charmcraft.yaml": BOMB}), "charmcraft.yaml"),
    "deep": (lambda world: charm(world, **{"metadata.yaml": DEEP}), "metadata.yaml"),
    "binary": (lambda world: charm(world, **{"metadata.yaml": os.urandom(64)}), "metadata.yaml"),
    "object": (
        lambda world: charm(world, **{"metadata.yaml": "name: !!python/object/apply:os.system [id]\n"}),
        "metadata.yaml",
    ),
    "type": (lambda world: charm(world, **{"config.yaml": "options: {do: {type: list}}\n"}), "config.yaml"),
    "default": (
        lambda world: charm(world, **{"config.yaml": "options: {do: {type: int, default: x}}\n"}),
        "config.yaml",
    ),
}


def _text(world: RealController) -> Path:
    path = world.work / "text.charm"
    path.write_text("no archive")
    return path


@pytest.mark.parametrize("name", BAD)
def test_bad_charm(idle: RealController, name: str) -> None:
    make, said = BAD[name]
    path = make(idle)
    began = time.monotonic()
    for command in (
        ("deploy", "-m", "chaos", str(path), "two"),
        ("refresh", "-m", "chaos", "tally", "--path", str(path)),
    ):
        assert said in refused(idle, *command)
    assert time.monotonic() - began < 20
    assert not (idle.work.parent / "evil").exists()
    assert not Path("/etc/evil").exists()
    assert list(scratch(idle).iterdir()) == []
