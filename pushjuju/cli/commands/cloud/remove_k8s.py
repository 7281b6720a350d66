"""remove-k8s: removes a Kubernetes cloud from Juju. Mirrors: juju cmd/juju/caas (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.cloud.kubernetes_words import REASON, SHARED
from pushjuju.cli.syntax.refusing import refused

remove_k8s = refused(
    "remove-k8s", REASON, usage="<k8s name>", summary="Removes a Kubernetes cloud from Juju.", flags=SHARED
)
