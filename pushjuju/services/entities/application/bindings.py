"""Binds the endpoints of applications to network spaces.

An application whose endpoints are all in space alpha, because no user has bound them, has no rows. Any other
application has a row for every endpoint and extra binding, and a row with an empty endpoint for the default.

Mirrors: juju state/endpoint_bindings.go, cmd/juju/application/bind*.go (3.6)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pushjuju.charms.values.model import Charm
from pushjuju.core.errors import NotFound, NotValid, not_found
from pushjuju.portable.quote import quote
from pushjuju.services.entities.basis import network, wake
from pushjuju.services.entities.charm import charms
from pushjuju.services.entities.machine import spaces
from pushjuju.store.rows.records import Application, Machine
from pushjuju.store.tx import ModelTx

_DEFAULT = ""
_LACKING = "is not feasible: one or more deployed machines lack an address in this space"


def names(charm: Charm) -> list[str]:
    """Return the names that a charm lets users bind: explicit endpoints and extra bindings, sorted."""
    endpoints = [endpoint.name for endpoint in charm.meta.endpoints() if not endpoint.implicit]
    return sorted([*endpoints, *charm.meta.extra_bindings])


def stored(tx: ModelTx, application: str) -> dict[str, str]:
    """Return endpoint -> id of its space; empty when the application has no rows."""
    rows = tx.rows("binding_list", application=application)
    return {row["endpoint"]: row["space"] for row in rows}


def space_of(found: Mapping[str, str], endpoint: str) -> str:
    """Return the id of an endpoint's space; implicit endpoints are in the default space."""
    return found.get(endpoint) or found.get(_DEFAULT) or network.ALPHA_ID


def document(tx: ModelTx, application: Application) -> dict[str, str]:
    """Return endpoint -> name of its space, with "" for the default, as users see bindings."""
    found, called = stored(tx, application.name), spaces.names(tx)
    every = [_DEFAULT, *names(charms.get(tx, application.charm_url))]
    return {endpoint: called[space_of(found, endpoint)] for endpoint in every}


def bound_to(tx: ModelTx, space: str) -> list[str]:
    """Return the names of the applications that have an endpoint in a space, sorted."""
    rows = tx.rows("binding_list_all")
    named = {row["application"] for row in rows}
    found = {row["application"] for row in rows if row["space"] == space}
    if space == network.ALPHA_ID:
        every = tx.list(Application, "application_list")
        found |= {application.name for application in every} - named
    return sorted(found)


def _ids(tx: ModelTx, charm: Charm, asked: Mapping[str, str]) -> dict[str, str]:
    """Return endpoint -> id of its space, from the names that a user typed."""
    called = {name: number for number, name in spaces.names(tx).items()}
    known = names(charm)
    for endpoint, space in asked.items():
        if space not in called:
            raise not_found("space", space)
        if endpoint and endpoint not in known:
            raise NotFound(f"endpoint {quote(endpoint)} not found")
    return {endpoint: called[space] for endpoint, space in asked.items()}


def set_first(tx: ModelTx, application: Application, charm: Charm, asked: Mapping[str, str]) -> None:
    """Bind the endpoints of a new application."""
    wanted = _ids(tx, charm, asked)
    default = wanted.get(_DEFAULT) or spaces.default_space(tx)
    every = {_DEFAULT: default, **{name: wanted.get(name, default) for name in names(charm)}}
    _check_constraints(tx, application, every)
    if set(every.values()) != {network.ALPHA_ID}:
        _store(tx, application, every)


def _check_constraints(tx: ModelTx, application: Application, wanted: Mapping[str, str]) -> None:
    """Refuse a space other than alpha that the constraints forbid, as no machine could satisfy both."""
    called = spaces.names(tx)
    words = application.constraints.get("spaces") or ()
    forbidden = {word[1:] for word in words if word.startswith("^")} - {network.ALPHA}
    for space in sorted({called[number] for number in wanted.values()} & forbidden):
        raise NotValid(f"space {quote(space)} is required but it's forbidden by constraint")


def _store(tx: ModelTx, application: Application, wanted: Mapping[str, str]) -> None:
    key = {"model": application.model, "application": application.name}
    for endpoint in stored(tx, application.name).keys() - wanted.keys():
        tx.run("binding_delete", **key, endpoint=endpoint)
    for endpoint, space in wanted.items():
        tx.run("binding_set", **key, endpoint=endpoint, space=space)


