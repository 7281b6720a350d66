"""The view of a unit: its local and remote state, read in one transaction for a decision.

The number of statements depends on the unit's own relations, not on the size of the model.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from pushjuju.charms.format.config import Settings
from pushjuju.charms.values.model import Charm, Role
from pushjuju.core.errors import NotValid
from pushjuju.core.model.series import SeriesStatus
from pushjuju.core.model.tasks import Receiver
from pushjuju.core.problems import Subject
from pushjuju.core.status import Life
from pushjuju.core.values import changed, dataclass
from pushjuju.services.entities.action import actions
from pushjuju.services.entities.application import bindings
from pushjuju.services.entities.basis import leadership, network, statuses
from pushjuju.services.entities.charm import charm_profiles, charms
from pushjuju.services.entities.machine import lost_results
from pushjuju.services.entities.model import model_config
from pushjuju.services.entities.relation import relations
from pushjuju.services.lifecycle import removal
from pushjuju.store.rows.records import (
    Application,
    Bag,
    Machine,
    Relation,
    RelationEndpoint,
    RelationScope,
    Unit,
)
from pushjuju.store.tx import ModelTx, Questions, Tx
from pushjuju.uniter.decide.remote import PendingAction, RemoteRelation, RemoteState
from pushjuju.uniter.decide.state import LocalState, ResolvedMode, initial_state, validate_local
from pushjuju.uniter.decide.wire import from_wire, text_of
from pushjuju.uniter.input.unit_secrets import with_secrets
from pushjuju.uniter.input.unit_storage import remote_storage

if TYPE_CHECKING:
    from pushjuju.store.statement_names import StatementName

_FRESH = "{}"  # the state of a new unit
_OF_APPLICATION: tuple[StatementName, ...] = (
    "lease_get", "relation_of_application", "endpoint_of_neighbours", "scope_of_neighbours", "binding_list",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A unit with everything on which its decision depends."""

    unit: Unit
    application: Application
    machine: Machine
    charm: Charm  # the unit's charm; during an upgrade, the old charm
    settings: Settings  # the settings that users set for that charm, without defaults
    relations: Mapping[int, Relation]  # every relation of the application, by id
    sides: Mapping[int, list[RelationEndpoint]]  # relation -> its endpoints
    bags: Mapping[int, Mapping[str, Bag]]  # relation -> unit or application -> bag
    bindings: Mapping[str, str]  # endpoint -> id of its space, for applications with bindings
    local: LocalState
    remote: RemoteState


def read_view(tx: ModelTx, name: str, commands: tuple[str, ...] = ()) -> View | None:
    """Read a unit with its local and its remote state; return None when the unit was removed.

    Args:
        commands: Ids of the requests of `juju-exec`, which are on the machine and not in the store.
    """
    unit = tx.find(Unit, "unit_get", name=name)
    if unit is None:
        return None
    if unit.machine is None:
        raise NotValid(f"unit {name} is on no machine", subject=Subject("unit", name))
    view = _around(tx, unit)
    return _complete(tx, view, unit, local_state(tx, unit, view.application), commands)


def ask_ahead(tx: ModelTx, name: str) -> None:
    """Send what `read_view` and the statuses of a unit ask the store."""
    tx.ahead(own_questions, name, changes=True)
    tx.ahead(questions_around, name)


def own_questions(name: str) -> Questions:
    """Yield what a unit asks the store about itself, for `Tx.ahead`."""
    yield "unit_get", {"name": name}
    yield from statuses.questions(name)


def questions_around(name: str) -> Questions:
    """Yield what a unit asks the store about its surroundings, for `Tx.ahead`."""
    application = name.partition("/")[0]
    yield "application_get", {"name": application}
    yield "bag_of_neighbours", {"unit": name, "application": application}
    for query in _OF_APPLICATION:
        yield query, {"application": application}
    yield "unit_lives_of_principal", {"principal": name}
    yield "task_pending", {"kind": Receiver.UNIT, "receiver": name}


