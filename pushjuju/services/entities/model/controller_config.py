"""The configuration keys of a controller: their types, defaults, and whether users may change them.

controller.toml keeps the values under `config`, where `bootstrap --config` writes them. Keys about an API
server, a database or agents are kept and shown, but have no effect in pushjuju.

Mirrors: juju controller/config.go, configschema.go (3.6)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pushjuju.charms.values.goform import typed
from pushjuju.core import limits
from pushjuju.core.constraints import parse_size
from pushjuju.core.errors import NotValid
from pushjuju.core.values import dataclass, regex
from pushjuju.portable.durations import parse_duration
from pushjuju.portable.quote import bool_of
from pushjuju.services.entities.basis.context import Context
from pushjuju.store.files.blobs import CACHE_SIZE


@dataclass(frozen=True, slots=True)
class Setting:
    """A configuration key: type, default (or None), and whether users may change it after bootstrap.

    Types: `bool`, `int`, `string`, `duration`, `size`, `origins`, `folder`.
    """

    type: str
    default: Any = None
    changes: bool = True


ORIGINS = "api-allowed-origins"
SETTINGS: Mapping[str, Setting] = {
    "agent-logfile-max-backups": Setting("int", 2),
    "agent-logfile-max-size": Setting("size", "100M"),
    "agent-ratelimit-max": Setting("int", 10),
    "agent-ratelimit-rate": Setting("duration", "250ms"),
    "allow-model-access": Setting("bool", None, changes=False),
    ORIGINS: Setting("origins"),  # of web pages that may open websockets; not a key of Juju
    "api-port": Setting("int", None, changes=False),
    "api-port-open-delay": Setting("duration"),
    "application-resource-download-limit": Setting("int", 0),
    "audit-log-capture-args": Setting("bool", False),
    "audit-log-exclude-methods": Setting("string", "ReadOnlyMethods"),
    "audit-log-max-age": Setting("duration", "8760h0m0s"),  # of lines in the store; not a key of Juju
    "audit-log-max-backups": Setting("int", 10),
    "audit-log-max-size": Setting("size", "300M"),
    "auditing-enabled": Setting("bool", True),
    "autocert-dns-name": Setting("string", None, changes=False),
    "autocert-url": Setting("string", None, changes=False),
    "blob-cache-size": Setting("size", CACHE_SIZE),  # not a key of Juju
    "blobs": Setting("folder", None, changes=False),  # not a key of Juju
    "caas-image-repo": Setting("string"),
    "caas-operator-image-path": Setting("string", None, changes=False),
    "controller-name": Setting("string", None, changes=False),
    "controller-resource-download-limit": Setting("int", 0),
    "controller-uuid": Setting("string", None, changes=False),
    "features": Setting("string"),
    "identity-public-key": Setting("string", None, changes=False),
    "identity-url": Setting("string", None, changes=False),
    "juju-db-snap-channel": Setting("string", "4.4/stable", changes=False),
    "juju-ha-space": Setting("string"),
    "juju-mgmt-space": Setting("string"),
    "jujud-controller-snap-source": Setting("string", "legacy", changes=False),
    "login-token-refresh-url": Setting("string", None, changes=False),
    "max-agent-state-size": Setting("int", limits.AGENT_STATE),
    "max-charm-state-size": Setting("int", limits.STATE),
    "max-debug-log-duration": Setting("duration", "24h0m0s"),
    "max-prune-txn-batch-size": Setting("int", 1000000),
    "max-prune-txn-passes": Setting("int", 100),
    "max-txn-log-size": Setting("size", "10M", changes=False),
    "migration-agent-wait-time": Setting("duration", "15m0s"),
    "model-logfile-max-backups": Setting("int", 2),
    "model-logfile-max-size": Setting("size", "10M"),
    "mongo-memory-profile": Setting("string"),
    "object-store-type": Setting("string"),
    "object-store-s3-endpoint": Setting("string"),
    "object-store-s3-static-key": Setting("string"),
    "object-store-s3-static-secret": Setting("string"),
    "object-store-s3-static-session": Setting("string"),
    "open-telemetry-enabled": Setting("bool", False),
    "open-telemetry-endpoint": Setting("string"),
    "open-telemetry-insecure": Setting("bool", False),
    "open-telemetry-sample-ratio": Setting("string", "0.1"),
    "open-telemetry-stack-traces": Setting("bool", False),
    "open-telemetry-tail-sampling-threshold": Setting("duration", "1ms"),
    "prune-txn-query-count": Setting("int", 1000),
    "prune-txn-sleep-time": Setting("duration", "10ms"),
    "public-dns-address": Setting("string"),
    "query-tracing-enabled": Setting("bool", False),
    "query-tracing-threshold": Setting("duration", "1s"),
    "set-numa-control-policy": Setting("bool", False, changes=False),
    "ssh-max-concurrent-connections": Setting("int", 100),
    "ssh-server-port": Setting("int", 17022, changes=False),
    "state-port": Setting("int", None, changes=False),
    "system-ssh-keys": Setting("string", None, changes=False),
}
_ORIGIN = regex(r"https?://([a-z0-9_.-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?")
_STATE_SIZES = ("max-charm-state-size", "max-agent-state-size")
SECRET = ("object-store-s3-static-secret", "object-store-s3-static-session")


def may_change(key: str) -> bool:
    """Return True when users may set a key after bootstrap."""
    return key in SETTINGS and SETTINGS[key].changes


def parse_value(key: str, value: Any) -> Any:
    """Return a value in the type of its key, or raise NotValid with Juju's message."""
    setting = SETTINGS[key]
    if isinstance(value, (dict, list)):
        raise NotValid(f"{key}: expected string, got {typed(value)}")
    if setting.type == "bool":
        if isinstance(value, bool):
            return value
        found = bool_of(str(value))
        if found is None:
            raise NotValid(f"{key}: expected bool, got {typed(value)}")
        return found
    if setting.type == "int":
        sign = "-?" if key in _STATE_SIZES else ""  # `check_state_sizes` refuses negative sizes
        if isinstance(value, bool) or not re.fullmatch(f"{sign}[0-9]{{1,18}}", str(value)):
            raise NotValid(f"{key}: expected number, got {typed(value)}")
        return int(value)
    text = str(value)
    try:
        if setting.type == "duration":
            parse_duration(text)
        if setting.type == "size":
            parse_size(text)
        if setting.type == "origins":
            parse_origins(text)
        if setting.type == "folder" and not text.startswith("file:///"):
            raise NotValid(f'"{text}" is not file:///DIRECTORY')
    except (NotValid, ValueError) as error:
        raise NotValid(f"invalid {key} in configuration: {error}") from None
    return text


