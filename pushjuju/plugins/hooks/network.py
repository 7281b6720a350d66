"""The tools unit-get and network-get: addresses of the unit, by binding.

Mirrors: juju worker/uniter/runner/jujuc/{unit-get,network-get}.go, core/network (3.6)
"""

from __future__ import annotations

from pushjuju.runner.remote.toolkit import (
    SMART,
    Args,
    Flag,
    Struct,
    Tool,
    ToolContext,
    ToolError,
    check_empty,
    quote,
    relation_flag,
    relation_id,
    usage_error,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_KEYS = ("bind-address", "ingress-address", "egress-subnets")


# --- unit-get -------------------------------------------------------------------------------------


def _unit_get(ctx: ToolContext, args: Args) -> str:
    if not args.positional:
        raise usage_error("no setting specified")
    setting = args.take()
    if setting not in ("private-address", "public-address"):
        raise usage_error("unknown setting %s" % quote(setting))
    check_empty(args.positional)
    address = ctx.context.get("network", {}).get(setting.replace("-", "_"))
    if not address:
        raise ToolError(setting.replace("-", " ") + " not found")
    return str(address)


# --- network-get ----------------------------------------------------------------------------------


def _network(ctx: ToolContext, binding: str, wanted: int | None) -> dict[str, object]:
    """Return the network of a binding; a relation may replace some of its values."""
    network = ctx.context.get("network", {})
    found = network.get("bindings", {}).get(binding)
    if not found:
        raise ToolError("no network config found for binding %s" % quote(binding))
    if wanted is None:
        return dict(found)
    return dict(found, **(network.get("relations", {}).get(str(wanted)) or {}))


def _bind_address(network: dict[str, Any], binding: str) -> str:
    for device in network.get("bind-addresses") or ():
        for address in device.get("addresses") or ():
            return str(address["value"])
    raise ToolError("no addresses attached to space for binding %s" % quote(binding))


def _scalars(network: dict[str, Any], binding: str, asked: list[str]) -> dict[str, object]:
    answer: dict[str, object] = {}
    if "bind-address" in asked:
        answer["bind-address"] = _bind_address(network, binding)
    if "ingress-address" in asked:
        ingress = network.get("ingress-addresses") or [_bind_address(network, binding)]
        answer["ingress-address"] = ingress[0]
    if "egress-subnets" in asked:
        answer["egress-subnets"] = list(network.get("egress-subnets") or ())
    return answer


def _device(device: dict[str, Any], old_names: bool) -> Struct:
    """Return the fields of a device in Juju's order; YAML also has them under their old names."""
    addresses = []
    for known in device.get("addresses") or ():
        address = Struct((name, known.get(name) or "") for name in ("hostname", "value", "cidr"))
        if old_names:
            address["address"] = address["value"]
        addresses.append(address)
    mac, name = device.get("mac-address") or "", device.get("interface-name") or ""
    answer = Struct([("mac-address", mac), ("interface-name", name), ("addresses", addresses)])
    if old_names:
        answer["macaddress"], answer["interfacename"] = mac, name
    return answer


def _full(network: dict[str, Any], old_names: bool) -> Struct:
    devices = [_device(device, old_names) for device in network.get("bind-addresses") or ()]
    lists = (
        ("bind-addresses", devices),
        ("egress-subnets", list(network.get("egress-subnets") or ())),
        ("ingress-addresses", list(network.get("ingress-addresses") or ())),
    )
    return Struct((name, items) for name, items in lists if items)


def _binding(args: Args) -> str:
    if not args.positional:
        raise usage_error("no arguments specified")
    binding = args.take()
    if not binding:
        raise usage_error("no binding name specified")
    check_empty(args.positional)
    return binding


def _network_get(ctx: ToolContext, args: Args) -> Any:
    binding = _binding(args)
    asked = [key for key in _KEYS if args[key]]
    if args["primary-address"] and asked:
        raise ToolError("--primary-address must be the only flag specified")
    network = _network(ctx, binding, relation_id(ctx, args))
    if args["primary-address"]:
        return _bind_address(network, binding)
    if not asked:
        return _full(network, old_names=args.format != "json")
    answer = _scalars(network, binding, asked)
    return answer[asked[0]] if len(asked) == 1 else answer


TOOLS = {
    "unit-get": Tool(
        "unit-get",
        _unit_get,
        usage="<setting>",
        summary="Print public-address or private-address.",
        details="Deprecated: use network-get.",
        formats=SMART,
    ),
    "network-get": Tool(
        "network-get",
        _network_get,
        usage="<binding-name>",
        summary="Get network config.",
        details="Prints the addresses of a binding: an endpoint or an extra binding of the charm.",
        flags=[
            Flag("bind-address", help="Get the address for the binding on which to listen", boolean=True),
            Flag("egress-subnets", help="Get the egress subnets for the binding", boolean=True),
            Flag("ingress-address", help="Get the ingress address for the binding", boolean=True),
            Flag("primary-address", help="Deprecated: get the primary address", boolean=True),
            relation_flag(),
        ],
        formats=SMART,
    ),
}
