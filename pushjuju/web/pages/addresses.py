"""The addresses of pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote, urlencode

ROOT = "/ui/"


@dataclass(frozen=True, slots=True)
class ModelPages:
    """The addresses of the pages of a model."""

    base: str  # `/ui/m/OWNER/MODEL/`

    @classmethod
    def of(cls, qualified: str) -> ModelPages:
        """Return the addresses for a model, `OWNER/MODEL`."""
        owner, _, name = qualified.rpartition("/")
        return cls(f"{ROOT}m/{_word(owner)}/{_word(name)}/")

    def page(self, name: str = "", **query: str | Sequence[str]) -> str:
        """Return the address of a page of the model: `units`, `log`; empty for the first page."""
        words = urlencode(query, doseq=True)
        return f"{self.base}{name}" + (f"?{words}" if words else "")

    def entity(self, kind: str, name: str) -> str:
        """Return the address of an application, unit, machine, relation or run; empty for other kinds."""
        if kind not in _FOLDERS or not name:
            return ""
        return f"{self.base}{_FOLDERS[kind]}/{quote(name, safe='/')}"

    def of_tag(self, tag: str) -> str:
        """Return the address of the entity of a log line, or empty."""
        kind, _, name = tag.partition("-")
        if kind == "unit":
            application, _, number = name.rpartition("-")
            return self.entity("unit", f"{application}/{number}")
        return self.entity("machine", name.replace("-", "/")) if kind == "machine" else ""

    def of_subject(self, subject: str) -> str:
        """Return the address of the subject of an explanation, or empty."""
        kind, space, name = subject.partition(" ")
        if space:
            return self.entity(kind, name)
        return self.entity("unit" if "/" in subject else "application", "" if subject == "model" else subject)


_FOLDERS = {"application": "a", "unit": "u", "machine": "machine", "run": "op", "relation": "relation"}


def _word(text: str) -> str:
    return quote(text, safe="@")


def is_page(address: str) -> bool:
    """Return True for the address of a page, to go on with after a form."""
    return address.startswith(ROOT) and "\\" not in address and address.isprintable()