def parse_origins(text: str) -> frozenset[str]:
    """Return the origins of a list that is separated by commas, as browsers write them.

    Raises:
        NotValid: A part is not `https://HOST[:PORT]` or `http://HOST[:PORT]`.
    """
    found = frozenset(part.strip().lower() for part in text.split(",") if part.strip())
    for item in sorted(found):
        if not _ORIGIN.fullmatch(item):
            raise NotValid(f'"{item}" is not an origin: expected https://HOST[:PORT]')
    return found


def parse_values(values: Mapping[str, Any]) -> dict[str, object]:
    """Return the entries of a configuration that belong to controllers, in the types of their keys."""
    parsed = {key: parse_value(key, value) for key, value in values.items() if key in SETTINGS}
    check_state_sizes(parsed)
    return parsed


def check_state_sizes(config: Mapping[str, Any]) -> None:
    """Check the limits of charm state and agent state, and their sum."""
    sizes = {key: int(config.get(key, SETTINGS[key].default)) for key in _STATE_SIZES}
    for key, size in sizes.items():
        if size < 0:
            what = "should be a number of bytes (or 0 to disable limit)"
            raise NotValid(f"invalid {key.replace('-', ' ')}: {what}, got {size}")
    both = sum(sizes.values())
    if both > limits.UNIT_STATE:
        raise NotValid(
            "invalid max charm/agent state sizes: combined value should not exceed mongo's 16M per-document"
            f" limit, got {both}"
        )


def get(ctx: Context, key: str) -> Any:
    """Return the value of a key, in the key's type."""
    return parse_value(key, ctx.controller.config().get(key, SETTINGS[key].default))


def max_charm_state(ctx: Context) -> int:
    """Return the limit of a charm's state (`state-set`) for each unit, in bytes."""
    return _state_size(ctx, "max-charm-state-size")


def max_agent_state(ctx: Context) -> int:
    """Return the limit of what the uniter remembers for each unit, in bytes."""
    return _state_size(ctx, "max-agent-state-size")


def _state_size(ctx: Context, key: str) -> int:
    """Return the value of a size setting; 0 means the hard limit."""
    size = int(get(ctx, key))
    return min(size or limits.UNIT_STATE, limits.UNIT_STATE)
