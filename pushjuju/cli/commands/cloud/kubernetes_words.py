"""What the commands about Kubernetes share."""

from __future__ import annotations

from pushjuju.cli.syntax import flags

REASON = "machines only, no Kubernetes"

SHARED = (*flags.CLIENT_OR_CONTROLLER, *flags.LOGIN)
