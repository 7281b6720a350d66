"""Lines in the audit log about what a page changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from pushjuju.services.entities.basis.audit import Caller
from pushjuju.services.entities.basis.context import Context
from pushjuju.web.api import Api
from pushjuju.web.audit import Speaker, answering
from pushjuju.web.login import LoggedIn
from pushjuju.web.pages.visit import Visit
from pushjuju.web.pool import PEER


@contextmanager
def noted(
    api: Api, ctx: Context, entered: LoggedIn, visit: Visit, name: str, params: Mapping[str, str]
) -> Iterator[Context]:
    """Write a line before and after the block; yield the controller as the user whose change the block makes.

    Args:
        name: The name of the change: `config`, `attach-resource`.
    """
    model = visit.model
    said = Speaker(user=entered.user, what="dashboard", model=model.uuid, model_name=model.qualified)
    with api.audit(ctx).conversation(said).request(1, f"Dashboard.{name}", 1, params):
        caller = Caller(
            door="dashboard", command=name, host=PEER.get(), verified=entered.proved, env=ctx.environ
        )
        caller.course.model = model.qualified, model.uuid
        with answering(replace(ctx, user=entered.user, caller=caller)) as own:
            yield own
