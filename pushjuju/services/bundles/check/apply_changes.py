"""Checks what `apply` would change in existing applications, before anything is changed.

As in Juju, `deploy` keeps resources, storage and bindings of existing applications; `apply` changes them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from pushjuju.core import constraints as rules
from pushjuju.core.errors import NotValid, PushjujuError
from pushjuju.core.model import offerurl
from pushjuju.core.values import dataclass
from pushjuju.portable.natural import natural_order
from pushjuju.portable.quote import quote
from pushjuju.services.bundles.check import stored_charms
from pushjuju.services.bundles.plan import equal
from pushjuju.services.bundles.plan.changes import Change, Method
from pushjuju.services.bundles.plan.facts import ApplicationFacts, ModelFacts
from pushjuju.services.bundles.read.values import Application, Fault
from pushjuju.services.entities.application import applications, bindings, resources
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.storage.storage_instances import judge as judge_store
from pushjuju.services.entities.storage.storage_pools import open_pools
from pushjuju.services.supply.origins import StoreOrigin

if TYPE_CHECKING:
    from pathlib import Path

    from pushjuju.charms.values.model import Charm
    from pushjuju.core.charmstore import StoreResource
    from pushjuju.core.storage import Directive
    from pushjuju.services.bundles.read.load import Loaded
    from pushjuju.store.tx import ModelTx


@dataclass(slots=True, kw_only=True)
class Judged:
    """The result of the checks of existing applications."""

    # application -> resource that the bundle names by a path -> SHA-384 of that file, in hex
    files: dict[str, dict[str, str]] = field(default_factory=dict)
    # differences between bundle and application that cannot be changed
    faults: list[Fault] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Site:
    ctx: Context
    tx: ModelTx
    loaded: Loaded
    judged: Judged

    def refuse(self, error: PushjujuError | str, *path: str) -> None:
        """Add the fault of a value, unless the bundle's own checks have already reported the value."""
        composed = self.loaded.composed
        if all(fault.path != path for fault in self.loaded.faults):
            text = error if isinstance(error, str) else error.message
            place = composed.places.at(composed.root, path)
            self.judged.faults.append(Fault(text=text, path=path, place=place))

    def refuse_in(self, name: str, error: PushjujuError | str, *path: str) -> None:
        """Add a fault of one value of an application."""
        text = error if isinstance(error, str) else error.message
        self.refuse(f"cannot validate application {quote(name)}: {text}", "applications", name, *path)


def judge(
    ctx: Context,
    tx: ModelTx,
    loaded: Loaded,
    facts: ModelFacts,
    charms: Mapping[str, Charm],
    *,
    storage: Mapping[str, Mapping[str, Directive]],
    without: Collection[str] = (),
) -> Judged:
    """Check the changes of existing applications that a bundle asks for.

    Args:
        charms: Application -> its charm once the bundle is applied; `charmcheck` reports options that the
            charm lacks.
        storage: Application -> storage name -> directive of the command line.
        without: Applications to skip, because another check has reported their charm or constraints.
    """
    site = _Site(ctx=ctx, tx=tx, loaded=loaded, judged=Judged())
    bundle = loaded.bundle
    for name in natural_order(set(bundle.applications) & set(facts.applications)):
        app, there, charm = bundle.applications[name], facts.applications[name], charms.get(name)
        if charm is None or name in without:
            continue
        _architecture(site, app, there)
        _resources(site, app, charm)
        _storage(site, app, there, charm, storage.get(name, {}))
        try:
            if equal.bindings(app, there):
                found = applications.get(tx, name)
                bindings.check(tx, found, app.bindings, rules.parse(app.constraints))
        except NotValid as error:
            site.refuse_in(name, error, "bindings")
    for name in sorted(set(bundle.saas) & set(facts.saas)):
        if not _same_offer(bundle.saas[name], facts.saas[name]):
            text = (
                f"saas {quote(name)} is {facts.saas[name]}, not {bundle.saas[name]}: remove-saas {name} first"
            )
            site.refuse(text, "saas", name, "url")
    return site.judged


def _same_offer(one: str, two: str) -> bool:
    """Return True when two URLs name the same offer; each may leave out the controller and the owner."""
    try:
        first, second = offerurl.parse(one), offerurl.parse(two)
    except NotValid:
        return True  # another check has reported the URL
    halves = ((first.controller, second.controller), (first.owner, second.owner))
    same = all(left == right or not (left and right) for left, right in halves)
    return same and (first.model, first.offer) == (second.model, second.offer)


