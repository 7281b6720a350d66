"""The steps of a plan as values, and the lines that describe them in Juju's words.

Mirrors: juju core/bundle/changes/changes.go (3.6)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from enum import StrEnum
from typing import Any

from pushjuju.core.errors import NotValid
from pushjuju.core.values import dataclass
from pushjuju.services.bundles.read.values import ALL, EVERYWHERE, Exposed

BUNDLE_URL = "bundleURL"  # the annotation of an application that names the bundle it was deployed from


class Method(StrEnum):
    """What a step does, by Juju's names; Juju has no steps after GRANT_OFFER_ACCESS."""

    ADD_CHARM = "addCharm"
    DEPLOY = "deploy"
    UPGRADE_CHARM = "upgradeCharm"
    ADD_MACHINES = "addMachines"
    ADD_UNIT = "addUnit"
    ADD_RELATION = "addRelation"
    EXPOSE = "expose"
    SET_ANNOTATIONS = "setAnnotations"
    SET_OPTIONS = "setOptions"
    SET_CONSTRAINTS = "setConstraints"
    CONSUME_OFFER = "consumeOffer"
    CREATE_OFFER = "createOffer"
    GRANT_OFFER_ACCESS = "grantOfferAccess"
    SET_RESOURCES = "setResources"
    SET_STORAGE = "setStorage"
    BIND = "bind"
    RESET_OPTIONS = "resetOptions"
    UNSET_ANNOTATIONS = "unsetAnnotations"
    UNEXPOSE = "unexpose"
    SET_TRUST = "setTrust"
    REVOKE_OFFER_ACCESS = "revokeOfferAccess"
    REMOVE_OFFER = "removeOffer"
    REMOVE_RELATION = "removeRelation"
    REMOVE_UNIT = "removeUnit"
    REMOVE_APPLICATION = "removeApplication"
    REMOVE_SAAS = "removeSaas"
    REMOVE_MACHINE = "removeMachine"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One step of a plan."""

    id: str  # `METHOD-N`; N counts the steps of the plan in the order in which they were made
    method: Method
    # plain data that describes the step completely; `$ID` stands for the entity that step ID makes
    args: Mapping[str, Any] = field(default_factory=dict)
    requires: tuple[str, ...] = ()  # ids of the steps that come before this step
    lines: tuple[str, ...] = ()  # the description that users read

    def to_wire(self) -> dict[str, object]:
        """Return the step as JSON has it."""
        return {
            "id": self.id,
            "method": str(self.method),
            "args": dict(self.args),
            "requires": list(self.requires),
            "description": list(self.lines),
        }


@dataclass(slots=True)
class Draft:
    """A plan that is being made: steps are added, and completed until they are sorted."""

    made: list[Change] = field(default_factory=list)
    start: int = 0  # the number of the first step

    def add(self, method: Method, args: Mapping[str, Any], *lines: str, requires: Iterable[str] = ()) -> str:
        """Append a step; return its id."""
        change = Change(
            id=f"{method}-{self.start + len(self.made)}",
            method=method,
            args=args,
            requires=tuple(dict.fromkeys(requires)),
            lines=lines,
        )
        self.made.append(change)
        return change.id

    def fill(self, name: str, args: Mapping[str, Any], *lines: str, requires: Iterable[str] = ()) -> None:
        """Complete a step: add arguments and required steps, and set its lines."""
        change = self.get(name)
        self.made[self._number(name)] = replace(
            change,
            args={**change.args, **args},
            lines=lines or change.lines,
            requires=tuple(dict.fromkeys((*change.requires, *requires))),
        )

    def get(self, name: str) -> Change:
        """Return a step by its id."""
        return self.made[self._number(name)]

    def _number(self, name: str) -> int:
        return int(name.rpartition("-")[2]) - self.start

    def sorted(self) -> tuple[Change, ...]:
        """Return the steps in the order of their making, but each after the steps that it requires."""
        done: set[str] = set()
        waiting, found = list(self.made), list[Change]()
        while waiting:
            left = []
            for change in waiting:
                if done.issuperset(change.requires):
                    found.append(change)
                    done.add(change.id)
                else:
                    left.append(change)
            if len(left) == len(waiting):
                raise NotValid("sort failed")
            waiting = left
        return tuple(found)


# --- Juju's words -----------------------------------------------------------------------------------------


def charm_line(charm: str, *, local: bool, base: str, revision: int | None, channel: str, arch: str) -> str:
    """Return the line of addCharm; a revision is preferred to a channel."""
    line = f"upload charm {charm}"
    line += "" if local else " from charm-hub"
    line += f" for base {base}" if base else ""
    if revision is not None and revision >= 0:
        line += f" with revision {revision}"
    elif channel:
        line += f" from channel {channel}"
    return line + (f" with architecture={arch}" if arch else "")


def deploy_line(name: str, charm: str, *, origin: str, base: str, channel: str) -> str:
    """Return the line of deploy; `origin` is empty for a charm that the bundle names by its path."""
    line = f"deploy application {name}"
    line += f" from {origin}" if origin else ""
    line += f" on {base}" if base else ""
    line += f" with {channel}" if channel else ""
    return line + (f" using {charm}" if origin and charm != name else "")


def upgrade_line(name: str, charm: str, *, base: str, channel: str) -> str:
    line = f"upgrade {name} from charm-hub using charm {charm}"
    line += f" for base {base}" if base else ""
    return line + (f" from channel {channel}" if channel else "")


def machine_line(number: str, bundle_number: str) -> str:
    named = f" (bundle machine {bundle_number})" if bundle_number not in ("", number) else ""
    return f"add new machine {number}{named}"


def expose_lines(name: str, exposures: Mapping[str, Exposed]) -> tuple[str, ...]:
    """Return the lines of expose, one for each group of endpoints with the same settings."""
    groups: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for endpoint, exposed in sorted(exposures.items()):
        key = (tuple(sorted(exposed.spaces)), tuple(sorted(exposed.cidrs)))
        groups.setdefault(key if any(key) else ((), EVERYWHERE), []).append(endpoint)
    lines = []
    for (spaces, cidrs), endpoints in groups.items():
        what = f"endpoint{'s' if len(endpoints) > 1 else ''} {','.join(endpoints)}"
        start = "expose all endpoints" if endpoints[0] == ALL else f"override expose settings for {what}"
        lines.append(f"{start} of {name} and allow access from {_sources(spaces, cidrs)}")
    return tuple(lines)


def _sources(spaces: Sequence[str], cidrs: Sequence[str]) -> str:
    parts = []
    if spaces:
        parts.append(f"space{'s' if len(spaces) > 1 else ''} {','.join(spaces)}")
    if cidrs == EVERYWHERE:
        parts.append("CIDRs 0.0.0.0/0 and ::/0")
    elif cidrs:
        parts.append(f"CIDR{'s' if len(cidrs) > 1 else ''} {','.join(cidrs)}")
    return " and ".join(parts)


def bind_line(name: str, spaces: Mapping[str, str]) -> str:
    """Return the line of bind, which reads like the arguments of `pushjuju bind`."""
    words = [f"{endpoint}={space}" if endpoint else space for endpoint, space in sorted(spaces.items())]
    return f"bind {name} to {' '.join(words)}"


def storage_line(name: str, directives: Mapping[str, str]) -> str:
    words = [f"{store}={text}" for store, text in sorted(directives.items())]
    return f"set storage of {name} to {' '.join(words)} for units to come"


def resource_lines(name: str, resources: Mapping[str, int | str]) -> tuple[str, ...]:
    """Return the lines of setResources, one for each resource."""
    return tuple(
        f"set resource {item} of {name} to revision {value}"
        if isinstance(value, int)
        else f"attach {value} as resource {item} of {name}"
        for item, value in sorted(resources.items())
    )
