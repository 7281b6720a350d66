"""Reads the features that a charm assumes, and checks them. Mirrors: juju core/assumes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pushjuju import JUJU_VERSION
from pushjuju.charms.format.coerce import Report
from pushjuju.charms.format.extras import check_profile
from pushjuju.charms.values.model import Charm, Composite, Feature
from pushjuju.core.errors import NotValid
from pushjuju.core.values import regex
from pushjuju.portable.quote import quote

Expression = Feature | Composite
Version = tuple[int, int, int]

_FEATURE = regex(r"\s*([a-z][a-z0-9-]*?[a-z0-9]+)\s*(?:(>=|<)\s*([^<>=]+?))?\s*")
_VERSION = regex(r"(\d{1,9})(?:\.(\d{1,9})(?:\.(\d{1,9})(?:\.\d{1,9})*)?)?")
_AGENT = regex(r"(\d{1,9})\.(\d{1,9})(?:[.-](?:[a-z]+)?(\d{1,9}))?")
_KINDS = ("any-of", "all-of")

_DESCRIPTIONS: Mapping[str, str] = {
    "juju": "the version of Juju used by the model",
    "k8s-api": "the Kubernetes API lets charms query and manipulate the state of API objects "
    "in a Kubernetes cluster",
}
_MORE = "For additional information please see: https://juju.is/docs/olm/supported-features"


def parse_assumes(raw: Any, report: Report) -> tuple[Expression, ...]:
    """Return the expressions of an `assumes` block; faults are reported with Juju's texts."""
    if not isinstance(raw, list):
        report("assumes", 'malformed "assumes" block; expected an expression list')
        return ()
    found = []
    for number, item in enumerate(raw):
        try:
            found.append(_expression(item))
        except NotValid as error:
            prefix = f'parsing expression {number + 1} in top level "assumes" block'
            report(f"assumes[{number}]", f"{prefix}: {error.message}")
    return tuple(found)


def _expression(item: Any) -> Expression:
    if isinstance(item, str):
        return _feature(item)
    if isinstance(item, dict):
        return _composite(item)
    raise NotValid('expected a feature, "any-of" or "all-of" expression')


def _feature(text: str) -> Feature:
    match = _FEATURE.fullmatch(text)
    if not match:
        raise NotValid(f"malformed feature expression {quote(text)}")
    if not match[2]:
        return Feature(name=match[1])
    version = _VERSION.fullmatch(match[3])
    if not version:
        raise NotValid(f"malformed feature expression {quote(text)}: invalid version {quote(match[3])}")
    return Feature(name=match[1], op=match[2], version=_numbers(version))


def _numbers(match: re.Match[str]) -> Version:
    return int(match[1]), int(match[2] or 0), int(match[3] or 0)


def _composite(item: Mapping[Any, Any]) -> Composite:
    if len(item) != 1:
        raise NotValid("malformed composite expression")
    kind, value = next(iter(item.items()))
    if kind not in _KINDS:
        raise NotValid('malformed composite expression; expected an "any-of" or "all-of" block')
    if not isinstance(value, list):
        raise NotValid(f"malformed {quote(kind)} expression; expected a list of sub-expressions")
    return Composite(kind=kind, items=tuple(map(_expression, value)))


def model_features(juju_version: str) -> dict[str, Version | None]:
    """Return feature -> version of what a model offers to charms that see a Juju version (`3.6.14`)."""
    return {"juju": agent_version(juju_version)}


def agent_version(text: str) -> Version:
    """Return the three numbers of a Juju version (`3.6-beta2` counts as 3.6.2)."""
    match = _AGENT.match(text)
    if not match:
        raise NotValid(f"invalid version {quote(text)}")
    return _numbers(match)


def check_min_version(min_version: str, juju_version: str) -> None:
    """Refuse a charm of format 1 that wants a newer Juju."""
    if min_version and agent_version(min_version) > agent_version(juju_version):
        than = f"is higher than this juju model's version ({juju_version})"
        raise NotValid(f"charm's min version ({min_version}) {than}")


def check_assumes(expressions: Sequence[Expression], features: Mapping[str, Version | None]) -> None:
    """Refuse a charm whose assumed features the model does not offer.

    Args:
        expressions: The expressions of the charm; all of them must hold.
        features: The features of the model, see `model_features`.
    """
    unmet = [item for item in expressions if not _holds(item, features)]
    if not unmet:
        return
    lines = ["Charm feature requirements cannot be met:"]
    for item in unmet:
        lines += _explain(item, features, "  ")
    described = sorted(name for name in set(_unmet_names(unmet, features)) if name in _DESCRIPTIONS)
    if described:
        lines += ["", "Feature descriptions:"]
        lines += [f"  - {quote(name)}: {_DESCRIPTIONS[name]}" for name in described]
    lines += ["", _MORE]
    raise NotValid("\n".join(lines))


def _holds(item: Expression, features: Mapping[str, Version | None]) -> bool:
    if isinstance(item, Composite):
        parts = (_holds(part, features) for part in item.items)
        return any(parts) if item.kind == "any-of" else all(parts)
    if item.name not in features:
        return False
    offered = features[item.name]
    if item.version is None:
        return True
    if offered is None:
        return False
    return offered >= item.version if item.op == ">=" else offered < item.version


def _explain(item: Expression, features: Mapping[str, Version | None], indent: str) -> list[str]:
    if isinstance(item, Feature):
        return [f"{indent}- {_feature_text(item, features)}"]
    heading = "at least one" if item.kind == "any-of" else "all"
    lines = [f"{indent}- charm requires {heading} of the following:"]
    for part in item.items:
        if not _holds(part, features):
            lines += _explain(part, features, indent + "  ")
    return lines


def _feature_text(item: Feature, features: Mapping[str, Version | None]) -> str:
    wanted = f" (version {item.op} {_dotted(item.version)})" if item.version else ""
    text = f"charm requires feature {quote(item.name)}{wanted} but model "
    offered = features.get(item.name)
    if item.name in features and offered is not None:
        return f"{text}currently supports version {_dotted(offered)}"
    return f"{text}does not support it"


def _dotted(version: Version) -> str:
    return ".".join(map(str, version))


def _unmet_names(items: Sequence[Expression], features: Mapping[str, Version | None]) -> Iterator[str]:
    for item in items:
        if isinstance(item, Composite):
            yield from _unmet_names([part for part in item.items if not _holds(part, features)], features)
        else:
            yield item.name


def check_features(charm: Charm, *, juju_version: str = JUJU_VERSION) -> None:
    """Check the LXD profile, the assumed features and the minimum Juju version of a charm.

    Args:
        charm: The charm to deploy or to refresh to.

    Raises:
        NotValid: The model does not offer what the charm asks for; the message is Juju's.
    """
    if charm.lxd_profile:
        try:
            check_profile(charm.lxd_profile)
        except NotValid as error:
            raise NotValid(f"validating lxd profile: {error.message}", detail=error.detail) from None
    check_assumes(charm.meta.assumes, model_features(juju_version))
    check_min_version(charm.meta.min_juju_version, juju_version)
