"""The hook tools by name, and modules that are imported when they are first needed."""

from __future__ import annotations

from pushjuju.portable.jsontext import loads
from pushjuju.runner.remote.base import layout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Registry(dict):  # type: ignore[type-arg]
    """Hook tools by name; the first use of a tool imports the module of its family."""

    def __init__(self, families: dict[str, str]) -> None:
        super().__init__(dict.fromkeys(families))
        self._families = families

    def __getitem__(self, name: str) -> Any:
        tool = super().__getitem__(name)
        if tool is None:
            tool = self._import(name)
        return tool

    def get(self, name: str, default: Any = None) -> Any:
        """Return a tool, importing its family."""
        return self[name] if name in self else default

    def _import(self, name: str) -> Any:
        module = import_module(self._families[name])
        for known, tool in module.TOOLS.items():
            if self._families.get(known) == self._families[name]:  # another family may have the name, too
                self[known] = tool
        return super().__getitem__(name)


def import_module(name: str) -> Any:
    """Return a module by its dotted name; importlib itself is slower than the modules imported here."""
    module = __import__(name)
    for part in name.split(".")[1:]:
        module = getattr(module, part)
    return module


def load_registry(program: str) -> Registry:
    """Return the hook tools that were pushed with the program."""
    text = layout.read_text(program + "/tools.json", "{}")
    families = loads(text)
    return Registry({str(name): str(module) for name, module in families.items()})
