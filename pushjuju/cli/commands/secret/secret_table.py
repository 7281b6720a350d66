"""Formats secrets and their backends. Pure.

Mirrors: juju cmd/juju/secrets/list.go, cmd/juju/secretbackends/list.go (3.6)
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pushjuju.cli.terminal.output import render
from pushjuju.cli.terminal.table import TabWriter
from pushjuju.cli.terminal.times import friendly, rfc3339, with_texts
from pushjuju.portable.gotypes import Moment, Struct

_LONGEST = 80


def secrets(form: str, document: Mapping[str, Any]) -> str:
    """Return secrets (id -> secret) as yaml or json; only json has the content in a map `Data`."""
    told = with_texts(dict(document), lambda moment: Moment(rfc3339(moment)))
    return render(form, {secret: _struct(entry, form) for secret, entry in told.items()})


def _struct(entry: Mapping[str, Any], form: str) -> Struct:
    """Return a secret with its keys in Juju's order."""
    order = (
        "revision", "checksum", "expires", "rotation", "rotates", "owner", "description", "name", "label",
        "created", "updated", "error", "content", "revisions", "access",
    )  # fmt: skip
    found = {key: entry[key] for key in order if key in entry}
    if "content" in found and form == "json":
        found["content"] = {"Data": found["content"]}
    for key in ("revisions", "access"):
        if key in found:
            found[key] = [Struct(item) for item in found[key]]
    return Struct(found)


def table(document: Mapping[str, Any], now: datetime) -> str:
    """Return the table of `secrets`, sorted by owner, then by number of changes, largest first."""
    writer = TabWriter(right=(4,))
    writer.row("ID", "Name", "Owner", "Rotation", "Revision", "Last updated")
    listed = sorted(document.items(), key=lambda item: (item[1]["owner"], -item[1]["revision"], item[0]))
    for secret, entry in listed:
        name, rotation = entry.get("name", "-"), entry["rotation"]
        age = friendly(entry["updated"], now)
        writer.closed(secret, name, entry["owner"], rotation, str(entry["revision"]), age)
    return writer.text()


def backends(form: str, document: Mapping[str, Any]) -> str:
    """Return backends (name -> backend) as yaml or json."""
    return render(form, {name: Struct(entry) for name, entry in document.items()})


def backends_table(document: Mapping[str, Any]) -> str:
    """Return the table of `secret-backends`."""
    writer = TabWriter(right=(2,))
    writer.row("Name", "Type", "Secrets", "Message")
    for name, entry in sorted(document.items(), key=lambda item: (item[1]["backend"], item[0])):
        text = entry.get("message", "")
        if entry["status"] != "active":
            text = f"{entry['status']}: {text}"
        short = text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
        writer.closed(name, entry["backend"], str(entry["secrets"]), short)
    return writer.text()
