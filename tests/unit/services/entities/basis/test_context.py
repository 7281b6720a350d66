"""The transactions of a context."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest

from pushjuju.core.errors import StoreAway
from tests.world.controller import TestController


class Away:
    """The clock of a server that is away."""

    def now(self) -> datetime:
        raise StoreAway("the server does not answer")


@pytest.mark.parametrize("kind", ["read", "write"])
def test_a_transaction_without_a_clock_ends(runtime: TestController, kind: str) -> None:
    ctx = replace(runtime.ctx, clock=Away())
    with pytest.raises(StoreAway), getattr(ctx, kind)(runtime.model):
        pass
    with runtime.ctx.write(runtime.model) as tx:
        assert tx.model == runtime.model
