"""doctor: shows what this computer lacks for a cloud, and how to fix it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.terminal.paint import GREEN, RED, YELLOW, paint
from pushjuju.cli.terminal.table import TabWriter
from pushjuju.cli.work import making, session
from pushjuju.core import children
from pushjuju.core.errors import Silent
from pushjuju.workers import schedule as regular
from pushjuju.workers.provision import checkup

_LEVELS = {"ok": GREEN, "warning": YELLOW, "error": RED}
_BASH_COMPLETION = Path("/usr/share/bash-completion/bash_completion")  # without it bash reads no files
_ZFUNC = "fpath+=~/.zfunc; autoload -Uz compinit; compinit"
# shell -> where its script may be, the place for the user's own first
_SCRIPTS = {
    "bash": (
        "{data}/bash-completion/completions/pushjuju",
        "/usr/local/share/bash-completion/completions/pushjuju",
        "/usr/share/bash-completion/completions/pushjuju",
        "/etc/bash_completion.d/pushjuju",
    ),
    "zsh": (
        "{home}/.zfunc/_pushjuju",
        "/usr/local/share/zsh/site-functions/_pushjuju",
        "/usr/share/zsh/site-functions/_pushjuju",
        "/usr/share/zsh/vendor-completions/_pushjuju",
    ),
    "fish": (
        "{config}/fish/completions/pushjuju.fish",
        "/etc/fish/completions/pushjuju.fish",
        "/usr/share/fish/vendor_completions.d/pushjuju.fish",
    ),
}
# shell -> the files that it reads at its start
_STARTS = {
    "bash": ("{home}/.bashrc", "{home}/.bash_profile", "{home}/.bash_completion"),
    "zsh": ("{home}/.zshrc",),
    "fish": ("{config}/fish/config.fish",),
}


@command(
    "doctor",
    usage="[<cloud> ...]",
    summary="Says what this computer has and lacks for a cloud, and how to mend it.",
    flags=(
        flags.switch("install", "Install the packages that are missing"),
        flags.switch("schedule", "Add a line to your crontab that runs update-status every five minutes"),
    ),
    formats=("tabular", "yaml", "json"),
    details="Shows also whether something runs `update-status` regularly, whether your shell completes\n"
    "commands of pushjuju, and whether `man pushjuju` finds the page. All of these are optional: each\n"
    "command works what is due.",
    examples="    pushjuju doctor local\n    pushjuju doctor --schedule\n",
    see_also=("plugins", "update-status"),
)
def doctor(cli: Cli, args: tuple[str, ...], *, install: bool, schedule: bool) -> None:
    folder = session.data_dir(cli)
    if schedule:
        regular.schedule(folder)
    found: list[dict[str, Any]] = []
    for cloud in args or (making.FIRST_CLOUD,):
        found += checkup.examine(folder, cloud, environ=cli.env, warn=cli.console.warn, install=install)
    found += regular.look(folder, cli.env) + installed(cli.env)
    cli.output.write(found, {"tabular": lambda entries: findings(entries, colour=cli.output.colour)})
    if any(entry["level"] == "error" for entry in found):
        raise Silent


def findings(entries: Sequence[Mapping[str, str]], *, colour: bool = False) -> str:
    """Return the table of the checks: `subject`, `level` (ok, warning, error), `message`, `fix`."""
    table = TabWriter("Subject", "Level", "Message", colour=colour)
    for entry in entries:
        level = entry["level"]
        table.row(entry["subject"], paint(level, _LEVELS.get(level, "")), entry["message"])
        if entry.get("fix"):
            table.row("", "", f"-> {entry['fix']}")
    return table.text()


def installed(environ: Mapping[str, str]) -> list[dict[str, str]]:
    """Return the entries of `doctor`: the completion of the user's shell, and the manual page.

    There is none for a shell that pushjuju does not complete in, and none where `man` is not installed.
    """
    return [*_completion(environ), *_manual(environ)]


def _completion(environ: Mapping[str, str]) -> list[dict[str, str]]:
    shell = environ.get("SHELL", "").rpartition("/")[2]
    if shell not in _SCRIPTS:
        return []
    folders = _folders(environ)
    own, *others = (Path(text.format(**folders)) for text in _SCRIPTS[shell])
    starts = [Path(text.format(**folders)) for text in _STARTS[shell]]
    reads = shell != "bash" or _BASH_COMPLETION.exists()
    reads_own = reads and (shell != "zsh" or _has(starts[0], ".zfunc"))
    found = (reads_own and own.exists()) or (reads and any(path.exists() for path in others))
    if found or any(_has(path, f"pushjuju completion {shell}") for path in starts):
        return [_entry("completion", f"{shell} completes commands, flags and names")]
    if reads:
        fix = f"mkdir -p {_quote(own.parent)} && pushjuju completion {shell} > {_quote(own)}"
        if not reads_own:
            fix += f" && echo {shlex.quote(_ZFUNC)} >> {_quote(starts[0])}"
    else:
        fix = f"echo 'source <(pushjuju completion bash)' >> {_quote(starts[0])}"
    return [_entry("completion", f"{shell} does not complete commands of pushjuju", fix)]


def _quote(path: Path) -> str:
    """Return a path as a word of a shell."""
    return shlex.quote(str(path))


def _folders(environ: Mapping[str, str]) -> dict[str, str]:
    home = environ.get("HOME") or "/"
    data = environ.get("XDG_DATA_HOME") or f"{home}/.local/share"
    return {"home": home, "data": data, "config": environ.get("XDG_CONFIG_HOME") or f"{home}/.config"}


def _has(path: Path, text: str) -> bool:
    """Return True when a file that shells read at their start has a text, not as a comment."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    return any(text in line and line.lstrip()[:1] != "#" for line in lines)


def _manual(environ: Mapping[str, str]) -> list[dict[str, str]]:
    try:
        done = children.run(
            ["man", "-w", "pushjuju"], environ=children.environment(environ, keep=["MANPATH"])
        )
    except FileNotFoundError:
        return []
    if not done.returncode:
        return [_entry("manual page", "`man pushjuju` shows the page")]
    folder = Path("/usr/local/share/man/man1")
    if os.geteuid():
        folder = Path(_folders(environ)["home"], ".local/share/man/man1")
    fix = f"mkdir -p {_quote(folder)} && pushjuju man > {_quote(folder / 'pushjuju.1')}"
    return [_entry("manual page", "`man pushjuju` finds no page", fix)]


def _entry(subject: str, message: str, fix: str = "") -> dict[str, str]:
    entry = {"subject": subject, "level": "warning" if fix else "ok", "message": message}
    return {**entry, "fix": fix} if fix else entry
