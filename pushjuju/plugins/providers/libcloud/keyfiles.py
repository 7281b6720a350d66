"""Reads key files of Google's service accounts. Standard library only."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from pushjuju.core.errors import NotValid

_NEEDED = ("client_email", "private_key", "project_id")


def read(value: str) -> Mapping[str, str]:
    """Return the fields of a key file, for its path or its text.

    Raises:
        NotValid: The file is not a private key; the message never quotes the file.
    """
    try:
        text = value if value.lstrip().startswith("{") else Path(value).expanduser().read_text()
        found = json.loads(text)
    except (OSError, ValueError):
        found = None
    if not isinstance(found, dict) or found.get("type", "service_account") != "service_account":
        raise NotValid(
            "not a key file of a service account",
            hint="gcloud iam service-accounts keys create key.json --iam-account=...",
        )
    missing = [name for name in _NEEDED if not found.get(name)]
    if missing:
        raise NotValid(f"a key file without {', '.join(missing)}")
    return found
