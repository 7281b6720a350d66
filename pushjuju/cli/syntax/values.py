"""Reads values of arguments: `key=value`, `key=@file`, YAML files, placements, constraints, bases.

A wrong value raises an error before the command changes anything. Mirrors: juju/cmd args, juju cmd/juju (3.6)
"""

from __future__ import annotations

import errno
from collections.abc import Iterable, Mapping, Sequence
from typing import TextIO

from pushjuju.charms.archive import named_files
from pushjuju.charms.format import yamlload
from pushjuju.cli.terminal.console import Console
from pushjuju.core import constraints as rules
from pushjuju.core.base import Base
from pushjuju.core.errors import NotFound, NotValid, UsageError
from pushjuju.core.model.placement import Placement, PlacementKind
from pushjuju.core.names import is_machine
from pushjuju.core.storage import Directive, parse_directives
from pushjuju.core.values import dataclass
from pushjuju.portable.names import is_application
from pushjuju.portable.quote import quote
from pushjuju.services.entities.model import ssh_keys

_BINDINGS = "--bind must be in the form '[<default-space>] [<endpoint-name>=<space> ...]'; {}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The values of `--config`: key=value pairs, and the content of a YAML file or None."""

    values: Mapping[str, str]
    file: bytes | None


def pair(text: str) -> tuple[str, str]:
    """Split `key=value` at the first `=`."""
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise UsageError(f'expected "key=value", got {quote(text)}')
    return key, value


def pairs(texts: Iterable[str]) -> dict[str, str]:
    """Split several `key=value` texts; a key may come once."""
    found: dict[str, str] = {}
    for text in texts:
        key, value = pair(text)
        if key in found:
            raise UsageError(f"key {quote(key)} specified more than once")
        found[key] = value
    return found


def from_file(values: Mapping[str, str]) -> dict[str, str]:
    """Return the values with each `@file` replaced by the file's text."""
    return {key: _file_value(key, value) if value.startswith("@") else value for key, value in values.items()}


def _file_value(key: str, value: str) -> str:
    try:
        return named_files.read(value[1:]).decode()
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise NotValid(f"size of option file is larger than 5M: {quote(key)}") from error
        where = f"open {error.filename}: " if isinstance(error, FileNotFoundError) else ""
        why = f"{where}{(error.strerror or str(error)).lower()}"
        raise NotValid(f"cannot read option from file {quote(value[1:])}: {why}") from error
    except UnicodeDecodeError as error:
        raise NotValid(f"value for option {quote(key)} contains non-UTF-8 sequences") from error


def settings(texts: Iterable[str]) -> Settings:
    """Parse `--config`: a text with `=` is a pair, any other text names a YAML file."""
    listed = list(texts)
    values = dict(pair(text) for text in listed if "=" in text)
    names = [text for text in listed if "=" not in text]
    if len(names) > 1:
        raise NotValid(f"only a single config YAML file can be specified, got {len(names)}")
    return Settings(values=from_file(values), file=read_file(names[0]) if names else None)


def read_file(path: str, stdin: TextIO | None = None) -> bytes:
    """Return the content of a file that a flag names; `-` is stdin, where the caller passes stdin."""
    try:
        if path == "-" and stdin is not None:
            return named_files.within(stdin.read(named_files.MAX + 1).encode(errors="surrogateescape"))
        return named_files.read(path)
    except OSError as error:
        raise NotFound(f"open {path}: {(error.strerror or str(error)).lower()}") from error


def public_keys(path: str) -> list[str]:
    """Return the public keys of a file, or [] for an empty path; errors do not show the content."""
    found: list[str] = []
    text = read_file(path).decode(errors="replace") if path else ""
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            try:
                found.append(ssh_keys.parse(line.strip()).line)
            except NotValid:
                raise NotValid(
                    f"{path}, line {number}: no public SSH key", hint="such as id_ed25519.pub"
                ) from None
    if path and not found:
        raise NotValid(f"{path} holds no public SSH key", hint="such as id_ed25519.pub")
    return found


