"""The requests of `dashboard --link` and `metrics token`."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from pushjuju.core.errors import NotFound, NotPermitted, NotValid
from pushjuju.services.entities.basis import passwords, users
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.basis.passwords import Purpose
from pushjuju.services.requests.user import registration_string
from pushjuju.store.tx import Tx

LINK_MINUTES = 10
_LOCAL = ("127.0.0.1:", "[::1]:")


def make_link(ctx: Context, name: str, dashboard: str = "") -> str:
    """Return the address of a page that logs a browser in once.

    Args:
        dashboard: `HOST:PORT` of a dashboard on this computer; empty for this controller's API server.
    """
    place = f"http://{dashboard}" if dashboard else f"https://{_api_host(ctx)}"
    with ctx.change_controller() as tx:
        _require_superuser(ctx, tx)
        _require_enabled(tx, name)
        now = ctx.clock.now()
        until = now + timedelta(minutes=LINK_MINUTES)
        token = passwords.make_token(tx, Purpose.LINK, name, now=now, until=until)
    return f"{place}/ui/enter?token={token}"


def check_user(ctx: Context, name: str) -> None:
    """Check that a user may log in to pages.

    Raises:
        NotFound: There is no such user.
        NotValid: The user is disabled.
    """
    with ctx.store.read() as tx:
        _require_enabled(tx, name)


def _require_enabled(tx: Tx, name: str) -> None:
    users.require(tx, name)
    if not users.is_enabled(tx, name):
        raise NotValid(f'user "{name}" is disabled', hint=f"pushjuju enable-user {name}")


def _api_host(ctx: Context) -> str:
    known = registration_string.addresses(ctx)
    if not known:
        raise NotFound(
            "the API of this controller was never served, so no link leads there", hint="pushjuju api"
        )
    return next((item for item in known if not item.startswith(_LOCAL)), known[0])


def follow_link(ctx: Context, token: str) -> str:
    """Return the user of a link, which works no more; empty when the link is wrong, used or too old."""
    with ctx.store.read() as tx:  # wrong links write nothing
        if not (found := passwords.token_holder(tx, Purpose.LINK, token, now=ctx.clock.now())):
            return ""
    with replace(ctx, user=found).change_controller() as tx:
        return found if passwords.use_up_token(tx, token) else ""


def make_metrics_token(ctx: Context) -> str:
    """Return a new token with which a program reads the metrics, with the rights of the caller."""
    with ctx.change_controller() as tx:
        _require_superuser(ctx, tx)
        return passwords.make_token(tx, Purpose.METRICS, ctx.user, now=ctx.clock.now())


def revoke_metrics_tokens(ctx: Context) -> int:
    """End all tokens of the caller that read metrics; return how many there were."""
    with ctx.change_controller() as tx:
        return tx.run("token_delete_of", purpose=Purpose.METRICS, person=ctx.user)


def metrics_reader(ctx: Context, token: str) -> str:
    """Return the user of a token that reads metrics; empty when the token is wrong."""
    with ctx.store.read() as tx:
        return passwords.token_holder(tx, Purpose.METRICS, token, now=ctx.clock.now())


def _require_superuser(ctx: Context, tx: Tx) -> None:
    if users.effective_level(tx, ctx.user, users.Kind.CONTROLLER) != "superuser":
        raise NotPermitted(f'user "{ctx.user}" is no superuser of the controller')
