"""Names and ids of Juju's entities: one parse function for each. Mirrors: juju/names.

No other module takes a name such as `mysql/0` apart.
"""

from __future__ import annotations

from pushjuju.core.errors import NotValid
from pushjuju.core.values import dataclass, regex
from pushjuju.portable import names

_MACHINE = regex(r"(?:0|[1-9][0-9]*)(?:/[a-z]+/(?:0|[1-9][0-9]*))*")
_ENDPOINT = regex(r"[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*")
_SPACE = regex(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_MODEL = regex(r"[a-z0-9]+[a-z0-9-]*")
_MODEL_MOST = 128
_CONTROLLER = regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_FILE_MOST = 200  # bytes of names in file names on machines, which add a prefix and a suffix
_USER = regex(r"[a-zA-Z0-9](?:[a-zA-Z0-9.+-]*[a-zA-Z0-9])?")


@dataclass(frozen=True, slots=True, order=True)
class UnitName:
    """The name of a unit, `application/number`."""

    application: str
    number: int

    @classmethod
    def parse(cls, text: str) -> UnitName:
        """Read a unit name.

        Raises:
            NotValid: The text is no unit name.
        """
        return cls(application_of(text), int(text.partition("/")[2]))

    @property
    def tag(self) -> str:
        """The tag that files and logs carry: `unit-mysql-0`."""
        return names.unit_tag(str(self))

    def __str__(self) -> str:
        return f"{self.application}/{self.number}"


def is_storage(text: str) -> bool:
    """Return True when a text can name a charm's storage or device, by the rules for application names."""
    return names.is_application(text)


def is_file(text: str) -> bool:
    """Return True when a text can be a file name that is safe to print and to pass to commands."""
    odd = not text.isprintable() or "/" in text or text.startswith((".", "-"))
    return 0 < len(text.encode()) <= _FILE_MOST and not odd


def is_controller(text: str) -> bool:
    """Return True when a text can name a controller."""
    return bool(_CONTROLLER.fullmatch(text))


def is_space(text: str) -> bool:
    """Return True when a text can name a network space."""
    return bool(_SPACE.fullmatch(text))


def is_machine(text: str) -> bool:
    """Return True when a text can be a machine id (`3`, `0/lxd/1`)."""
    return bool(_MACHINE.fullmatch(text))


def is_endpoint(text: str) -> bool:
    """Return True when a text can name an endpoint."""
    return len(text) <= _FILE_MOST and bool(_ENDPOINT.fullmatch(text))


def is_model(text: str) -> bool:
    """Return True when a text can name a model."""
    return len(text) <= _MODEL_MOST and bool(_MODEL.fullmatch(text))


def is_user(text: str) -> bool:
    """Return True when a text can name a local user."""
    return bool(_USER.fullmatch(text))


def application_of(unit: str) -> str:
    """Return the application of a unit.

    Raises:
        NotValid: The text is no unit name.
    """
    if not names.is_unit(unit):
        raise NotValid(f'"{unit}" is not a valid unit name')
    return unit.partition("/")[0]


def unit_tag(unit: str) -> str:
    """Return the tag of a unit: `unit-mysql-0`."""
    return UnitName.parse(unit).tag


def machine_tag(machine: str) -> str:
    """Return the tag of a machine: `machine-0-lxd-1`."""
    return "machine-" + machine.replace("/", "-")


def of_tag(tag: str) -> tuple[str, str]:
    """Return kind and name of the entity of a tag: `unit-web-0` is the unit `web/0`."""
    kind, _, name = tag.partition("-")
    if kind == "unit":
        name = "/".join(name.rsplit("-", 1))
    return kind, name.replace("-", "/") if kind == "machine" else name


def parent_machine(machine: str) -> str | None:
    """Return the machine that holds a container, or None for a plain machine."""
    parts = machine.rsplit("/", 2)
    return parts[0] if len(parts) == 3 else None
