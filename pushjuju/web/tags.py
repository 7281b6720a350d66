"""Tags: how Juju's clients name entities, `unit-web-0` for `web/0`. Mirrors: juju names (v5)"""

from __future__ import annotations

from urllib.parse import quote as percent
from urllib.parse import unquote

from pushjuju.core.errors import NotValid
from pushjuju.core.ids import is_uuid
from pushjuju.core.storage import is_storage
from pushjuju.portable.quote import quote
from pushjuju.web.errors import denied


def _split(tag: str, kind: str) -> str:
    found, dash, name = tag.partition("-")
    if found != kind or not dash or not name:
        raise NotValid(f"{quote(tag)} is not a valid {kind} tag")
    return name


def kind_of(tag: str) -> str:
    """Return the kind of a tag: `unit` of `unit-web-0`; raise NotValid when the text is not a tag."""
    kind, dash, name = tag.partition("-")
    if not dash or not name or kind not in _READ:
        raise NotValid(f"{quote(tag)} is not a valid tag")
    return kind


def name_of(tag: str) -> str:
    """Return the name of any entity that a tag names; raise NotValid when the text is not a tag."""
    return _READ[kind_of(tag)](tag)


def user(tag: str) -> str:
    """Return the name in a tag of a user; local users have no domain."""
    return _split(tag, "user").removesuffix("@local")


def model(tag: str) -> str:
    """Return the UUID in a tag of a model."""
    name = _split(tag, "model")
    if not is_uuid(name):
        raise NotValid(f"{quote(tag)} is not a valid model tag")
    return name


def model_to_reach(tag: str) -> str:
    """Return the UUID in a tag of a model; the error for a wrong tag is that for missing access."""
    try:
        return model(tag)
    except NotValid:
        raise denied() from None


def application(tag: str) -> str:
    """Return the name in a tag of an application."""
    return _split(tag, "application")


def unit(tag: str) -> str:
    """Return the name in a tag of a unit."""
    name, dash, number = _split(tag, "unit").rpartition("-")
    if not dash or not number.isdigit():
        raise NotValid(f"{quote(tag)} is not a valid unit tag")
    return f"{name}/{number}"


def machine(tag: str) -> str:
    """Return the id in a tag of a machine."""
    return _split(tag, "machine").replace("-", "/")


def storage(tag: str) -> str:
    """Return the id in a tag of storage; libjuju sends `storage-data/0`, a form that Juju accepts, too."""
    name, dash, number = _split(tag, "storage").rpartition("-")
    found = f"{name}/{number}" if dash else number
    if not is_storage(found):
        raise NotValid(f"{quote(tag)} is not a valid storage tag")
    return found


def relation(tag: str) -> str:
    """Return the key in a tag of a relation."""
    return " ".join(part.replace(".", ":", 1) for part in _split(tag, "relation").split("#"))


def cloud(tag: str) -> str:
    """Return the name in a tag of a cloud."""
    return _split(tag, "cloud")


def action(tag: str) -> str:
    """Return the number in a tag of a task."""
    return _split(tag, "action")


def operation(tag: str) -> str:
    """Return the number in a tag of an operation."""
    return _split(tag, "operation")


def space(tag: str) -> str:
    """Return the name in a tag of a space."""
    return _split(tag, "space")


def credential(tag: str) -> tuple[str, str, str]:
    """Return cloud, owner and name in a tag of a credential."""
    parts = [unquote(part) for part in _split(tag, "cloudcred").split("_")]
    if len(parts) != 3 or not all(parts):
        raise NotValid(f"{quote(tag)} is not a valid cloudcred tag")
    return parts[0], parts[1].removesuffix("@local"), parts[2]


def of_credential(cloud: str, owner: str, name: str) -> str:
    """Return the tag of a credential."""
    return "cloudcred-" + "_".join(
        percent(part, safe="@").replace("_", "%5f") for part in (cloud, owner, name)
    )


def of_unit(name: str) -> str:
    """Return the tag of a unit."""
    return "unit-" + name.replace("/", "-")


def of_storage(name: str) -> str:
    """Return the tag of storage."""
    return "storage-" + name.replace("/", "-")


def of_machine(name: str) -> str:
    """Return the tag of a machine."""
    return "machine-" + name.replace("/", "-")


_READ = {
    "action": action, "application": application, "cloud": cloud, "machine": machine, "model": model,
    "operation": operation, "relation": relation, "space": space, "storage": storage, "unit": unit,
    "user": user,
}  # fmt: skip