def _architecture(site: _Site, app: Application, there: ApplicationFacts) -> None:
    wanted = str(rules.parse(app.constraints).get("arch") or "")
    if wanted and there.arch and wanted != there.arch:
        text = f"unexpected {quote(app.name)} application architecture ({wanted}), charm already exists with "
        site.refuse(f"{text}architecture ({there.arch})", "applications", app.name, "constraints")


def _resources(site: _Site, app: Application, charm: Charm) -> None:
    """Check resources that are files; a revision is possible only for a charm that comes from a store."""
    for name, value in app.resources.items():
        meta = charm.meta.resources.get(name)
        if meta is None:
            continue
        try:
            if isinstance(value, int):
                if app.is_local:
                    raise NotValid(f"resource {quote(name)} revision not found, provide via --resource")
                continue
            with resources.about(name):
                resources.check_file(meta, value)
            path = file_of(site.loaded.folder, value)
            site.judged.files.setdefault(app.name, {})[name] = resources.fingerprint(name, path)
        except PushjujuError as error:
            site.refuse_in(app.name, error, "resources", name)


def fingerprints(loaded: Loaded) -> dict[str, dict[str, str]]:
    """Return application -> resource that the bundle names by a path -> SHA-384 in hex of that file."""
    found: dict[str, dict[str, str]] = {}
    for app in loaded.bundle.applications.values():
        for name, value in app.resources.items():
            if isinstance(value, str):
                with contextlib.suppress(
                    PushjujuError
                ):  # a missing file differs from any resource of the model
                    path = file_of(loaded.folder, value)
                    found.setdefault(app.name, {})[name] = resources.fingerprint(name, path)
    return found


def file_of(folder: Path | None, value: str) -> str:
    """Return the path of a resource's file; a relative path starts at the bundle's folder."""
    return value if folder is None else str(folder / value)


def resource_files(
    changes: Iterable[Change], folder: Path | None, in_stores: Collection[str]
) -> dict[str, dict[str, str]]:
    """Return application -> resource -> path of its file; relative paths start at the bundle's folder.

    Args:
        in_stores: The applications whose charm or resources come from a store, where a number is a revision.
    """
    found: dict[str, dict[str, str]] = {}
    for change in changes:
        if change.method not in (Method.DEPLOY, Method.UPGRADE_CHARM, Method.SET_RESOURCES):
            continue
        application = str(change.args["application"])
        for name, value in change.args.get("resources", {}).items():
            if not isinstance(value, int):
                found.setdefault(application, {})[name] = file_of(folder, value)
            elif application not in in_stores:
                found.setdefault(application, {})[name] = str(value)
    return found


def _storage(
    site: _Site, app: Application, there: ApplicationFacts, charm: Charm, more: Mapping[str, Directive]
) -> None:
    try:
        changed = equal.storage(app, there, more)
    except NotValid:
        return  # another check has reported the directive
    if not changed:
        return

    pools = open_pools(site.ctx, site.tx)
    for store, asked in changed.items():
        try:
            if store not in charm.meta.storage:
                if store in app.storage:
                    continue  # `charmcheck` has reported the storage
                raise NotValid(f"charm {quote(charm.name)} has no store called {quote(store)}")
            judge_store(site.tx, pools, charm, charm.meta.storage[store], asked)
        except PushjujuError as error:
            site.refuse_in(app.name, error, "storage", store)


def of_store(
    ctx: Context,
    model: str,
    changes: Collection[Change],
    origins: Mapping[str, StoreOrigin],
    charms: Mapping[str, Charm],
) -> dict[str, tuple[StoreResource, ...]]:
    """Look up the store's revisions of resources that applications change to.

    Args:
        origins: Application -> the store's answer about its charm.
        charms: Application -> its charm.

    Returns:
        Application -> its new resources that come from the store.
    """
    asked = dict(_revisions(changes))
    return stored_charms.resources_of(ctx, model, asked, origins, charms) if asked else {}


def _revisions(changes: Collection[Change]) -> Iterator[tuple[str, dict[str, int]]]:
    for change in changes:
        if change.method is Method.SET_RESOURCES:
            named = change.args["resources"].items()
            if found := {name: value for name, value in named if isinstance(value, int)}:
                yield str(change.args["application"]), found
