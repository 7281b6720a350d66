"""add-k8s: adds a Kubernetes endpoint and credential to Juju. Mirrors: juju cmd/juju/caas (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.cloud.kubernetes_words import REASON, SHARED
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.refusing import refused

add_k8s = refused(
    "add-k8s",
    REASON,
    usage="<k8s name>",
    summary="Adds a Kubernetes endpoint and credential to Juju.",
    flags=(
        *SHARED,
        flags.text("cluster-name", "Cluster of the kubeconfig to import"),
        flags.text("context-name", "Context of the kubeconfig to import"),
        flags.text("region", "Region, or cloud/region, of the cluster"),
        flags.text("cloud", "Cloud in which the cluster runs"),
        flags.text("storage", "Storage class for workload storage"),
        flags.switch("skip-storage", "Use no storage"),
        flags.text("credential", "Credential to use for the cluster"),
    ),
)
