"""Shared by the commands about Kubernetes."""

from __future__ import annotations

from pushjuju.cli.syntax import flags

REASON = "machines only, no Kubernetes"

SHARED = (*flags.CLIENT_OR_CONTROLLER, *flags.LOGIN)
