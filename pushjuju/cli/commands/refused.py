"""Juju's commands that pushjuju refuses: each takes Juju's flags and says why it does nothing.

Mirrors: juju cmd/juju/{application,caas,cloud,controller,model,user} (3.6)
"""

from __future__ import annotations

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.gnuflag import Kind
from pushjuju.cli.syntax.refusing import refused

_BRANCHES = "branches are no part of Juju 3.6 unless a feature flag is set"
_KUBERNETES = "machines only, no Kubernetes"
_MODEL = flags.IN_MODEL
_CLOUD = flags.CLIENT_OR_CONTROLLER
_UTC = flags.switch("utc", "Display time as UTC in RFC3339 format")

add_branch = refused(
    "add-branch", _BRANCHES, usage="<branch name>", summary="Adds a new branch to the model.", flags=_MODEL
)

branch = refused(
    "branch",
    _BRANCHES,
    usage="[<branch name>]",
    summary="Work on the active branch or switch to another.",
    flags=_MODEL,
)

track = refused(
    "track",
    _BRANCHES,
    usage="<branch name> <entities> ...",
    summary="Set units and/or applications to realize changes made under the target branch.",
    flags=(*_MODEL, flags.number("n", "Number of units to track")),
)

commit = refused(
    "commit", _BRANCHES, usage="<branch name>", summary="Commits a branch to the model.", flags=_MODEL
)

abort = refused(
    "abort", _BRANCHES, usage="<branch name>", summary="Aborts a branch in the model.", flags=_MODEL
)

diff = refused(
    "diff",
    _BRANCHES,
    usage="<branch name>",
    summary="Displays details of active branches.",
    formats=("yaml", "json"),
    flags=(*_MODEL, _UTC, flags.switch("all", "Show per-unit branch-tracking detail")),
)

commits = refused(
    "commits",
    _BRANCHES,
    summary="Lists commits history.",
    aliases=("list-commits",),
    formats=("tabular", "yaml", "json"),
    flags=(*_MODEL, _UTC),
)

show_commit = refused(
    "show-commit",
    _BRANCHES,
    usage="<commit number>",
    summary="Displays details of the commit.",
    formats=("yaml", "json"),
    flags=(*_MODEL, _UTC),
)

add_k8s = refused(
    "add-k8s",
    _KUBERNETES,
    usage="<k8s name>",
    summary="Adds a Kubernetes endpoint and credential to Juju.",
    flags=(
        *_CLOUD,
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
    _KUBERNETES,
    usage="<k8s name>",
    summary="Updates an existing Kubernetes endpoint used by Juju.",
    flags=(*_CLOUD, flags.text("file", "YAML file with the definition", short="f")),
)

remove_k8s = refused(
    "remove-k8s",
    _KUBERNETES,
    usage="<k8s name>",
    summary="Removes a Kubernetes cloud from Juju.",
    flags=_CLOUD,
)

scale_application = refused(
    "scale-application",
    "only for Kubernetes models; machines have add-unit and remove-unit",
    usage="<application> <scale>",
    summary="Set the desired number of k8s application units.",
    flags=_MODEL,
)

enable_ha = refused(
    "enable-ha",
    "several daemons over one PostgreSQL store take the place of controller machines",
    summary="Ensures that sufficient controllers exist to provide redundancy.",
    at_most=0,
    formats=("simple", "yaml", "json"),
    flags=(
        *flags.AT_CONTROLLER,
        flags.number("n", "Number of controllers to make available"),
        flags.text("to", "The machines to become controllers"),
        flags.many("constraints", "Additional machine constraints", kind=Kind.CONSTRAINTS, default=""),
    ),
)

dump_model = refused(
    "dump-model",
    "a command for developers of Juju; export-bundle shows what is in a model",
    summary="Displays the database agnostic representation of the model.",
    at_most=0,
    formats=("yaml", "json"),
    flags=(*_MODEL, flags.switch("simplified", "Dump a simplified partial model")),
)

dump_db = refused(
    "dump-db",
    "a command for developers of Juju; the store is one SQLite file, which create-backup copies",
    summary="Displays the mongo documents of the model.",
    at_most=0,
    formats=("yaml", "json"),
    flags=_MODEL,
)

migrate = refused(
    "migrate",
    "two stores cannot exchange a model yet",
    usage="<model-name> <target-controller-name>",
    summary="Migrate a workload model to another controller.",
    at_least=(2, "target controller not specified"),
    at_most=2,
    flags=(*flags.LOGIN, flags.switch("dry-run", "Validate the migration only")),
)
