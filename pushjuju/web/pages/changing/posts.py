"""What a form asks for: its plan, or the change itself."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import replace

from pushjuju.core.errors import NotFound, NotValid
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.model import models
from pushjuju.store.rows.records import Application
from pushjuju.web import access
from pushjuju.web.api import Api
from pushjuju.web.call import is_superuser
from pushjuju.web.login import LoggedIn
from pushjuju.web.pages.changing import plans, typed
from pushjuju.web.pages.changing.changes import CHANGES, WAS, Change, Fields
from pushjuju.web.pages.changing.noted import noted
from pushjuju.web.pages.visit import Content, Visit

_AT_ONCE = 2  # plans that are made at the same time
_SEEN = "mark"  # field: the mark of the plan that the person has seen


class Posts:
    """Answers the forms of one server."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._room = asyncio.Semaphore(_AT_ONCE)

    async def answer(
        self, visit: Visit, entered: LoggedIn, form: Mapping[str, str], *, apply: bool
    ) -> Content | None:
        """Make a change and return None, or return the page of its plan.

        A change with a plan is made when the plan is still the one that the person has seen; without `apply`,
        nothing is made.

        Raises:
            PushjujuError: The user may not make the change, or the change is refused.
        """
        fields = {name: text for name, text in form.items() if name != _SEEN}
        if fields.get("change") == typed.LINE:
            fields = {"back": fields.get("back", ""), **typed.read(fields.get(typed.LINE, ""))}
        name = fields.get("change", "")
        change = CHANGES.get(name)
        if change is None:
            raise NotFound(f'there is no change "{name}"')
        fields["model"] = f"{visit.ctx.controller.name}:{visit.model.qualified}"
        await self._api.pool.run(lambda ctx: _permit(ctx, entered, change, visit))
        if change.has_plan or not apply:
            only = await self._api.pool.run(lambda ctx: _applications(ctx, entered, visit))
            found = await self._plan(visit, change, fields, only)
            if not apply or found.mark != form.get(_SEEN):
                return _page(visit, change, fields, found, stale=apply)
        await self._api.pool.run(lambda ctx: self._make(ctx, entered, visit, name, fields))
        self._api.changed()
        return None

    async def _plan(
        self, visit: Visit, change: Change, fields: Fields, only: Collection[str] | None
    ) -> plans.Plan:
        words, stdin = change.planned(fields)
        async with self._room:
            return await asyncio.to_thread(plans.make, visit.ctx, visit.model, words, stdin, only)

    def _make(self, ctx: Context, entered: LoggedIn, visit: Visit, name: str, fields: Fields) -> None:
        """Make a change, with lines in the audit log before and after."""
        change = CHANGES[name]
        params = {key: text for key, text in fields.items() if not key.startswith(WAS)}
        with noted(self._api, ctx, entered, visit, name, params) as own:
            _permit(own, entered, change, visit)
            change.act(own, visit.model, fields)


def _permit(ctx: Context, entered: LoggedIn, change: Change, visit: Visit) -> None:
    """Check the user's access now."""
    access.permit(replace(ctx, user=entered.user), change, visit.model.uuid)


def _applications(ctx: Context, entered: LoggedIn, visit: Visit) -> Collection[str] | None:
    """Return the applications of which a plan may tell, or None for a user who may see all models."""
    if is_superuser(replace(ctx, user=entered.user)):
        return None
    with ctx.read(visit.model.uuid) as tx:
        if sum(item.name == visit.model.name for item in models.listed(tx)) > 1:
            raise NotValid(f"several models are named {visit.model.name}: make the change in a terminal")
        return {item.name for item in tx.list(Application, "application_list")}


def _page(visit: Visit, change: Change, fields: Fields, found: plans.Plan, *, stale: bool) -> Content:
    before, line = change.line(fields)
    shown = before + (visit.command(line) if change.in_model else f"pushjuju {line}")
    sent = {name: text for name, text in fields.items() if name != "model"}
    values = {"plan": found.document, "mark": found.mark, "fields": sent, "line": shown, "stale": stale}
    return Content(
        title="What would happen",
        command=before + visit.command(f"plan -- {line}"),
        values=values,
        document=lambda: found.document,
    )