def refresh(
    tx: ModelTx, application: Application, charm: Charm, asked: Mapping[str, str], *, force: bool
) -> None:
    """Bind the endpoints of the new charm when an application is refreshed."""
    if asked or stored(tx, application.name):
        _merge(tx, application, names(charm), _ids(tx, charm, asked), force=force)


def record(
    tx: ModelTx, application: Application, asked: Mapping[str, str], *, force: bool = False
) -> list[str]:
    """Change the bindings of an application, as `bind` does; return a line for each change."""
    name = application.name
    charm = charms.get(tx, application.charm_url)
    wanted = _ids(tx, charm, asked)
    if not stored(tx, name):
        every = dict.fromkeys([_DEFAULT, *names(charm)], network.ALPHA_ID)
        _store(tx, application, every)
    changes = _merge(tx, application, names(charm), wanted, force=force)
    wake.application(tx, name, "bindings changed")
    return changes


def check(
    tx: ModelTx, application: Application, asked: Mapping[str, str], constraints: Mapping[str, Any]
) -> None:
    """Refuse bindings that `bind` would refuse; unknown spaces and endpoints are ignored.

    Args:
        constraints: The constraints that the application will have.

    Raises:
        NotValid: A machine has no address in a space, or the constraints forbid the space.
    """
    charm = charms.get(tx, application.charm_url)
    called = {name: number for number, name in spaces.names(tx).items()}
    known = {_DEFAULT, *names(charm)}
    wanted = {item: called[space] for item, space in asked.items() if item in known and space in called}
    _check_constraints(tx, replace(application, constraints=dict(constraints)), wanted)
    _check_machines(tx, application, wanted)


def _merge(
    tx: ModelTx, application: Application, endpoints: Sequence[str], wanted: Mapping[str, str], *, force: bool
) -> list[str]:
    """Bind endpoints to the wanted spaces; other endpoints stay, or follow a new default space."""
    present = stored(tx, application.name) or {_DEFAULT: network.ALPHA_ID}
    called = {number: quote(name) for number, name in spaces.names(tx).items()}
    old_default = present.get(_DEFAULT, network.ALPHA_ID)
    new_default = wanted.get(_DEFAULT, old_default)
    merged, same, changes = {_DEFAULT: new_default}, dict[str, list[str]](), []
    for endpoint in endpoints:
        before = present.get(endpoint)
        if before is None:
            space = merged[endpoint] = wanted.get(endpoint, new_default)
            kind = "space" if endpoint in wanted else "default space"
            changes.append(f"adding endpoint {quote(endpoint)} to {kind} {called[space]}")
            continue
        space = wanted.get(endpoint, new_default if before == old_default else before)
        merged[endpoint] = space
        if space != before:
            changes.append(
                f"moving endpoint {quote(endpoint)} from space {called[before]} to {called[space]}"
            )
        else:
            same.setdefault(space, []).append(endpoint)
    for space, kept in sorted(same.items()):
        plural = "s" if len(kept) > 1 else ""
        changes.append(f"no change to endpoint{plural} in space {called[space]}: {', '.join(kept)}")
    _check_constraints(tx, application, merged)
    if not force:
        _check_machines(tx, application, merged)
    _store(tx, application, merged)
    return changes


def _check_machines(tx: ModelTx, application: Application, wanted: Mapping[str, str]) -> None:
    """Refuse a space in which a machine of the application has no address; the messages are Juju's."""
    rows = tx.rows("application_machines", application=application.name)
    machines = [tx.get(Machine, "machine_get", "machine not found", id=row["machine"]) for row in rows]
    shared = [spaces.machine_spaces(machine) for machine in machines]
    called = spaces.names(tx)
    for endpoint, space in wanted.items():
        if space == network.ALPHA_ID or all(space in found for found in shared):
            continue
        if endpoint == _DEFAULT:
            raise NotValid(f"changing default space to {quote(called[space])} {_LACKING}")
        raise NotValid(f"binding endpoint {quote(endpoint)} to space {quote(called[space])} {_LACKING}")
