"""The requests of disable-command and enable-command. Mirrors: juju apiserver/facades/client/block (3.6)"""

from __future__ import annotations

from pushjuju.core.errors import NotFound, NotValid
from pushjuju.services.entities.basis.blocks import CHANGE, DESTROY, REMOVE
from pushjuju.services.entities.basis.context import Context


def disable(ctx: Context, model: str, name: str, message: str) -> None:
    """Disable a set of commands."""
    with ctx.change(model) as tx:
        if tx.scalar("block_of", type=name) is not None:
            raise NotValid(f"block {_juju_name(name)} is already ON")
        tx.run("block_set", type=name, message=message)


def enable(ctx: Context, model: str, name: str) -> None:
    """Enable a set of commands again."""
    with ctx.change(model) as tx:
        if not tx.run("block_delete", type=name):
            raise NotFound(f"block {_juju_name(name)} is already OFF")


def _juju_name(name: str) -> str:
    return {DESTROY: "BlockDestroy", REMOVE: "BlockRemove", CHANGE: "BlockChange"}[name]


def enable_everywhere(ctx: Context) -> None:
    """Enable all commands in all models of a controller."""
    with ctx.change_controller() as tx:
        tx.run("block_delete_all")
