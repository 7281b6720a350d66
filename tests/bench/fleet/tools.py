"""The tools that do the workloads: how each is installed, and its command for a workload."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from tests.bench.fleet.bed import Bed
from tests.bench.fleet.workload import HERE

ROOT = Path(__file__).parents[3]
PACKAGES = {
    "asyncssh": ("asyncssh",),
    "pyinfra": ("pyinfra",),
    "ansible": ("ansible-core<2.20", "mitogen"),
}
FORKS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A whole process that does a workload.

    Attributes:
        environ: On top of a minimal environment.
        before: Done before, unmeasured.
        after: Done after, unmeasured.
        pause_s: How long nothing may have happened before, so that nothing of the last run is still warm.
    """

    argv: tuple[str, ...]
    environ: Mapping[str, str] = field(default_factory=dict)
    before: tuple[tuple[str, ...], ...] = ()
    after: tuple[tuple[str, ...], ...] = ()
    pause_s: float = 0.0


def install(folder: Path, names: set[str]) -> None:
    """Make an environment for each peer, once."""
    for name in sorted(names & PACKAGES.keys()):
        venv = folder / "peers" / name
        if (venv / "done").exists():
            continue
        print(f"installing {name}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", venv], check=True)
        pip = [str(venv / "bin" / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        subprocess.run([*pip, *PACKAGES[name]], check=True)
        (venv / "done").touch()


def python(folder: Path, name: str) -> str:
    """Return a peer's interpreter."""
    return str(folder / "peers" / name / "bin" / "python")


# --- peers ------------------------------------------------------------------------------------------------


def over_asyncssh(way: str, made: Bed, setting: Path, workload: str) -> Command:
    """Plain asyncssh: a channel for each command, or the barest runner."""
    script = str(HERE / "peers" / "over_asyncssh.py")
    return Command(argv=(python(made.folder, "asyncssh"), script, str(setting), way, workload))


def pyinfra(made: Bed, setting: Path, workload: str) -> Command:
    """pyinfra, all hosts at once."""
    data = {"ssh_user": "root", "ssh_key": str(made.key), "ssh_known_hosts_file": str(made.known_hosts)}
    inventory = made.folder / "inventory.py"
    inventory.write_text(f"hosts = {[(host, data) for host in made.hosts]!r}\n")
    deploy = made.folder / "deploy.py"
    deploy.write_text((HERE / "peers" / "pyinfra_deploy.py").read_text())
    program = str(made.folder / "peers" / "pyinfra" / "bin" / "pyinfra")
    return Command(
        argv=(program, "-y", "--parallel", "100", str(inventory), str(deploy)),
        environ={"BENCH_SETTING": str(setting), "BENCH_WORKLOAD": workload},
    )


def ansible(strategy: str, made: Bed, setting: Path, workload: str) -> Command:
    """ansible-core as its users tune it: pipelining, kept connections, no facts."""
    folder = made.folder
    inventory = folder / "inventory.ini"
    inventory.write_text("[all]\n" + "\n".join(made.hosts) + "\n")
    play = folder / f"play-{workload}.yml"
    play.write_text(
        yaml.safe_dump([{"hosts": "all", "gather_facts": False, "tasks": _tasks(made, workload)}])
    )
    ssh = f"-o ControlMaster=auto -o ControlPersist=60s -o UserKnownHostsFile={made.known_hosts}"
    environ = {
        "ANSIBLE_HOME": str(folder / "ansible"), "ANSIBLE_FORKS": str(FORKS), "ANSIBLE_PIPELINING": "True",
        "ANSIBLE_REMOTE_USER": "root", "ANSIBLE_PRIVATE_KEY_FILE": str(made.key), "ANSIBLE_SSH_ARGS": ssh,
        "ANSIBLE_PYTHON_INTERPRETER": "/usr/bin/python3", "ANSIBLE_SSH_CONTROL_PATH_DIR": "/tmp/pjbed-cp",
        "ANSIBLE_NOCOLOR": "1",
    }  # fmt: skip
    if strategy == "mitogen":
        found = next((folder / "peers" / "ansible" / "lib").glob("python*/site-packages/ansible_mitogen"))
        environ |= {
            "ANSIBLE_STRATEGY": "mitogen_linear",
            "ANSIBLE_STRATEGY_PLUGINS": f"{found}/plugins/strategy",
        }
    program = str(folder / "peers" / "ansible" / "bin" / "ansible-playbook")
    end = 'for path in /tmp/pjbed-cp/*; do ssh -S "$path" -O exit host; done; rm -rf /tmp/pjbed-cp'
    clear = ("sh", "-c", end)  # its kept connections
    return Command(argv=(program, "-i", str(inventory), str(play)), environ=environ, after=(clear,))


def _tasks(made: Bed, workload: str) -> list[dict[str, object]]:
    if workload == "conn":
        return [{"ansible.builtin.command": "echo ok"}]
    hook = {"ansible.builtin.command": f"sh {made.share}/hook"}
    if workload == "cold":
        archive = str(made.folder / "charm.tar.gz")
        return [{"ansible.builtin.unarchive": {"src": archive, "dest": "/tmp"}}, hook]
    return [hook] * (10 if workload == "hooks10" else 1)


# --- pushjuju ---------------------------------------------------------------------------------------------

LINGER_S = 11.0  # after it the runner on every host has ended


def pushjuju(made: Bed, setting: Path, workload: str) -> Command:
    """The product: whole commands, from a cold process to all at rest, everything committed."""
    program = str(Path(sys.executable).with_name("pushjuju"))
    environ = {"PUSHJUJU_DATA": str(made.folder / "data")}
    ours = (sys.executable, str(HERE / "ours.py"), str(setting))
    places = ",".join(str(number) for number in range(len(made.hosts)))
    if workload == "conn":
        return Command(argv=(program, "exec", "--all", "true"), environ=environ, pause_s=LINGER_S)
    if workload == "cold":
        deploy = (
            program,
            "deploy",
            str(made.folder / "bench"),
            "cold",
            "-n",
            str(len(made.hosts)),
            "--to",
            places,
        )
        gone = (program, "remove-application", "cold", "--no-prompt")
        return Command(argv=deploy, environ=environ, after=(gone,), pause_s=LINGER_S)
    if workload == "warm":
        return Command(argv=(program, "update-status"), environ=environ, pause_s=LINGER_S)
    return Command(argv=(*ours, "hooks10"), environ=environ, after=((*ours, "undo10"),), pause_s=LINGER_S)


def set_up(made: Bed, setting: Path) -> None:
    """Bootstrap a controller, take the hosts in, deploy the charm."""
    environ = {**os.environ, "PUSHJUJU_DATA": str(made.folder / "data"), "PYTHONPATH": str(ROOT)}
    program = str(Path(sys.executable).with_name("pushjuju"))
    for words in (["bootstrap", "local", "bench"], ["add-model", "bench"]):
        subprocess.run([program, *words], env=environ, check=True, capture_output=True)
    subprocess.run([sys.executable, HERE / "ours.py", setting, "setup"], env=environ, check=True)


TOOLS = {
    "pushjuju": pushjuju,
    "floor": lambda *words: over_asyncssh("floor", *words),
    "asyncssh": lambda *words: over_asyncssh("exec", *words),
    "pyinfra": pyinfra,
    "ansible-mitogen": lambda *words: ansible("mitogen", *words),
    "ansible": lambda *words: ansible("", *words),
}
NEEDS = {"floor": "asyncssh", "ansible-mitogen": "ansible"}
