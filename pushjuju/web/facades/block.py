"""Block: disabled commands. Mirrors: juju apiserver/facades/client/block (3.6)"""

from __future__ import annotations

from dataclasses import dataclass

from pushjuju.core.errors import NotValid
from pushjuju.services.entities.basis.blocks import CHANGE, DESTROY, REMOVE
from pushjuju.services.requests.model import blocks
from pushjuju.services.views.listings import blocks as listing
from pushjuju.web.call import each
from pushjuju.web.errors import ErrorResult
from pushjuju.web.registry import Facade, Needs, facade, method
from pushjuju.web.shapes.common import Results

_NAMES = {"BlockDestroy": DESTROY, "BlockRemove": REMOVE, "BlockChange": CHANGE}


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockSwitch:
    """A set of commands, named by its block in Juju."""

    type: str = ""
    message: str = ""


@facade("Block")
class Block(Facade):
    """The disabled commands of the model."""

    @method(Needs.READ)
    def list(self) -> Results:
        """Return the disabled sets of commands."""
        found: list[dict[str, object]] = []
        for entry in listing.of_model(self.ctx, self.model):
            name = block_name(entry["command-set"])
            about = {
                "id": name,
                "tag": f"model-{self.model}",
                "type": name,
                "message": entry.get("message", ""),
            }
            found.append({"result": about})
        return {"results": found}

    @method(Needs.WRITE, changes=True)
    def switch_block_on(self, params: BlockSwitch) -> ErrorResult:
        """Disable a set of commands."""
        return each(lambda: blocks.disable(self.ctx, self.model, _set(params.type), params.message))

    @method(Needs.WRITE, changes=True)
    def switch_block_off(self, params: BlockSwitch) -> ErrorResult:
        """Enable a set of commands again."""
        return each(lambda: blocks.enable(self.ctx, self.model, _set(params.type)))


def block_name(commands: str) -> str:
    """Return Juju's name of the block of a set of commands: `BlockDestroy`."""
    return {word: name for name, word in _NAMES.items()}[commands]


def _set(name: str) -> str:
    if name not in _NAMES:
        raise NotValid(f'unknown block type "{name}"')
    return _NAMES[name]
