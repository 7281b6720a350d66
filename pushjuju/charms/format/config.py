"""Reads a charm's config options, and checks the values that users set. Mirrors: juju/charm config.go.

Settings are maps of option -> value; None means that the option is not set.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from pushjuju.charms.format import yamlload
from pushjuju.charms.values.goform import literal, type_name, typed
from pushjuju.charms.values.model import ConfigOption, OptionType
from pushjuju.charms.values.problems import Problems
from pushjuju.core.errors import NotValid
from pushjuju.core.suggest import did_you_mean
from pushjuju.core.values import regex
from pushjuju.portable.quote import bool_of, parse_int, quote

FILE = "config.yaml"
PREFIX = f'parsing "{FILE}" file: '

Value = str | int | float | bool | None
Settings = dict[str, Value]

_DECIMAL = regex(r"[-+]?[0-9]{1,40}")
_GO_FLOAT = regex(
    r"[-+]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|inf|infinity|nan"
    r"|0x(?:[0-9a-f_]+\.?[0-9a-f_]*|\.[0-9a-f_]+)p[-+]?[0-9]+)",
    re.IGNORECASE,
)
_SECRET_ID = regex(r"(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/)?[0-9a-z]{20}")
TRUST = "trust"
_TRUST_TEXT = "Does this application have access to trusted credentials"
_TRUST_OPTION = ConfigOption(name=TRUST, type=OptionType.BOOLEAN)


class _Unfit(Exception):
    """A value does not fit the type of its option."""


def read_config(data: bytes, problems: Problems) -> dict[str, ConfigOption]:
    """Return the options of `config.yaml`; faults go to `problems`."""
    try:
        raw = yamlload.load(data, text_keys=3)
    except NotValid as error:
        problems.add(FILE, PREFIX + error.message)
        return {}
    if raw is None or (isinstance(raw, dict) and "options" not in raw):
        problems.add(FILE, f"{PREFIX}invalid config: empty configuration")
        return {}
    if not isinstance(raw, dict):
        problems.add(FILE, f"{PREFIX}invalid config: expected map, got {typed(raw)}")
        return {}
    return options_from(raw["options"], problems)


def options_from(raw: Any, problems: Problems) -> dict[str, ConfigOption]:
    """Return the options of a decoded `options` map; faults go to `problems`."""
    if raw is None:
        return {}
    if not isinstance(raw, dict):
        problems.add(FILE, f"{PREFIX}invalid config: options: expected map, got {typed(raw)}", key="options")
        return {}
    found = {}
    for name, entry in raw.items():
        option = _option(name, entry, problems)
        if option is not None:
            found[name] = option
    return found


def _option(name: str, entry: Any, problems: Problems) -> ConfigOption | None:
    key = f"options.{name}"
    entry = {} if entry is None else entry
    if not isinstance(entry, dict):
        text = f"invalid config: option {quote(name)}: expected map, got {typed(entry)}"
        problems.add(FILE, PREFIX + text, key=key)
        return None
    kind, description = entry.get("type") or "string", entry.get("description")
    if not isinstance(kind, str) or kind not in tuple(OptionType):
        text = f"invalid config: option {quote(name)} has unknown type {quote(str(kind))}"
        problems.add(FILE, PREFIX + text, key=f"{key}.type")
        return None
    for extra in sorted(map(str, set(entry) - {"type", "default", "description"})):
        problems.warn(f"{FILE}: unknown key {quote(f'{key}.{extra}')} is ignored")
    option = ConfigOption(name=name, type=OptionType(kind), description=_description(description))
    try:
        default = None if entry.get("default") is None else _native(option, entry["default"])
    except NotValid as error:
        problems.add(FILE, f"{PREFIX}invalid config default: {error.message}", key=f"{key}.default")
        return None
    return ConfigOption(name=name, type=option.type, default=default, description=option.description)


def _description(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else literal(value)


# --- values -----------------------------------------------------------------------------------------------


def default_settings(options: Mapping[str, ConfigOption]) -> Settings:
    """Return option -> default for every option, with None for an option without a default."""
    return {name: option.default for name, option in options.items()}


def merge_settings(options: Mapping[str, ConfigOption], settings: Mapping[str, Value]) -> Settings:
    """Return the settings that the charm sees: every option with its value, its default, or None."""
    given = {name: value for name, value in settings.items() if value is not None and name in options}
    return {**default_settings(options), **given}


def with_trust(options: Mapping[str, ConfigOption]) -> Mapping[str, ConfigOption]:
    """Return the options of a charm and `trust`, a setting of every application."""
    return {**options, TRUST: _TRUST_OPTION}


def parse_settings(options: Mapping[str, ConfigOption], values: Mapping[str, str]) -> Settings:
    """Return typed values for the texts of a command line.

    Raises:
        NotValid: An option is unknown, or a text does not fit its type; the message is Juju's for the first
            fault, the detail names the others.
    """
    return _each(values, lambda name, text: _from_text(_known(options, name), text))


def _each(values: Mapping[str, Any], read: Callable[[str, Any], Any]) -> Settings:
    """Return all values, each read by `read`; every fault is collected."""
    found: Settings = {}
    faults: list[NotValid] = []
    for name, value in values.items():
        try:
            found[name] = read(name, value)
        except NotValid as error:
            faults.append(error)
    if faults:
        first, *others = faults
        if others:
            first.detail = "\n".join(["also:", *(f"  {error.message}" for error in others)])
        raise first
    return found


def parse_settings_yaml(options: Mapping[str, ConfigOption], data: bytes | str, application: str) -> Settings:
    """Return the typed values of a YAML file.

    Args:
        data: `{APP: {option: value}}`, or the output of `juju config APP`.
        application: The application's name, which is the top-level key.

    Raises:
        NotValid: The file has another form, an option is unknown, or a value does not fit its type.
    """
    try:
        raw = yamlload.load(data, text_keys=3)
    except NotValid as error:
        raise NotValid(f"cannot parse settings data: {error.message}") from None

    def read(name: str, value: Any) -> Any:
        option = _known(options, name)
        return _from_text(option, value) if isinstance(value, str) else _native(option, value)

    return _each(_settings_of(raw, application), read)


def _settings_of(raw: Any, application: str) -> Mapping[str, Any]:
    if raw is None:
        return {}
    if not isinstance(raw, dict):
        raise NotValid("unknown format for settings")
    if "settings" in raw and "application" in raw and isinstance(raw["settings"], dict):
        return _printed_settings(raw["settings"])
    if application not in raw:
        raise NotValid(f"no settings found for {quote(application)}")
    found = raw[application]
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise NotValid(f"unknown format for settings of {quote(application)}: {type_name(found)}")
    return found


def _printed_settings(raw: Mapping[str, Any]) -> dict[str, object]:
    found = {}
    for name, entry in raw.items():
        if not isinstance(entry, dict):
            raise NotValid("unknown format for settings")
        if entry.get("source") not in ("default", "unset") and "value" in entry:
            found[name] = entry["value"]
    return found


def validate_settings(options: Mapping[str, ConfigOption], settings: Mapping[str, Any]) -> Settings:
    """Return settings with values of the options' types.

    Raises:
        NotValid: An option is unknown, or a value has a wrong type.
    """
    return {name: _native(_known(options, name), value) for name, value in settings.items()}


def filter_settings(options: Mapping[str, ConfigOption], settings: Mapping[str, Any]) -> Settings:
    """Return the settings that a new charm accepts; the others are dropped."""
    kept: Settings = {}
    for name, value in settings.items():
        if name in options:
            try:
                kept[name] = _native(options[name], value)
            except NotValid:
                continue
    return kept


def _known(options: Mapping[str, ConfigOption], name: str) -> ConfigOption:
    if name not in options:
        raise NotValid(f"unknown option {quote(name)}", hint=did_you_mean(name, options))
    return options[name]


def _from_text(option: ConfigOption, text: str) -> Value:
    return _fitted(option, text, _TEXT[option.type])


def _native(option: ConfigOption, value: Any) -> Value:
    return None if value is None else _fitted(option, value, _NATIVE[option.type])


def _fitted(option: ConfigOption, value: Any, fit: Callable[[Any], Value]) -> Value:
    try:
        fitted = fit(value)
    except _Unfit:
        text = f"option {quote(option.name)} expected {option.type}, got {literal(value)}"
        raise NotValid(
            f"{TRUST}: expected bool, got {typed(value)}" if option is _TRUST_OPTION else text
        ) from None
    if option.type is OptionType.SECRET and isinstance(fitted, str):
        _check_secret(option.name, fitted)
    return fitted


def _check_secret(name: str, text: str) -> None:
    if not text:
        return
    rest = text.removeprefix("secret:")
    if rest == text:
        raise NotValid(f"option {quote(name)} expected secret, got {literal(text)}")
    if not _SECRET_ID.fullmatch(rest.removeprefix("//")):
        reason = f"secret URI {quote(text)} not valid"
        raise NotValid(f"invalid secret URI for option {quote(name)}: {reason}")


def _text_int(text: str) -> int:
    if not _DECIMAL.fullmatch(text):
        raise _Unfit
    return _in_64_bits(int(text))


def _in_64_bits(value: int) -> int:
    if not -(2**63) <= value < 2**63:
        raise _Unfit
    return value


def _text_float(text: str) -> float:
    if not _GO_FLOAT.fullmatch(text):
        raise _Unfit
    hexadecimal = "x" in text.lower()
    try:
        value = float.fromhex(text.replace("_", "")) if hexadecimal else float(text)
    except (OverflowError, ValueError):
        raise _Unfit from None
    if math.isinf(value) and "inf" not in text.lower():
        raise _Unfit
    return value


def _text_bool(text: str) -> bool:
    value = bool_of(text)
    if value is None:
        raise _Unfit
    return value


def _native_text(value: Any) -> str:
    if not isinstance(value, str):
        raise _Unfit
    return value


def _native_int(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return _in_64_bits(value)
    try:
        return parse_int(_native_text(value))
    except ValueError:
        raise _Unfit from None


def _native_float(value: Any) -> float:
    # Juju refuses an integer here. An integer is accepted because that does no harm.
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _Unfit
    return float(value)


def _native_bool(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    return _text_bool(_native_text(value))


_TEXT: Mapping[OptionType, Callable[[Any], Value]] = {
    OptionType.STRING: _native_text,
    OptionType.INT: _text_int,
    OptionType.FLOAT: _text_float,
    OptionType.BOOLEAN: _text_bool,
    OptionType.SECRET: _native_text,
}
_NATIVE: Mapping[OptionType, Callable[[Any], Value]] = {
    OptionType.STRING: _native_text,
    OptionType.INT: _native_int,
    OptionType.FLOAT: _native_float,
    OptionType.BOOLEAN: _native_bool,
    OptionType.SECRET: _native_text,
}


# --- the document of `juju config APP` --------------------------------------------------------------------


def config_document(
    application: str,
    charm: str,
    *,
    options: Mapping[str, ConfigOption],
    settings: Mapping[str, Value],
    trust: bool | None = None,
) -> dict[str, object]:
    """Return the document that `juju config APP` prints.

    Args:
        settings: The settings of the user; an option with None, or without an entry, is not set.
        trust: The trust that the user gave or refused, or None when the user never decided.
    """
    return {
        "application": application,
        "application-config": {TRUST: _trust(trust)},
        "charm": charm,
        "settings": {name: _described(options[name], settings.get(name)) for name in sorted(options)},
    }


def _trust(trust: bool | None) -> dict[str, object]:
    return {
        "default": False,
        "description": _TRUST_TEXT,
        "source": "user" if trust else "default",
        "type": "bool",
        "value": bool(trust),
    }


def _described(option: ConfigOption, value: Value) -> dict[str, object]:
    out: dict[str, object] = {"description": option.description, "source": "unset", "type": str(option.type)}
    if option.default is not None:
        out |= {"default": option.default, "source": "default", "value": option.default}
    if value is not None and value != option.default:
        out |= {"source": "user", "value": value}
    return dict(sorted(out.items()))
