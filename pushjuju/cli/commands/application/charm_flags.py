"""The flags with which deploy and refresh name a charm."""

from __future__ import annotations

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.gnuflag import Kind

CONFIG = flags.many(
    "config", "Configuration, key=value or a YAML file; repeatable", kind=Kind.KEY_VALUE_OR_FILE, default=""
)
