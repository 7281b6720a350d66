"""The configuration of a model: its keys, types and defaults. Mirrors: juju environs/config."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from pushjuju.charms.format import yamlload
from pushjuju.charms.values.goform import typed
from pushjuju.core import cloudinit, jumps
from pushjuju.core.base import Base
from pushjuju.core.errors import NotValid
from pushjuju.core.firewall import parse_cidr
from pushjuju.core.storage import parse_size
from pushjuju.core.values import dataclass
from pushjuju.portable.durations import parse_duration
from pushjuju.portable.loglevels import parse_levels
from pushjuju.portable.quote import bool_of
from pushjuju.services.entities.basis.network import check_egress, check_fan
from pushjuju.store.engine import Row
from pushjuju.store.tx import ModelTx


@dataclass(frozen=True, slots=True)
class Attribute:
    """A configuration key: its type, default and choices.

    Types: `string`, `bool`, `int`, `duration`, `levels`, `base`, `modes`, `cidrs`, `egress`, `fan`, `size`,
    `url`, `tags`, `userdata`, `inherited`, `jumps`.
    """

    type: str
    default: Any
    choices: tuple[str, ...] = ()


ATTRIBUTES: Mapping[str, Attribute] = {
    "agent-metadata-url": Attribute("string", ""),
    "agent-stream": Attribute("string", "released"),
    "apt-ftp-proxy": Attribute("string", ""),
    "apt-http-proxy": Attribute("string", ""),
    "apt-https-proxy": Attribute("string", ""),
    "apt-mirror": Attribute("string", ""),
    "apt-no-proxy": Attribute("string", ""),
    "authorized-keys": Attribute("string", ""),
    "automatically-retry-hooks": Attribute("bool", True),
    "charmhub-url": Attribute("url", "https://api.charmhub.io"),
    "cloudinit-userdata": Attribute("userdata", ""),
    "container-image-metadata-defaults-disabled": Attribute("bool", False),
    "container-image-metadata-url": Attribute("string", ""),
    "container-image-stream": Attribute("string", "released"),
    "container-inherit-properties": Attribute("inherited", ""),
    "container-networking-method": Attribute("string", "", ("", "local", "provider")),
    "default-base": Attribute("base", ""),
    "default-space": Attribute("string", ""),
    "development": Attribute("bool", False),
    "disable-network-management": Attribute("bool", False),
    "disable-telemetry": Attribute("bool", False),
    "egress-subnets": Attribute("egress", ""),
    "enable-os-refresh-update": Attribute("bool", True),
    "enable-os-upgrade": Attribute("bool", True),
    "extra-info": Attribute("string", ""),
    "fan-config": Attribute("fan", ""),
    "firewall-mode": Attribute("string", "instance", ("instance", "global", "none")),
    "ftp-proxy": Attribute("string", ""),
    "http-proxy": Attribute("string", ""),
    "https-proxy": Attribute("string", ""),
    "ignore-machine-addresses": Attribute("bool", False),
    "image-metadata-defaults-disabled": Attribute("bool", False),
    "image-metadata-url": Attribute("string", ""),
    "image-stream": Attribute("string", "released"),
    "juju-ftp-proxy": Attribute("string", ""),
    "juju-http-proxy": Attribute("string", ""),
    "juju-https-proxy": Attribute("string", ""),
    "juju-no-proxy": Attribute("string", "127.0.0.1,localhost,::1"),
    "logforward-enabled": Attribute("bool", False),
    "logging-config": Attribute("levels", "<root>=INFO"),
    "logging-output": Attribute("string", ""),
    "lxd-snap-channel": Attribute("string", "5.0/stable"),
    "max-action-results-age": Attribute("duration", "336h"),
    "max-action-results-size": Attribute("size", "5G"),
    "max-status-history-age": Attribute("duration", "336h"),
    "max-status-history-size": Attribute("size", "5G"),
    "mode": Attribute("modes", "requires-prompts"),
    "net-bond-reconfigure-delay": Attribute("int", 17),
    "no-proxy": Attribute("string", "127.0.0.1,localhost,::1"),
    "num-container-provision-workers": Attribute("int", 4),
    "num-provision-workers": Attribute("int", 16),
    "provisioner-harvest-mode": Attribute("string", "destroyed", ("all", "none", "unknown", "destroyed")),
    "proxy-ssh": Attribute("bool", False),
    "resource-tags": Attribute("tags", ""),
    "secret-backend": Attribute("string", "auto"),
    "saas-ingress-allow": Attribute("cidrs", "0.0.0.0/0,::/0"),
    "snap-http-proxy": Attribute("string", ""),
    "snap-https-proxy": Attribute("string", ""),
    "snap-store-assertions": Attribute("string", ""),
    "snap-store-proxy": Attribute("string", ""),
    "snap-store-proxy-url": Attribute("string", ""),
    "ssh-allow": Attribute("cidrs", "0.0.0.0/0,::/0"),
    "ssl-hostname-verification": Attribute("bool", True),
    "storage-default-block-source": Attribute("string", "loop"),
    "storage-default-filesystem-source": Attribute("string", "rootfs"),
    "syslog-ca-cert": Attribute("string", ""),
    "syslog-client-cert": Attribute("string", ""),
    "syslog-client-key": Attribute("string", ""),
    "syslog-host": Attribute("string", ""),
    "test-mode": Attribute("bool", False),
    "transmit-vendor-metrics": Attribute("bool", True),
    "update-status-hook-interval": Attribute("duration", "5m"),
}
# Keys of pushjuju that Juju does not have; they are shown only when they are set.
OWN: Mapping[str, Attribute] = {
    "controller-pool": Attribute("string", ""),
    "max-operation-age": Attribute("duration", "24h"),
    "ssh-jump-host": Attribute("jumps", ""),
}
INTERVAL = "update-status-hook-interval"
BASE = "default-base"
SERIES = "default-series"  # the deprecated form of default-base
FIXED = ("charmhub-url", "firewall-mode")  # can be set only when a model is added
READ_ONLY = ("agent-version", "name", "type", "uuid")
UNSHOWN = ("authorized-keys",)  # kept with the configuration, but only the commands for SSH keys change it
_MAY_BE_EMPTY = ("ssh-allow",)  # when empty, only the controllers' addresses may reach SSH
_MOST = {"num-container-provision-workers": 25, "num-provision-workers": 100}
_MODES = ("requires-prompts", "strict")


def parse_values(values: Mapping[str, Any]) -> dict[str, object]:
    """Return values in the types of their keys; `default-series` becomes `default-base`."""
    found = dict(values)
    if (series := found.pop(SERIES, None)) is not None:
        base = str(Base.from_series(str(series))) if series else ""
        if found.setdefault(BASE, base) != base:
            raise NotValid(f'{SERIES} "{series}" and {BASE} "{found[BASE]}" do not match')
    return {key: parse_value(key, value) for key, value in found.items()}


def parse_value(key: str, value: Any) -> Any:
    """Return a value in the type of its key, or raise NotValid; unknown keys keep their value."""
    if key in READ_ONLY:
        raise NotValid(f"{key} cannot be changed for a model, it is read-only")
    if key in UNSHOWN:
        raise NotValid(
            f'"{key}" cannot be set like this', hint="pushjuju add-ssh-key KEY, pushjuju remove-ssh-key ID"
        )
    attribute = ATTRIBUTES.get(key) or OWN.get(key)
    if attribute is None:
        return value
    if attribute.type == "bool":
        return _bool(key, value)
    if attribute.type == "int":
        return _int(key, value)
    if attribute.type == "tags" and isinstance(value, Mapping):  # as `shown_value` gives it
        value = " ".join(f"{name}={tag}" for name, tag in value.items())
    text = str(value)
    if attribute.type in _CHECKS:
        _CHECKS[attribute.type](key, text)
    if attribute.choices and text not in attribute.choices:
        listed = " ".join(attribute.choices)
        raise NotValid(f'{key}: expected one of [{listed}], got "{text}"')
    if attribute.type == "base" and text:
        return str(Base.parse(text))
    return text


def shown_value(key: str, value: Any) -> Any:
    """Return a value as documents show it: the text of tags becomes a map, as in Juju."""
    if key != "resource-tags" or not value:
        return value
    return dict(sorted(word.split("=", 1) for word in str(value).split()))


def _check_tags(_key: str, text: str) -> None:
    """Refuse a text that is not a list of tags; the message is Juju's."""
    for word in text.split():
        name, equals, _ = word.partition("=")
        if not equals or not name:
            raise NotValid(f'resource-tags: expected "key=value", got "{word}"')
        if name.startswith("juju-"):
            raise NotValid(f'tag "{name}" uses reserved prefix "juju-"')