def with_local(tx: ModelTx, view: View, local: LocalState) -> View:
    """Return the view that a unit will have with another local state, and with the charm of that state."""
    unit, url = view.unit, local.current_charm_url
    if not url or (url == own_charm_url(unit, view.application) and not unit.charm_gone):
        return changed(view, local=local)
    unit = changed(unit, charm_url=url, charm_gone=False)
    return _complete(tx, _around(tx, unit), unit, local, view.remote.commands)


def _around(tx: ModelTx, unit: Unit) -> View:
    # A hook changes what its unit remembers and when update-status is due, and mostly nothing else: the other
    # part of the view is cached.
    like_new = changed(
        unit, state=_FRESH, decision=_FRESH, update_status_version=0, update_status_due=None
    )  # fmt: skip
    return tx.derived(_read_around, like_new)


def _complete(tx: ModelTx, around: View, unit: Unit, local: LocalState, commands: tuple[str, ...]) -> View:
    """Add what is in a unit's own row, its secrets and its requests to what was read around the unit."""
    remote = changed(
        around.remote, commands=commands, update_status_version=unit.update_status_version
    )  # fmt: skip
    if secrets := around.application.secrets:
        remote = with_secrets(tx, unit, local, remote, far=secrets > 1)
    return changed(around, unit=unit, local=local, remote=remote)


def _read_around(tx: ModelTx, unit: Unit) -> View:
    """Read the view of a unit with the local state of a new unit, without secrets and requests."""
    application = tx.get(
        Application, "application_get", f"application {unit.application} not found",
        name=unit.application
    )  # fmt: skip
    machine = tx.get(Machine, "machine_get", f"machine {unit.machine} not found", id=unit.machine)
    url = own_charm_url(unit, application)
    charm = charms.get(tx, url)
    settings = charms.stored_settings(tx, application.name, url)
    around = relations.neighbourhood(tx, unit)
    bound = bindings.stored(tx, application.name)
    seen = {number: _relation(unit, charm, around, number) for number in around.relations}
    return View(
        unit=unit,
        application=application,
        machine=machine,
        charm=charm,
        settings=settings,
        relations=around.relations,
        sides=around.sides,
        bags=around.bags,
        bindings=bound,
        local=initial_state(application.charm_url),
        remote=_remote_state(tx, unit, application, machine, charm, settings, bound, seen),
    )


def local_state(tx: Tx, unit: Unit, application: Application) -> LocalState:
    """Return what a unit remembers; the state of a new unit when nothing is stored."""
    return (
        initial_state(application.charm_url) if unit.state == _FRESH else tx.meaning(_read_local, unit.state)
    )


def _read_local(text: str) -> LocalState:
    return from_wire(LocalState, json.loads(text))


def store_local(
    tx: Tx, unit: Unit, local: LocalState, stored: LocalState | None = None, *, decision: str = ""
) -> bool:
    """Store what a unit remembers, if it has changed; store its charm URL in the unit's row as well.

    Args:
        stored: The state that was read from the row, if the caller has it.
        decision: The record of the decision that led to the state, to be stored with it; "" for no decision.

    Returns:
        True when something has changed.
    """
    key = {"model": unit.model, "name": unit.name}
    text = unit.state if local is stored and unit.state != _FRESH else text_of(local)
    if text != unit.state:
        with suppress(NotValid):  # an invalid state is an error when it is read
            validate_local(local)
            tx.means(_read_local, text, local, instead_of=unit.state)
    if decision and decision != unit.decision:
        tx.change(Unit, "unit_get", "unit_set_turn", key, state=text, decision=decision)
    elif text != unit.state:
        tx.change(Unit, "unit_get", "unit_set_turn", key, state=text)
    if local.current_charm_url and local.current_charm_url != unit.charm_url:
        tx.change(Unit, "unit_get", "unit_set_charm", key, charm_url=local.current_charm_url)
        return True
    return text != unit.state


