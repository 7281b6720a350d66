"""Compares answers of the API with jujulib's TypeScript interfaces, which are made from Juju's schema."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

_INTERFACE = re.compile(r"^export interface (\w+) \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r'^    (?:"([^"]+)"|(\w+))(\?)?: (.+);$', re.MULTILINE)
_METHOD = re.compile(r"^    (\w+)\(params: [^)]*\): Promise<(.+)>;$", re.MULTILINE)
_ANYTHING = ("any", "AdditionalProperties")  # what Juju's code declares as interface{}
_DELTA = "[string, string, unknown]"
_MAY_BE_NULL = ("last-connection", "since")  # a time that Juju's code declares as a pointer
_SIMPLE: dict[str, tuple[type, ...]] = {"string": (str,), "number": (int, float), "boolean": (bool,)}


@dataclass(frozen=True)
class Interfaces:
    """The interfaces of one facade.

    Attributes:
        fields: Interface -> field -> (type, whether the field may be missing).
        results: Method -> type of its result.
    """

    fields: dict[str, dict[str, tuple[str, bool]]]
    results: dict[str, str]

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read the declarations of a facade."""
        text = path.read_text()
        found = {
            name: {
                quoted or plain: (kind, bool(optional))
                for quoted, plain, optional, kind in _FIELD.findall(body)
            }
            for name, body in _INTERFACE.findall(text)
        }
        return cls(found, dict(_METHOD.findall(text)))

    def faults(self, method: str, result: Any) -> list[str]:
        """Return how the result of a method differs from its interface, one text each."""
        return [*self._of_type(self.results[method], result, method)]

    def _of_type(self, kind: str, value: Any, where: str) -> Iterator[str]:
        if kind in _ANYTHING or (kind == _DELTA and isinstance(value, list) and len(value) == 3):
            return
        if kind.endswith("[]"):
            if not isinstance(value, list):
                yield f"{where}: {value!r} is no list"
                return
            for number, item in enumerate(value):
                yield from self._of_type(kind[:-2], item, f"{where}[{number}]")
        elif record := re.fullmatch(r"Record<string, (.+)>", kind):
            if not isinstance(value, dict):
                yield f"{where}: {value!r} is no object"
                return
            for key, item in value.items():
                yield from self._of_type(record[1], item, f"{where}.{key}")
        elif kind in _SIMPLE:
            if not isinstance(value, _SIMPLE[kind]) or (kind == "number" and isinstance(value, bool)):
                yield f"{where}: {value!r} is no {kind}"
        else:
            yield from self._of_interface(kind, value, where)

    def _of_interface(self, kind: str, value: Any, where: str) -> Iterator[str]:
        if not isinstance(value, dict):
            yield f"{where}: {value!r} is no {kind}"
            return
        for name, (inner, optional) in self.fields[kind].items():
            if name in _MAY_BE_NULL and value.get(name, "") is None:
                continue
            if name in value:
                yield from self._of_type(inner, value[name], f"{where}.{name}")
            elif not optional:
                yield f"{where}.{name} is missing"