def _check_userdata(key: str, text: str) -> None:
    """Refuse user data that would keep a machine from booting or lock pushjuju out, with Juju's messages."""
    if not text.strip():
        return
    try:
        document = yamlload.load(text.encode())
    except NotValid as error:
        raise NotValid(f"{key}: must be valid YAML: {error.message}") from None
    cloudinit.check(document)


def _check_inherited(_key: str, text: str) -> None:
    """Refuse properties that containers cannot inherit; the message is Juju's."""
    cloudinit.inherited_names(text)


def _check_jumps(key: str, text: str) -> None:
    """Refuse a text that is not a list of jump hosts."""
    try:
        jumps.parse(text)
    except NotValid as error:
        raise NotValid(f"{key}: {error.message}", hint=error.hint) from None


def _check_levels(_key: str, text: str) -> None:
    """Refuse unknown log levels; the message is Juju's."""
    try:
        parse_levels(text)
    except ValueError as error:
        raise NotValid(str(error)) from error


def _check_duration(key: str, text: str) -> None:
    """Refuse a text that is not a positive duration; the message is Juju's."""
    try:
        seconds = parse_duration(text)
    except ValueError as error:
        words = key.replace("-", " ")
        raise NotValid(f"invalid {words} in model configuration: {error}") from error
    if seconds <= 0:
        raise NotValid(f"{key}: must be positive, got {text}")


