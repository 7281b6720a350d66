"""Installs a line in the user's crontab that runs `pushjuju update-status` regularly.

No command needs the line, since each does the work that is due; without it, nothing runs between commands.
"""

from __future__ import annotations

import os
import pwd
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

from pushjuju.core import children
from pushjuju.core.errors import NotFound, NotValid, PushjujuError
from pushjuju.services.requests.controller import controllers
from pushjuju.store.datadir import DataDir
from pushjuju.store.files.places import locate

SUBJECT = "update-status"
FIX = "pushjuju doctor --schedule"
_PAGE = "a timer of systemd: docs/how-to/run-as-a-service.md"
_CRON_FILE = Path("/etc/cron.d/pushjuju")
_TIMER = "pushjuju-update-status"
_SERVICE = "pushjuju-controller.service"
_NO_CRONTAB = "no crontab for"


def look(datadir: DataDir, environ: Mapping[str, str]) -> list[dict[str, str]]:
    """Return the entries of `doctor` about regular runs; [] without a controller."""
    if datadir.current_controller() is None:
        return []
    unit = _usual(datadir, environ) and (_from_systemd() or _from_cron_file())
    if unit:
        return [_entry(f"{unit} runs it regularly")]
    try:
        found = any(_serves(text, datadir, environ) for text in _lines())
    except PushjujuError as error:
        return [_entry(f"not known who runs it: {error.detail or error.message}", fix=_PAGE)]
    if not found:
        return [_entry("nothing runs it regularly; what comes due waits for the next command", fix=_way())]
    if not _cron_runs():
        message = f"the crontab of {_user()} runs it, but no cron daemon was found"
        return [_entry(message, fix="systemctl enable --now cron")]
    return [_entry(f"the crontab of {_user()} runs it regularly")]


def schedule(datadir: DataDir) -> None:
    """Add the line for a data directory to the user's crontab, replacing an earlier line of pushjuju."""
    controllers.current(datadir, None, {})
    new = line(datadir.root)
    old = _lines()
    others = [text for text in old if not (_is_ours(text) and _data(text) == str(datadir.root))]
    if new not in old or len(others) != len(old) - 1:
        _crontab("-", stdin="".join(f"{text}\n" for text in [*others, new]))


def line(root: Path) -> str:
    """Return the crontab line that runs `update-status` on a data directory every five minutes.

    A run is skipped while the run before it still works.
    """
    program = Path(sys.executable).with_name("pushjuju")
    command = [str(program)] if program.exists() else [sys.executable, "-m", "pushjuju.cli"]
    words = ["flock", "--nonblock", "--conflict-exit-code", "0", f"{root}/cron.lock", *command]
    text = (
        f"cd / && umask 077 && PUSHJUJU_DATA={shlex.quote(str(root))} {shlex.join(words)} --quiet {SUBJECT}"
    )
    if not text.isprintable():
        raise NotValid(f"the name {str(root)!r} cannot stand in a crontab")
    return f"*/5 * * * * {text.replace('%', chr(92) + '%')}"  # cron replaces a bare % by a line end


def _entry(message: str, *, fix: str = "") -> dict[str, str]:
    entry = {"subject": SUBJECT, "level": "warning" if fix else "ok", "message": message}
    return {**entry, "fix": fix} if fix else entry


def _way() -> str:
    return FIX if _which("crontab") else f"apt-get install cron && {FIX}"


def _which(name: str) -> bool:
    return any(os.access(Path(folder, name), os.X_OK) for folder in children.SYSTEM["PATH"].split(":"))


def _user() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:  # a user id without an account, as in containers
        return str(os.geteuid())


def _usual(datadir: DataDir, environ: Mapping[str, str]) -> bool:
    """Return True when a program finds this data directory by the user's home alone."""
    return locate({"HOME": environ.get("HOME", "")}, Path("/")) == datadir.root


def _is_ours(text: str) -> bool:
    """Return True when `schedule` wrote a line; lines that users wrote or changed stay."""
    return "/cron.lock" in text and text.endswith(f"--quiet {SUBJECT}")


def _data(text: str) -> str:
    """Return the data directory in a crontab line, or ""."""
    try:
        words = shlex.split(text.replace("\\%", "%"))
    except ValueError:  # unbalanced quotes
        return ""
    return next((word.partition("=")[2] for word in words if word.startswith("PUSHJUJU_DATA=")), "")


def _serves(text: str, datadir: DataDir, environ: Mapping[str, str]) -> bool:
    """Return True when a line of a crontab, written by pushjuju or a user, is for this data directory."""
    if text.lstrip().startswith("#") or "pushjuju" not in text or SUBJECT not in text:
        return False
    return _data(text) == str(datadir.root) if "PUSHJUJU_DATA=" in text else _usual(datadir, environ)


def _lines() -> list[str]:
    if not _which("crontab"):
        return []
    return _crontab("-l").splitlines()


def _crontab(argument: str, *, stdin: str = "") -> str:
    """Run crontab and return its output; a user without a crontab gets ""."""
    try:
        done = children.run(["crontab", argument], environ=children.SYSTEM, stdin=stdin)
    except FileNotFoundError as error:
        raise NotFound("cannot run crontab: it is not installed", hint=_way()) from error
    if done.returncode and _NO_CRONTAB not in done.stderr:
        detail = (done.stdout + done.stderr).strip()
        raise PushjujuError(f"crontab {argument} failed with exit code {done.returncode}", detail=detail)
    return done.stdout


def _from_cron_file() -> str:
    """Return the file of /etc/cron.d that serves this data directory as this user, or ""."""
    try:
        lines = _CRON_FILE.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    found = any(SUBJECT in text and text.split()[5:6] == [_user()] for text in lines if text[:1] != "#")
    return str(_CRON_FILE) if found and _cron_runs() else ""


def _from_systemd() -> str:
    """Return the unit of contrib/systemd that serves this data directory as this user, or ""."""
    if not _which("systemctl"):
        return ""
    names = [_SERVICE, f"{_TIMER}.timer", f"{_TIMER}.service"]
    told = children.run(
        ["systemctl", "show", "-p", "Id", "-p", "User", "-p", "ActiveState", *names], environ=children.SYSTEM
    ).stdout
    blocks = [dict(text.partition("=")[::2] for text in block.splitlines()) for block in told.split("\n\n")]
    units = {block["Id"]: block for block in blocks if "Id" in block}
    for name, runs in ((_SERVICE, _SERVICE), (f"{_TIMER}.timer", f"{_TIMER}.service")):
        active = units.get(name, {}).get("ActiveState") == "active"
        if active and units.get(runs, {}).get("User") == _user():
            return name
    return ""


def _cron_runs() -> bool:
    for place in Path("/proc").glob("[0-9]*/comm"):
        try:
            if place.read_text(encoding="utf-8", errors="replace").strip() in ("cron", "crond"):
                return True
        except OSError:  # the process has ended
            continue
    return False
