"""Plans the steps for a client of the API that deploys a bundle itself, into an empty model.

Mirrors: juju apiserver/facades/client/bundle (3.6)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pushjuju.core.base import Base
from pushjuju.core.errors import NotValid
from pushjuju.core.values import dataclass
from pushjuju.services.bundles.plan.changes import Change, Method
from pushjuju.services.bundles.plan.facts import ModelFacts
from pushjuju.services.bundles.plan.plan import ResolvedCharm, Wanted, plan
from pushjuju.services.bundles.read import values
from pushjuju.services.bundles.read.load import merge_and_verify
from pushjuju.services.bundles.read.source import MAX_TEXT, Source
from pushjuju.services.bundles.read.values import Application, Bundle


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientStep:
    """A step for the client; `$ID` in the arguments stands for the entity that step ID makes."""

    id: str
    method: str
    args: Mapping[str, Any]
    requires: Sequence[str]


def steps(text: str, place: str) -> tuple[list[ClientStep], list[str]]:
    """Return the steps for a bundle, or no steps and its faults; no file of this host is read.

    Args:
        text: The documents of the bundle, as YAML.
        place: The client's name for the bundle, for errors.
    """
    if len(text) > MAX_TEXT:
        raise NotValid(f"the bundle is larger than {MAX_TEXT} characters")
    loaded = merge_and_verify(Source(file=place, text=text.encode(), folder=None, has_ids=True))
    if loaded.faults:
        return [], [fault.text for fault in loaded.faults]
    bundle = loaded.bundle
    charms = {name: _charm(bundle, app) for name, app in bundle.applications.items()}
    made = plan(Wanted(bundle=bundle, charms=charms), ModelFacts())
    deployed = {
        str(change.args["application"]): change.args.get("base")
        for change in made
        if change.method is Method.DEPLOY
    }
    return [_step(change, deployed) for change in made], []


def _charm(bundle: Bundle, app: Application) -> ResolvedCharm:
    """Return the charm of an application, from the bundle alone; no request is sent to a store."""
    revision = -1 if app.revision is None else app.revision
    base = values.application_base(bundle, app)
    return ResolvedCharm(name=app.charm_name, base=base, channel=app.channel, revision=revision)


def _step(change: Change, deployed: Mapping[str, Any]) -> ClientStep:
    """Return a step for the client; a machine for an application has the application's base, as in Juju."""
    args = dict(change.args)
    if change.method is Method.ADD_MACHINES and (base := deployed.get(str(args.get("application")))):
        args.setdefault("base", base)
    if base := args.get("base"):
        args["series"] = Base.parse(base).series  # libjuju reads the series
    if change.method is Method.ADD_CHARM and "revision" in args:
        number = int(args.pop("revision"))
        args |= {"revision": number} if number >= 0 else {}
    if args.get("entity-type") == "machine":  # the step that adds the machine gives its number
        args["id"] = f"${change.requires[0]}"
    return ClientStep(id=change.id, method=str(change.method), args=args, requires=change.requires)
