"""Words for Kubernetes, where pushjuju does not go. Mirrors: juju cmd/juju/caas (3.6)"""

from __future__ import annotations

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.refusing import refused

_REASON = "machines only, no Kubernetes"
_SHARED = (*flags.CLIENT_OR_CONTROLLER, *flags.LOGIN)

add_k8s = refused(
    "add-k8s",
    _REASON,
    usage="<k8s name>",
    summary="Adds a Kubernetes endpoint and credential to Juju.",
    flags=(
        *_SHARED,
        flags.text("cluster-name", "Cluster of the kubeconfig to import"),
        flags.text("context-name", "Context of the kubeconfig to import"),
        flags.text("region", "Region, or cloud/region, of the cluster"),
        flags.text("cloud", "Cloud in which the cluster runs"),
        flags.text("storage", "Storage class for workload storage"),
        flags.switch("skip-storage", "Use no storage"),
        flags.text("credential", "Credential to use for the cluster"),
    ),
)
update_k8s = refused(
    "update-k8s",
    _REASON,
    usage="<k8s name>",
    summary="Updates an existing Kubernetes endpoint used by Juju.",
    flags=(*_SHARED, flags.text("file", "YAML file with the definition", short="f")),
)
remove_k8s = refused(
    "remove-k8s", _REASON, usage="<k8s name>", summary="Removes a Kubernetes cloud from Juju.", flags=_SHARED
)
scale_application = refused(
    "scale-application",
    "only for Kubernetes models; machines have add-unit and remove-unit",
    usage="<application> <scale>",
    summary="Set the desired number of k8s application units.",
    flags=(*flags.MODEL, *flags.LOGIN),
)
