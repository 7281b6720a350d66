"""scale-application: set the desired number of k8s application units. Mirrors: juju cmd/juju/caas (3.6)"""

from __future__ import annotations

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.refusing import refused

scale_application = refused(
    "scale-application",
    "only for Kubernetes models; machines have add-unit and remove-unit",
    usage="<application> <scale>",
    summary="Set the desired number of k8s application units.",
    flags=(*flags.MODEL, *flags.LOGIN),
)
