"""Processes with a model each on one store: `python -m tests.bench.shared_store --machines 100`.

With `--one-model` all processes work one model. Prints JSON: hooks a second until the last hook of the
deployment, each process on its played machines, and the processor time of a hook. PostgreSQL waits for its
disk as a server in use does, SQLite too. Processes that share processors need more processor time for the
same work; `apart` shows how much: processes at the same time, each with a file or database of its own.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from pushjuju.cli import entry
from pushjuju.services.requests.controller.new_controllers import Database
from pushjuju.services.requests.model.add_model import AddModelOptions, add_model
from tests.bench.figures import ROOT
from tests.bench.simulated import Simulation
from tests.postgres import databases, server
from tests.world.charms import Charms
from tests.world.controller import TestController

FAR = 1_000_000  # between the numbers of the machines that two processes start
POSTGRES = "PostgreSQL"
APART = ", apart"
_SHARED = (("file", 1), ("file", 2), (POSTGRES, 1), (POSTGRES, 2), (POSTGRES, 4))
CASES = (*_SHARED, (f"file{APART}", 4), (f"{POSTGRES}{APART}", 4))


@contextmanager
def controller(kind: str, models: int, host: str) -> Iterator[Path]:
    """Yield the folder of a new controller with models: `shop0`, `shop1`, ..."""
    root = Path(tempfile.mkdtemp(prefix="pushjuju-shared-"))
    try:
        with databases.database(host) as url:
            database = Database(url=url, insecure=True) if kind.startswith(POSTGRES) else None
            with closing(TestController.build(root, Charms(root / "charms"), database).ctx) as ctx:
                for number in range(models):
                    add_model(ctx, AddModelOptions(name=f"shop{number}"))
            yield root
    finally:
        shutil.rmtree(root)


def deploying(places: list[tuple[Path, str]], machines: int) -> dict[str, float]:
    """Let processes deploy at the same time; return what they did together.

    Args:
        places: The controller and the model of each process; processes of one model share its machines.
    """
    argv = [sys.executable, "-m", "tests.bench.shared_store", "--machines", str(machines)]
    words = [[*argv, "--root", str(root), "--model", model] for root, model in places]
    if len(places) > len(set(places)):
        asked(*places[0], machines)
        words = [[*each, "--first", str(number * FAR)] for number, each in enumerate(words)]
    pipes: dict[str, Any] = {"cwd": ROOT, "stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    running = [subprocess.Popen(each, **pipes) for each in words]
    for process in running:
        assert said(process.stdout) == "ready\n"
    for process in running:
        print("begin", file=process.stdin, flush=True)
    phases = [json.loads(said(process.stdout)) for process in running]
    assert not any(process.wait(timeout=60) for process in running)
    hooks = sum(phase["hooks"] for phase in phases)
    cpu = sum(phase["cpu"] for phase in phases)
    wall = max(phase["wall"] for phase in phases if phase["hooks"])  # the others notice the end later
    return {"hooks": hooks, "wall": wall, "hooks/s": hooks / wall, "cpu ms/hook": cpu / hooks * 1000}


def said(stream: IO[str] | None) -> str:
    """Return the next line of a process."""
    assert stream is not None
    return stream.readline()


def asked(root: Path, model: str, machines: int) -> None:
    """Ask for everything in a model; nothing runs."""
    made = Simulation(root, machines, TestController.at(root, Charms(root / "charms-asked"), model))
    with closing(made.world.ctx):
        made.deploy()


def deploy(root: Path, model: str, machines: int, first: int | None) -> None:
    """Ask for the model of a process, wait for the others, deploy, and tell the figures.

    Args:
        first: The number of the first machine of this process, when the model has been asked for already.
    """
    world = TestController.at(root, Charms(root / f"charms-{model}"), model)
    made = Simulation(root, machines, world, first)
    with closing(made.world.ctx):
        if first is None:
            made.deploy()
        print("ready", flush=True)
        assert sys.stdin.readline() == "begin\n"
        print(json.dumps(asdict(made.measure("deploy to idle"))), flush=True)


def measured(machines: int, rounds: int, *, one_model: bool) -> dict[str, list[dict[str, float]]]:
    """Return the figures of each case, the cases by turns."""
    found: dict[str, list[dict[str, float]]] = {}
    run = Path(tempfile.mkdtemp(prefix="pushjuju-shared-"))
    try:
        with server.running(run, durable=True) as host:
            for kind, processes in CASES * rounds:
                apart = kind.endswith(APART)
                if one_model and apart:
                    continue
                with ExitStack() as stack:
                    many, models = (processes, 1) if apart else (1, 1 if one_model else processes)
                    roots = [stack.enter_context(controller(kind, models, host)) for _ in range(many)]
                    each = [(roots[n % many], f"shop{n % models}") for n in range(processes)]
                    figures = deploying(each, machines)
                found.setdefault(f"{kind}, processes: {processes}", []).append(figures)
    finally:
        shutil.rmtree(run)
    return found


def main() -> None:
    """Run it from the command line."""
    entry.collect_seldom()  # as in every process of the program
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--machines", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--one-model", action="store_true", help="all processes work one model")
    parser.add_argument("--first", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--root", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--model", default="", help=argparse.SUPPRESS)
    wanted = parser.parse_args()
    if wanted.root:
        deploy(wanted.root, wanted.model, wanted.machines, wanted.first)
    else:
        found = measured(wanted.machines, wanted.rounds, one_model=wanted.one_model)
        print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