def _check_size(key: str, text: str) -> None:
    """Refuse a text that is not a size; the message is Juju's."""
    try:
        parse_size(text)
    except NotValid as error:
        words = key.replace("-", " ")
        raise NotValid(f"invalid {words} in model configuration: {error.why}") from error


def _check_cidrs(key: str, text: str) -> None:
    """Refuse a text that is not a list of CIDRs; the messages are Juju's."""
    if not text and key not in _MAY_BE_EMPTY:
        raise NotValid("empty cidrs not valid")
    for cidr in text.split(",") if text else ():
        try:
            parse_cidr(cidr.strip())
        except NotValid:
            raise NotValid(f'cidr "{cidr}" not valid') from None


def _check_url(key: str, text: str) -> None:
    """Refuse a URL that cannot be the address of a charm store, before anything is fetched from there."""
    scheme, host = urlsplit(text)[:2]
    if scheme not in ("http", "https", "mirror+http", "mirror+https", "file") or not (
        host or scheme == "file"
    ):
        raise NotValid(f'{key} url "{text}" not valid')


def _check_modes(_key: str, text: str) -> None:
    """Refuse modes that Juju does not know: with a misspelt mode, commands would remove unasked."""
    unknown = sorted({word.strip() for word in text.split(",")} - {"", *_MODES})
    if unknown:
        raise NotValid(f'mode(s) "{", ".join(unknown)}" not valid')


_CHECKS: Mapping[str, Callable[[str, str], None]] = {
    "cidrs": _check_cidrs,
    "duration": _check_duration,
    "egress": lambda _key, text: check_egress(text),
    "fan": lambda _key, text: check_fan(text),
    "inherited": _check_inherited,
    "jumps": _check_jumps,
    "levels": _check_levels,
    "modes": _check_modes,
    "size": _check_size,
    "tags": _check_tags,
    "url": _check_url,
    "userdata": _check_userdata,
}


def _bool(key: str, value: Any) -> bool:
    if isinstance(value, bool):
        return value
    found = bool_of(str(value))
    if found is None:
        raise NotValid(f"{key}: expected bool, got {typed(value)}")
    return found


