"""The tool credential-get: the model's cloud credential, for trusted applications.

Mirrors: juju worker/uniter/runner/jujuc/credential-get.go (3.6)
"""

from __future__ import annotations

from pushjuju.runner.remote.toolkit import SMART, Args, Struct, Tool, ToolContext, ToolError, check_empty

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# The name in JSON, the name in YAML, and the value that YAML shows when the field is empty.
_FIELDS: tuple[tuple[str, str, Any], ...] = (
    ("type", "type", ""),
    ("name", "name", ""),
    ("region", "region", ""),
    ("endpoint", "endpoint", ""),
    ("identity-endpoint", "identityendpoint", ""),
    ("storage-endpoint", "storageendpoint", ""),
    ("credential", "credential", None),
    ("cacertificates", "cacertificates", []),
    ("skip-tls-verify", "skiptlsverify", False),
    ("is-controller-cloud", "iscontrollercloud", False),
)
_CREDENTIAL_FIELDS: tuple[tuple[str, str, Any], ...] = (
    ("auth-type", "authtype", ""),
    ("attrs", "attributes", {}),
    ("redacted", "redacted", []),
)


def _json(spec: dict[str, object], fields: Any) -> Struct:
    """Return the fields that are set, and the cloud's first two fields and the credential's type always."""
    return Struct((name, spec[name]) for name, _, _ in fields if spec.get(name))


def _yaml(spec: dict[str, object], fields: Any) -> Struct:
    return Struct((other, spec.get(name) or empty) for name, other, empty in fields)


def _credential_get(ctx: ToolContext, args: Args) -> Struct:
    check_empty(args.positional)
    spec = ctx.context.get("credential")
    if not spec and ctx.context.get("trusted"):
        spec = ctx.ask_data("credential-get", [])  # the snapshot does not contain the credential
    if not spec:
        raise ToolError("cannot access cloud credentials: permission denied")
    render = _json if args.format == "json" else _yaml
    answer = render(spec, _FIELDS)
    if spec.get("credential"):
        answer["credential"] = render(spec["credential"], _CREDENTIAL_FIELDS)
    return answer


TOOLS = {
    "credential-get": Tool(
        "credential-get",
        _credential_get,
        summary="Access cloud credentials.",
        details="Only trusted applications (deploy --trust) have access.",
        formats=SMART,
    )
}
