"""Asks stores for newer revisions of the applications' charms, which `status` shows.

Mirrors: juju apiserver/facades/controller/charmrevisionupdater (3.6)
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from random import Random

from pushjuju.core.base import Base, Channel
from pushjuju.core.charmstore import Ask, HubError, Platform, StoreCharm
from pushjuju.core.values import dataclass
from pushjuju.portable.quote import quote
from pushjuju.services.entities.application import applications
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.charm import charms
from pushjuju.services.supply import origins
from pushjuju.services.supply.origins import StoreOrigin
from pushjuju.store.queue import model_key, touch
from pushjuju.store.rows.origin_records import ApplicationOrigin
from pushjuju.store.tx import ModelTx

LOOP = "charms"
EVERY = timedelta(hours=24)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The request to a store about one application."""

    origin: ApplicationOrigin
    ask: Ask


def next_look(now: datetime, random: Random) -> datetime:
    """Return the time of the next request to the store: a random time in one to two days."""
    return now + EVERY * (1 + random.random())


def watch(ctx: Context, tx: ModelTx) -> None:
    """Schedule the loop that asks the model's store; an earlier due time is kept."""
    now = ctx.clock.now()
    touch(tx, model_key(tx.model, LOOP), next_look(now, ctx.random), "newer charms are looked for")


def questions(tx: ModelTx) -> list[Question]:
    """Return the requests for all applications whose charm comes from a store."""
    found = []
    for origin in tx.list(ApplicationOrigin, "origin_list"):
        application = applications.get(tx, origin.application)
        ask = Ask(
            name=charms.get(tx, application.charm_url).name,
            channel=Channel.parse(origin.channel),
            platform=Platform(arch=origin.arch, os=origin.os, track=origin.track),
            held=origins.held(origin),
        )
        found.append(Question(origin=origin, ask=ask))
    return found


def note(ctx: Context, asked: Sequence[Question], answers: Sequence[StoreCharm | HubError]) -> list[str]:
    """Record the answers of a store; return a line for each application whose answer is an error."""
    problems = []
    with ctx.store.write() as tx:
        for question, answer in zip(asked, answers, strict=True):
            origin = question.origin
            if isinstance(answer, HubError):
                problems.append(f"charm of {quote(origin.application)}: {answer.message}")
                continue
            url = StoreOrigin(
                charm=answer,
                channel=Channel.parse(origin.channel),
                base=Base(origin.os, origin.track),
                arch=origin.arch,
            ).url
            known = [item for item in answer.resources if item.download.sha384]
            origins.latest(ctx.of(tx, origin.model), origin, url, answer.revision, known)
    return problems