def _int(key: str, value: Any) -> int:
    if not re.fullmatch("[0-9]{1,18}", str(value)):
        raise NotValid(f"{key}: expected number, got {typed(value)}")
    if int(value) > _MOST.get(key, int(value)):
        raise NotValid(f"{key}: must be less than {_MOST[key]}")
    return int(value)


def stored(tx: ModelTx) -> dict[str, Any]:
    """Return the values that were set for the model, without defaults."""
    return dict(tx.made(_values, "model_config_list"))


def _values(rows: Iterable[Row]) -> dict[str, Any]:
    return {row["key"]: json.loads(row["value"]) for row in rows}


def get(tx: ModelTx, key: str) -> Any:
    """Return the effective value of a key, or None when the key has no value."""
    found = tx.made(_values, "model_config_list")
    if key in found:
        return found[key]
    attribute = ATTRIBUTES.get(key) or OWN.get(key)
    return attribute.default if attribute else None


def several(tx: ModelTx, keys: Iterable[str]) -> dict[str, object]:
    """Return the effective values of some keys, with one query."""
    own = stored(tx)
    return {key: own.get(key, ATTRIBUTES[key].default) for key in keys}


def effective(
    tx: ModelTx, inherited: Mapping[str, Mapping[str, Any]] | None = None
) -> dict[str, dict[str, object]]:
    """Return every key with a document: its `value` and `source`.

    Args:
        inherited: `controller` and `region` -> the defaults for new models there, the nearest last. A value
            that equals such a default is shown with its source, as in Juju.
    """
    merged = {key: {"value": item.default, "source": "default"} for key, item in ATTRIBUTES.items()}
    for key, value in stored(tx).items():
        same = [name for name, table in (inherited or {}).items() if key in table and table[key] == value]
        merged[key] = {"value": shown_value(key, value), "source": same[-1] if same else "model"}
    return {key: entry for key, entry in sorted(merged.items()) if key not in UNSHOWN}


def change(
    tx: ModelTx,
    values: Mapping[str, Any],
    reset: Iterable[str] = (),
    *,
    new: bool = False,
    inherited: Mapping[str, Any] | None = None,
) -> None:
    """Set and reset keys of a model.

    Args:
        values: Key -> new value.
        reset: Keys that get their default value.
        new: True while the model is created, when every key may be set.
        inherited: The defaults for new models, which a key that is reset gets too.
    """
    before = {key: get(tx, key) for key in (INTERVAL, "apt-mirror")}
    parsed = parse_values(values)
    reset = [BASE if key == SERIES else key for key in reset]
    reset = [key for key in reset if not (key in FIXED and _is_same(tx, key, ATTRIBUTES[key].default))]
    for key in () if new else FIXED:
        if key in parsed and _is_same(tx, key, parsed[key]):
            del parsed[key]
    for key in reset:
        if key in READ_ONLY or key in UNSHOWN:
            raise NotValid(f'"{key}" cannot be reset')
        tx.run("model_config_reset", key=key)
        if inherited and key in inherited:
            parsed[key] = parse_value(key, inherited[key])
    for key, value in parsed.items():
        tx.run("model_config_set", key=key, value=json.dumps(value))
    _check_together(tx)
    if before["apt-mirror"] and not get(tx, "apt-mirror"):
        raise NotValid("cannot clear apt-mirror")  # machines would keep the old mirror
    if get(tx, INTERVAL) != before[INTERVAL]:
        tx.run("unit_restart_update_status")


def _check_together(tx: ModelTx) -> None:
    """Refuse legacy and Juju proxy settings side by side; the message is Juju's."""
    names = [f"{name}-proxy" for name in ("http", "https", "ftp")]
    found = several(tx, [*names, *(f"juju-{name}" for name in names)])
    if any(found[name] for name in names) and any(found[f"juju-{name}"] for name in names):
        raise NotValid("cannot specify both legacy proxy values and juju proxy values")


def _is_same(tx: ModelTx, key: str, value: Any) -> bool:
    """Return True when a fixed key already has a value; raise NotValid when it has another value."""
    present = get(tx, key)
    if present != value:
        raise NotValid(f'cannot change {key} from "{present}" to "{value}"')
    return True
