"""Reads the hosts of an ssh_config by OpenSSH's rules: of each keyword, the first value counts.

Mirrors: ssh_config(5) of OpenSSH: Host patterns, Match host, Include, the tokens %h %n %d %u %%.
"""

from __future__ import annotations

import fnmatch
import getpass
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pushjuju.charms.archive import named_files
from pushjuju.core import jumps
from pushjuju.core.errors import NotValid
from pushjuju.core.values import dataclass
from pushjuju.services.requests.inventories.listed import PROXY_COMMAND, Faults, Listed, jump_of

_DEEPEST = 16  # levels of included files, as in OpenSSH
_MOST_FILES = 1000


@dataclass(frozen=True, slots=True)
class _Setting:
    """One line of the file; it holds for hosts that fit each of `blocks`, which are lists of patterns."""

    blocks: tuple[tuple[str, ...], ...]
    keyword: str
    value: str


@dataclass(slots=True)
class _Reading:
    faults: Faults
    settings: list[_Setting]
    aliases: dict[str, None]
    files: int = 0


def hosts(text: str, faults: Faults, folder: Path | None) -> Iterator[Listed]:
    """Yield the hosts that a `Host` line names without wildcards."""
    reading = _Reading(faults, [], {})
    _read(text, reading, folder, faults.file, (), depth=0)
    for alias in reading.aliases:
        values = _values(alias, reading)
        address = _worked_out(values.get("hostname", alias), alias, alias)
        jump = values.get("proxyjump", "")
        if not jump and values.get("proxycommand", "none").lower() != "none":
            jump = jump_of(values["proxycommand"])
        yield from faults.host(
            alias,
            address,
            user=values.get("user"),
            port=values.get("port"),
            identity=_worked_out(values.get("identityfile", ""), alias, address),
            jump=jump if jump == PROXY_COMMAND else _way(jump, reading),
        )


def _values(alias: str, reading: _Reading) -> dict[str, str]:
    """Return keyword -> first value that holds for a host."""
    values: dict[str, str] = {}
    for setting in reading.settings:
        if all(_fits(alias, patterns) for patterns in setting.blocks):
            values.setdefault(setting.keyword, setting.value)
    return values


def _way(text: str, reading: _Reading) -> str:
    """Return jump hosts with each host's settings from the file; return a wrong text unchanged."""
    if text.lower() in ("", "none"):
        return ""
    try:
        hops = jumps.parse(text)
    except NotValid:
        return text
    return ",".join(str(_hop(hop, _values(hop.host, reading))) for hop in hops)


def _hop(hop: jumps.Hop, values: Mapping[str, str]) -> jumps.Hop:
    port = values.get("port", "")
    return jumps.Hop(
        host=_worked_out(values.get("hostname", hop.host), hop.host, hop.host),
        user=hop.user or values.get("user", ""),
        port=hop.port or (int(port) if port.isascii() and port.isdigit() else None),
    )


def _read(
    text: str,
    reading: _Reading,
    folder: Path | None,
    file: str,
    outer: tuple[tuple[str, ...], ...],
    *,
    depth: int,
) -> None:
    """Read the lines of a file; `outer` has the blocks around the line that includes the file."""
    blocks = outer
    for number, line in enumerate(text.splitlines(), 1):
        words = reading.faults.words(_spaced(line), number, file)
        if not words:
            continue
        keyword, values = words[0].lower(), words[1:]
        if not values:
            reading.faults.add(f"{words[0]} has no value", file=file, line=number)
        elif keyword == "host":
            blocks = (*outer, tuple(values))
            named = (alias for alias in values if not set(alias) & set("*?!"))
            reading.aliases.update(dict.fromkeys(named))
        elif keyword == "match":
            blocks = (*outer, _match(values))
        elif keyword == "include":
            for pattern in values:
                _include(pattern, reading, folder, blocks, depth=depth)
        else:
            whole = keyword == "proxycommand"  # its value is the rest of the line
            value = _spaced(line).strip().partition(" ")[2].strip() if whole else values[0]
            reading.settings.append(_Setting(blocks, keyword, value))


def _spaced(line: str) -> str:
    """Return `Keyword=value` as `Keyword value`."""
    return re.sub(r"^(\s*[A-Za-z]+)\s*=\s*", r"\1 ", line)


def _match(words: Sequence[str]) -> tuple[str, ...]:
    """Return the patterns of a Match line; conditions that need a login or a command fit no host."""
    keywords = [word.lower() for word in words]
    if keywords == ["all"]:
        return ("*",)
    if len(keywords) == 2 and keywords[0] in ("host", "originalhost"):
        return tuple(words[1].split(","))
    return ()


def _include(
    pattern: str, reading: _Reading, folder: Path | None, blocks: tuple[tuple[str, ...], ...], *, depth: int
) -> None:
    """Read the files that fit a pattern; as in OpenSSH, there may be none."""
    if folder is None:
        return
    path = Path(pattern).expanduser()
    root, tail = (Path(path.anchor), path.relative_to(path.anchor)) if path.is_absolute() else (folder, path)
    if depth >= _DEEPEST or ".." in tail.parts:
        reading.faults.add(f"Include {pattern}: files include each other too deeply")
        return
    for found in sorted(root.glob(str(tail))):
        reading.files += 1
        if reading.files > _MOST_FILES:
            reading.faults.add(f"includes more than {_MOST_FILES} files")
            return
        try:
            text = named_files.read(found).decode()
        except (OSError, UnicodeDecodeError):
            reading.faults.add(f"Include {found}: cannot be read")
            continue
        _read(text, reading, folder, str(found), blocks, depth=depth + 1)


def _fits(alias: str, patterns: Sequence[str]) -> bool:
    if any(one.startswith("!") and _like(alias, one[1:]) for one in patterns):
        return False
    return any(_like(alias, one) for one in patterns if not one.startswith("!"))


def _like(alias: str, pattern: str) -> bool:
    return fnmatch.fnmatchcase(alias.lower(), pattern.lower().replace("[", "[[]"))


def _worked_out(text: str, alias: str, address: str) -> str:
    user = getpass.getuser() if "%u" in text else ""
    tokens = {"%h": address, "%n": alias, "%%": "%", "%d": "~", "%u": user}
    return re.sub("%[hnud%]", lambda match: tokens[match[0]], text)
