"""What a page is made from: the user's request, and what the page shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple

from aiohttp import web

from pushjuju.core.errors import NotFound
from pushjuju.core.values import dataclass as value
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine import machine_work
from pushjuju.services.entities.model import models, pools
from pushjuju.services.pictures.looks import plain
from pushjuju.store.rows.model import Model
from pushjuju.store.rows.records import Status
from pushjuju.web.pages.addresses import ModelPages

_MOST_NOTES = 200


@dataclass(frozen=True, kw_only=True)
class Visit:
    """A request for a page, whose user has passed the check of access."""

    ctx: Context  # the controller, as the user
    found: Model | None  # the model of the page; None for pages of the controller
    path: Mapping[str, str] = field(default_factory=dict)  # name -> value of the parts of the address
    query: Mapping[str, str] = field(default_factory=dict)  # name -> value of the address's query
    pairs: Sequence[tuple[str, str]] = ()  # the names and values of the query, with repeated names

    @property
    def model(self) -> Model:
        assert self.found is not None, "the address names a model"
        return self.found

    @cached_property
    def pages(self) -> ModelPages:
        """The addresses of the model's pages."""
        return ModelPages.of(self.model.qualified)

    @cached_property
    def now(self) -> datetime:
        """The time of the page."""
        return self.ctx.clock.now()

    def notes(self) -> list[str]:
        """Return a line for each unit in error; a page tells of lines that come."""
        if self.found is None:
            return []
        with self.ctx.read(self.found.uuid) as tx:
            found = tx.list(Status, "units_in_error")
        return [f"{item.entity} is in error: {plain(item.message)}" for item in found[:_MOST_NOTES]]

    def every(self, name: str) -> list[str]:
        """Return all values of a name of the query."""
        return [value for key, value in self.pairs if key == name]

    def may(self, level: str) -> bool:
        """Return True when the user has a level of access to the model now: `write`, `admin`."""
        if self.found is None:
            return False
        with self.ctx.store.read() as tx:
            return models.may_access(tx, self.ctx.user, self.found, level)

    def command(self, line: str) -> str:
        """Return a command line for a terminal, with the model or controller: from `status --format svg`."""
        word, space, rest = line.partition(" ")
        controller = self.ctx.controller.name
        at = f" -m {controller}:{self.model.qualified}" if self.found else f" -c {controller}"
        return f"pushjuju {word}{at}{space}{rest}"

    @property
    def is_left(self) -> bool:
        """Return True when work of the model is due, and no process does it."""
        if self.found is None:
            return False
        with self.ctx.read(self.found.uuid) as tx:
            return machine_work.is_left(self.ctx, tx)

    @property
    def unworked(self) -> tuple[str, str, str] | None:
        """Return a sentence, a command, and where to type it, when others may work the model but do not."""
        found = pools.unworked(self.ctx, self.found.uuid) if self.found is not None else None
        if found is None:
            return None
        text, (command, _, where) = found[0], found[1].partition("    ")
        return f"{text[0].upper()}{text[1:]}.", command, where


class File(NamedTuple):
    """A file to download."""

    name: str
    text: str


@value(frozen=True, slots=True, kw_only=True)
class Content:
    """What a page shows."""

    title: str
    command: str  # the command line that shows the same in a terminal, or empty when no command does
    values: Mapping[str, Any]
    document: Callable[[], Any]  # returns the data of the command, for clients that ask for JSON
    crumbs: tuple[tuple[str, str], ...] = ()  # (name, address) of the pages above a page of a model
    file: File | None = None  # what is downloaded instead of the page


Read = Callable[[Visit], Content]


@value(frozen=True, slots=True, kw_only=True)
class Page:
    path: str  # the address below `/ui`, with parts in braces
    template: str
    read: Read
    # True when the page changes with rows that the journal of changes leaves out: log, runs, work
    writes: bool = False


class NoModel(NotFound):
    """The model of a page does not exist, or the user may not read the model."""


def model_of(ctx: Context, owner: str, name: str) -> Model:
    """Return a model that the user may read.

    Raises:
        NoModel: The model does not exist, or the user may not read it; the message is the same.
    """
    with ctx.store.read() as tx:
        for found in models.listed(tx):
            if (found.owner, found.name) == (owner, name) and models.may_access(tx, ctx.user, found, "read"):
                return found
    raise NoModel(f"there is no model {owner}/{name}, or you may not see it")


def visit_of(ctx: Context, user: str, request: web.Request) -> Visit:
    """Return a request as pages need it.

    Raises:
        NotFound: The user may not read the model of the address, or the model does not exist.
    """
    ctx, path = replace(ctx, user=user), dict(request.match_info)
    found = model_of(ctx, path["owner"], path["model"]) if "model" in path else None
    return Visit(
        ctx=ctx, found=found, path=path, query=dict(request.query), pairs=tuple(request.query.items())
    )


def may_see(ctx: Context, user: str, request: web.Request) -> bool:
    """Return True when a user may read the model of a request's address."""
    try:
        visit_of(ctx, user, request)
    except NotFound:
        return False
    return True