def yaml_map(content: bytes, name: str) -> dict[str, object]:
    """Return the map that a YAML file holds; raise NotValid when the content is not a YAML map."""
    found = yamlload.load(content)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise NotValid(f"{name}: expected a map of settings")
    return {str(key): value for key, value in found.items()}


def model_settings(texts: Iterable[str]) -> dict[str, object]:
    """Parse `--config` of add-model and bootstrap: flat YAML files first, then the pairs, which win."""
    listed = list(texts)
    merged: dict[str, object] = {}
    for text in listed:
        if "=" not in text:
            merged.update(yaml_map(read_file(text), text))
    merged.update(dict(pair(text) for text in listed if "=" in text))
    return merged


def placements(text: str) -> list[Placement]:
    """Parse `--to`: placement directives with commas."""
    try:
        return [Placement.parse(part.strip()) for part in text.split(",")] if text else []
    except NotValid as error:
        raise UsageError(error.message) from error


def constraints(texts: Sequence[str], console: Console) -> dict[str, object]:
    """Parse `--constraints`, repeated or not; a deprecated name gives a warning."""
    joined = " ".join(texts)
    if "cpu-cores=" in joined:
        console.info('Warning: constraint "cpu-cores" is deprecated in favor of "cores".')
    return rules.parse(joined)


def base(base_text: str, series: str, console: Console) -> Base | None:
    """Parse `--base`, or the old `--series` with a warning; return None when neither is given."""
    if base_text and series:
        raise UsageError("--series and --base cannot be specified together")
    if series:
        console.warn("series flag is deprecated, use --base instead")
        return Base.from_series(series)
    return Base.parse(base_text) if base_text else None


def disks(words: Sequence[str]) -> list[Directive]:
    """Parse the values of `--disks`: storage directives without a name; one value may hold several."""
    found = []
    for word in words:
        try:
            found += [Directive.parse(part) for part in word.split()]
        except NotValid as error:
            text = f"cannot parse disk constraints: {error.message}"
            raise UsageError(f'invalid value "{word}" for option --disks: {text}') from None
    return found


def storage(words: Sequence[str]) -> dict[str, Directive]:
    """Parse the values of `--storage` into storage name -> directive."""
    try:
        return parse_directives(words)
    except NotValid as error:
        raise UsageError(error.message) from None


def application_name(args: tuple[str, ...]) -> str:
    """Return the first argument as an application's name."""
    if not is_application(args[0]):
        raise UsageError(f'invalid application name "{args[0]}"')
    return args[0]


def bindings(text: str) -> dict[str, str]:
    """Parse `--bind` into endpoint -> name of a space; the default space has an empty endpoint."""
    found: dict[str, str] = {}
    for word in text.split():
        parts = word.split("=")
        if len(parts) > 2:
            problem = 'found multiple "=" in binding. Did you forget to space-separate the binding list?'
            raise NotValid(_BINDINGS.format(problem))
        if len(parts) == 2 and not parts[0]:
            problem = 'found "=" without endpoint name. Use a lone space name to set the default.'
            raise NotValid(_BINDINGS.format(problem))
        endpoint, space = parts if len(parts) == 2 else ("", parts[0])
        found[endpoint] = space.strip('"')
    return found


def machine_placement(text: str) -> Placement | None:
    """Parse the argument of add-machine; return None without one."""
    if not text:
        return None
    try:
        placement = Placement.parse(text)
    except NotValid as error:
        raise UsageError(error.message) from error
    if placement.kind is PlacementKind.MACHINE:
        raise NotValid("machine-id cannot be specified when adding machines")
    return placement


def machine_id(text: str) -> str:
    if not is_machine(text):
        raise UsageError(f'invalid machine id "{text}"')
    return text
