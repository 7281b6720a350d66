"""Hook tools of Juju that pushjuju does not support yet: each of them refuses with a reason.

When a tool is missing, some charm libraries fall back to older behaviour. So the tools exist on the machine,
and say why they refuse.
"""

from __future__ import annotations

from pushjuju.runner.remote.toolkit import Args, Tool, ToolContext, ToolError

_NAMES = (
    "k8s-raw-get", "k8s-raw-set", "k8s-spec-get", "k8s-spec-set", "pod-spec-get",
    "pod-spec-set",
)  # fmt: skip


def _refusal(name: str) -> Tool:
    def refuse(_: ToolContext, __: Args) -> None:
        raise ToolError("%s is not supported yet by pushjuju" % name)

    return Tool(name, refuse, summary="Not supported yet by pushjuju.", parsed=False)


TOOLS = {name: _refusal(name) for name in _NAMES}
