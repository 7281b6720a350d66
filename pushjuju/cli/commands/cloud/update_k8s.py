"""update-k8s: updates an existing Kubernetes endpoint used by Juju. Mirrors: juju cmd/juju/caas (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.cloud.kubernetes_words import REASON, SHARED
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.refusing import refused

update_k8s = refused(
    "update-k8s",
    REASON,
    usage="<k8s name>",
    summary="Updates an existing Kubernetes endpoint used by Juju.",
    flags=(*SHARED, flags.text("file", "YAML file with the definition", short="f")),
)