def own_charm_url(unit: Unit, application: Application) -> str:
    """Return the charm of the unit, or the application's charm before the unit has a charm."""
    return unit.charm_url or application.charm_url


def _remote_state(
    tx: ModelTx,
    unit: Unit,
    application: Application,
    machine: Machine,
    charm: Charm,
    settings: Settings,
    bound: Mapping[str, str],
    seen: Mapping[int, RemoteRelation],
) -> RemoteState:
    url = own_charm_url(unit, application)
    return RemoteState(
        unit=unit.name,
        application_life=Life(application.life),
        life=Life(unit.life),
        principal=unit.principal or "",
        subordinates=removal.lives_of_subordinates(tx, unit.name),
        resolved=ResolvedMode(unit.resolved),
        charm_url=application.charm_url,
        force_charm=application.force_charm,
        charm_modified_version=application.charm_modified,
        charm_present=not unit.charm_gone,
        profile_ready=charm_profiles.ready(tx, machine, application.name, application.charm_url),
        config_hash=charms.settings_hash(application.name, url, settings),
        trust_hash=charms.trust_hash(application),
        addresses_hash=network.addresses_hash(machine, bound),
        leader=leadership.holder(tx, application.name) == unit.name,
        leader_settings_version=application.leader_settings_version + 1,
        retry_hook_version=unit.retry_version,
        retry_hooks=_may_retry(tx, unit, machine),
        boot_id=machine.boot_id,
        relations=seen,
        actions=_actions(tx, unit),
        series=SeriesStatus(unit.series),
        series_target=unit.series_target,
        storage=remote_storage(tx, unit, charm) if unit.storage else {},
    )


def _may_retry(tx: ModelTx, unit: Unit, machine: Machine) -> bool:
    """Return False when failed hooks wait for a user: those whose results were lost always do."""
    if machine.lost and lost_results.is_shown(machine, unit.name):
        return False
    return bool(model_config.get(tx, "automatically-retry-hooks"))


def _actions(tx: ModelTx, unit: Unit) -> tuple[PendingAction, ...]:
    """Return the actions that wait for a unit, oldest first."""
    return tuple(
        PendingAction(
            id=str(task.id), name=task.action, parallel=task.parallel, execution_group=task.execution_group
        )
        for task in actions.pending(tx, Receiver.UNIT, unit.name)
    )


def _relation(unit: Unit, charm: Charm, around: relations.Neighbourhood, number: int) -> RemoteRelation:
    relation, sides, bags = around.relations[number], around.sides[number], around.bags[number]
    own, other = (
        relations.own_endpoint(sides, unit.application),
        relations.remote_endpoint(sides, unit.application),
    )
    endpoint = charm.meta.find_endpoint(own.endpoint)
    return RemoteRelation(
        endpoint=own.endpoint,
        remote_application=other.application,
        life=Life(relation.life),
        peer=own.role == Role.PEER,
        implicit=endpoint is not None and endpoint.implicit,
        container=relation.scope == "container",
        implemented=endpoint is not None,
        suspended=relation.suspended,
        members=_members(unit, other.application, around.scopes[number], bags),
        app_members={other.application: _version(bags, other.application)},
    )


def _members(
    unit: Unit, counterpart: str, scopes: Iterable[RelationScope], bags: dict[str, Bag]
) -> dict[str, int]:
    """Return the units on the other side in scope that this unit may see -> version of their settings."""
    principal = unit.principal or unit.name
    return {
        scope.unit: _version(bags, scope.unit)
        for scope in scopes
        if scope.application == counterpart
        and scope.unit != unit.name
        and not scope.departing
        and scope.container in ("", principal)
    }


def _version(bags: dict[str, Bag], entity: str) -> int:
    return bags[entity].version if entity in bags else 0
