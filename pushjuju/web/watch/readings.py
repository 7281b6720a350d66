"""The answers of watchers that do not watch whole models: summaries, progress of actions, plain signals."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING

from pushjuju.core.clock import to_iso
from pushjuju.services.entities.action import actions
from pushjuju.services.entities.model import models
from pushjuju.services.views.listings.model_summary import summary
from pushjuju.web import messages

if TYPE_CHECKING:
    from pushjuju.services.entities.basis.context import Context


def sign(_ctx: Context, _models: Collection[str] | None) -> messages.Encoded:
    """Return an empty answer, which means that something has changed."""
    return messages.Encoded("{}")


class Progress:
    """The messages that an action has logged since the last answer, as JSON."""

    def __init__(self, model: str, task: int) -> None:
        self._model = model
        self._task = task
        self._last = 0
        self._begun = False

    def __call__(self, ctx: Context, _models: Collection[str] | None) -> messages.Encoded | None:
        """Return the new messages, or None without new messages; the first call always returns an answer.

        Raises:
            NotFound: The model has no such action.
        """
        with ctx.read(self._model) as tx:
            actions.get_task(tx, self._task)
            lines = actions.log(tx, self._task, self._last)
        if not lines and self._begun:
            return None
        self._begun = True
        self._last = lines[-1].id if lines else self._last
        found = [messages.dumped({"timestamp": to_iso(line.time), "message": line.message}) for line in lines]
        return messages.Encoded(messages.dumped({"watcher-id": "", "changes": found}))


class Summaries:
    """The summaries of the models that a user may see, when they differ from the last answer."""

    def __init__(self, user: str, *, every: bool) -> None:
        self._user = user
        self._every = every
        self._told: dict[str, str] = {}

    def __call__(self, ctx: Context, changed: Collection[str] | None) -> messages.Encoded | None:
        """Return the changed summaries, or None without changes; the first call always returns an answer."""
        ctx = replace(ctx, user=self._user)
        first, now = changed is None and not self._told, self._read(ctx, changed)
        found = [text for uuid, text in now.items() if self._told.get(uuid) != text]
        gone = [uuid for uuid in self._told if uuid not in now and (changed is None or uuid in changed)]
        self._told.update(now)
        for uuid in gone:
            del self._told[uuid]
            found.append(messages.dumped({"uuid": uuid, "removed": True}))
        return messages.Encoded('{"models":[' + ",".join(found) + "]}") if found or first else None

    def _read(self, ctx: Context, wanted: Collection[str] | None) -> dict[str, str]:
        with ctx.store.read() as tx:
            return {
                model.uuid: messages.dumped(summary(ctx.of(tx, model.uuid), model, ctx.controller.name))
                for model in models.listed(tx)
                if (wanted is None or model.uuid in wanted)
                and (self._every or models.may_access(tx, ctx.user, model, "read"))
            }
