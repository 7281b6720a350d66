"""Finds the charms of a bundle that need no store: files, and charms that the model already has.

Mirrors: juju cmd/juju/application/deployer/bundlehandler.go addCharm (3.6)
"""

from __future__ import annotations

from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pushjuju.charms.archive.reader import read_charm
from pushjuju.charms.format.assumes import check_features
from pushjuju.charms.values.charm_bases import BaseRequest, choose_base
from pushjuju.charms.values.model import Charm
from pushjuju.core import constraints as rules
from pushjuju.core.base import Base
from pushjuju.core.errors import NotFound, PushjujuError
from pushjuju.core.values import dataclass
from pushjuju.portable.quote import quote
from pushjuju.services.bundles.plan.facts import ModelFacts
from pushjuju.services.bundles.plan.plan import ResolvedCharm
from pushjuju.services.bundles.read.values import Application, Bundle, Fault, application_base
from pushjuju.services.entities.application import applications
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.charm import charms
from pushjuju.services.supply.charm_build import is_source

if TYPE_CHECKING:
    from collections.abc import Collection

    from pushjuju.services.bundles.read.compose import Composed
    from pushjuju.services.bundles.read.load import Loaded
    from pushjuju.store.tx import ModelTx

_OF_CHARM = ("charm", "channel", "revision", "series", "base", "constraints")


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """The reason why a charm is refused, and its error, which is raised when there is no other fault."""

    fault: Fault
    error: PushjujuError

    @property
    def among_others(self) -> Fault:
        """The fault with the hint of its error, for a list of several faults."""
        return replace(self.fault, more=(*self.fault.more, *filter(None, self.error.hint.splitlines())))

    def alone(self) -> PushjujuError:
        """Return the error with the place of the fault, for the case that the bundle has no other fault."""
        first, *_ = str(self.fault).splitlines()
        named = first.startswith(("cannot resolve ", "cannot deploy "))
        self.error.message = first if named else f"cannot deploy bundle: {first}"
        self.error.detail = "\n".join(self.fault.more)
        return self.error


@dataclass(slots=True, kw_only=True)
class Found:
    """The charms of a bundle that were found without a store."""

    # application -> name and base of its charm, for the plan
    resolved: dict[str, ResolvedCharm] = field(default_factory=dict)
    # application -> its charm, for the charms that could be read
    charms: dict[str, Charm] = field(default_factory=dict)
    paths: dict[str, Path] = field(default_factory=dict)  # application -> path of its charm on this computer
    new: set[str] = field(default_factory=set)  # applications that the model does not have
    warnings: list[str] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)  # charms that do not exist, or that do not fit


def unclear(loaded: Loaded) -> frozenset[str]:
    """Return the applications whose charm cannot be found, because the keys that name it have faults."""
    top = any(fault.path[:1] in (("default-base",), ("series",)) for fault in loaded.faults)
    named = {
        str(fault.path[1])
        for fault in loaded.faults
        if fault.path[:1] == ("applications",) and fault.path[2:3] and fault.path[2] in _OF_CHARM
    }
    empty = {name for name, app in loaded.bundle.applications.items() if not app.charm}
    return frozenset(loaded.bundle.applications) if top else frozenset(named | empty)


def refusal(composed: Composed, application: str, key: str, error: PushjujuError, text: str = "") -> Refusal:
    """Return the refusal of an application's charm, with the place of the key that is at fault."""
    first, *more = (text or error.message).splitlines()
    path = ("applications", application, key)
    fault = Fault(
        text=first,
        path=path,
        place=composed.places.at(composed.root, path),
        more=tuple(line for line in (*more, *error.detail.splitlines()) if line),
    )
    return Refusal(fault=fault, error=error)


def find(
    ctx: Context,
    tx: ModelTx,
    loaded: Loaded,
    facts: ModelFacts,
    *,
    force: bool,
    without: Collection[str] = (),
) -> Found:
    """Read the charms that need no store; `Found.refused` has those that could not be used.

    Args:
        force: True to skip the checks of bases and features.
        without: Applications whose charm is not read.
    """
    found, read = Found(), dict[str, Charm | PushjujuError]()
    for name in sorted(loaded.bundle.applications):
        app, there = loaded.bundle.applications[name], facts.applications.get(name)
        if there is not None and (app.is_local or app.charm_name == there.charm):
            found.charms[name] = applications.current_charm(tx, applications.get(tx, name))
            continue
        if not app.is_local or name in without:  # `stored_charms` finds the charms of a store
            continue
        if app.charm not in read:
            read[app.charm] = _known(tx, app) if app.charm.startswith("local:") else _read(app)
        charm = read[app.charm]
        if isinstance(charm, PushjujuError):
            found.refused.append(refusal(loaded.composed, name, "charm", charm))
            continue
        _take(ctx, loaded, app, charm, facts, found, force=force)
    return found


def _take(
    ctx: Context,
    loaded: Loaded,
    app: Application,
    charm: Charm,
    facts: ModelFacts,
    found: Found,
    *,
    force: bool,
) -> None:
    """Add a charm and the base that its application gets to `found`."""
    known = app.charm.startswith("local:")
    if not known:
        found.paths[app.name] = Path(app.charm)
    found.new.add(app.name)
    found.charms[app.name] = charm
    found.warnings += charm.warnings
    try:
        if not force:
            check_features(charm)
        base = _base(ctx, loaded.bundle, app, charm, facts, force=force)
    except PushjujuError as error:
        text = f"cannot add charm {quote(app.charm)}: {error.message}"
        key = "base" if app.base else "charm"
        found.refused.append(refusal(loaded.composed, app.name, key, error, text))
    else:
        found.resolved[app.name] = ResolvedCharm(name=charm.name, base=str(base), known=known)


def _known(tx: ModelTx, app: Application) -> Charm | PushjujuError:
    try:
        return charms.get(tx, app.charm)
    except NotFound as error:
        return NotFound(
            error.message,
            hint="a bundle with `local:` charms can be deployed only where they are; name the charms' "
            "files in an overlay, or export it with --with-charms",
        )


def _read(app: Application) -> Charm | PushjujuError:
    try:
        return read_charm(Path(app.charm)).charm
    except PushjujuError as error:
        error.message = f"cannot deploy local charm at {quote(app.charm)}: {error.message}"
        return error


def _base(
    ctx: Context, bundle: Bundle, app: Application, charm: Charm, facts: ModelFacts, *, force: bool
) -> Base:
    own = app.base or app.series
    wanted = application_base(bundle, app)
    request = BaseRequest(
        requested=Base.parse(wanted) if wanted and own else None,
        model_default=Base.parse(wanted or facts.default_base) if wanted or facts.default_base else None,
        image_id=bool(rules.parse(app.constraints).get("image-id")) and not wanted,
        force=force,
        daily_images=facts.daily_images,
        extra_bases=charms.extra_bases(ctx.datadir),
        source=is_source(Path(app.charm)),
    )
    return choose_base(charm.name, charm.bases(), request)
