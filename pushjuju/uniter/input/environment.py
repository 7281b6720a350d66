"""The process environment of a hook. Reads only.

The machine adds its own paths and sockets. Mirrors: juju worker/uniter/runner/context/env.go (3.6)
"""

from __future__ import annotations

from collections.abc import Mapping

from pushjuju import JUJU_VERSION
from pushjuju.core.base import SERIES, Base
from pushjuju.services.entities.model import model_config
from pushjuju.store.rows.records import Machine, Model, Unit
from pushjuju.store.tx import ModelTx
from pushjuju.uniter.decide.decision import Operation
from pushjuju.uniter.decide.naming import hook_name
from pushjuju.uniter.decide.state import HookInfo, HookKind
from pushjuju.uniter.input.snapshot import View
from pushjuju.uniter.input.unit_storage import storage_variables

API_ADDRESS = "127.0.0.1:17070"  # charms only check that the variable is set
_PROXIES = ("http", "https", "ftp", "no")
_UBUNTU = {
    "APT_LISTCHANGES_FRONTEND": "none",
    "DEBIAN_FRONTEND": "noninteractive",
    "LANG": "C.UTF-8",
    "TERM": "tmux-256color",
}
_SYSTEM = {"ubuntu": _UBUNTU, "debian": _UBUNTU, "centos": {"LANG": "C.UTF-8", "TERM": "tmux-256color"}}
_OTHER_SYSTEM = {"LANG": "C.UTF-8", "TERM": "screen"}
_OLD_CENTOS = {"LANG": "C.UTF-8", "TERM": "screen-256color"}


def hook_environment(tx: ModelTx, view: View, operation: Operation, model: Model) -> dict[str, str]:
    """Return the process environment of a hook; the machine adds its own paths and sockets."""
    hook = operation.hook
    name = hook_name(hook, operation.endpoint) if hook else ""
    return {
        **_identity(model, view.unit, view.machine),
        "JUJU_HOOK_NAME": name,
        "JUJU_DISPATCH_PATH": f"hooks/{name}",
        **_proxies(tx),
        **(_relation_variables(hook, operation.endpoint) if hook else {}),
        **(_target_variables(hook) if hook else {}),
        **(storage_variables(view.remote, hook) if hook else {}),
        **(_secret_variables(hook) if hook else {}),
        **_system(Base.parse(view.machine.base)),
    }


def _system(base: Base) -> dict[str, str]:
    """Return the variables that depend on the operating system."""
    if (base.os, base.track) == ("centos", "7"):
        return _OLD_CENTOS
    return _SYSTEM.get(base.os, _OTHER_SYSTEM)


def _identity(model: Model, unit: Unit, machine: Machine) -> dict[str, str]:
    return {
        "JUJU_UNIT_NAME": unit.name,
        "JUJU_MODEL_UUID": model.uuid,
        "JUJU_MODEL_NAME": model.name,
        "JUJU_API_ADDRESSES": API_ADDRESS,
        "JUJU_VERSION": JUJU_VERSION,
        "JUJU_MACHINE_ID": machine.id,
        "JUJU_PRINCIPAL_UNIT": unit.principal or "",
        "JUJU_AVAILABILITY_ZONE": str(machine.hardware.get("availability-zone", "")),
        "CLOUD_API_VERSION": "",
        "JUJU_SLA": "unsupported",
        "JUJU_METER_STATUS": "AMBER",
        "JUJU_METER_INFO": "not set",
    }


def _relation_variables(hook: HookInfo, endpoint: str) -> dict[str, str]:
    if hook.relation_id is None:
        return {}
    departing = {"JUJU_DEPARTING_UNIT": hook.departee} if hook.kind is HookKind.RELATION_DEPARTED else {}
    return {
        "JUJU_RELATION": endpoint,
        "JUJU_RELATION_ID": f"{endpoint}:{hook.relation_id}",
        "JUJU_REMOTE_UNIT": hook.remote_unit,
        "JUJU_REMOTE_APP": hook.remote_application,
        **departing,
    }


def _secret_variables(hook: HookInfo) -> dict[str, str]:
    if not hook.kind.is_secret:
        return {}
    found = {"JUJU_SECRET_ID": hook.secret_uri, "JUJU_SECRET_LABEL": hook.secret_label}
    if hook.kind in (HookKind.SECRET_EXPIRED, HookKind.SECRET_REMOVE):
        found["JUJU_SECRET_REVISION"] = str(hook.secret_revision)
    return found


def _target_variables(hook: HookInfo) -> dict[str, str]:
    """Return the target base of an upgrade of the machine; its old series name is "" for new bases."""
    if hook.kind is not HookKind.PRE_SERIES_UPGRADE:
        return {}
    target = Base.parse(hook.series_upgrade_target)
    names = (name for name, base in SERIES.items() if base == (target.os, target.track))
    return {"JUJU_TARGET_BASE": target.display, "JUJU_TARGET_SERIES": next(names, "")}


def _proxies(tx: ModelTx) -> dict[str, str]:
    """Return the proxy variables; those without JUJU_CHARM_ are only there when a proxy is set."""
    keys = [f"{prefix}{kind}-proxy" for prefix in ("juju-", "") for kind in _PROXIES]
    values = {key: str(value or "") for key, value in model_config.several(tx, keys).items()}
    found = {f"JUJU_CHARM_{kind.upper()}_PROXY": values[f"juju-{kind}-proxy"] for kind in _PROXIES}
    plain = {kind: values[f"{kind}-proxy"] for kind in _PROXIES}
    if any(plain[kind] for kind in ("http", "https", "ftp")):
        found.update(_both_cases(plain))
    return found


def _both_cases(plain: Mapping[str, str]) -> dict[str, str]:
    found = {}
    for kind, value in plain.items():
        text = ",".join(sorted(set(value.split(",")))) if kind == "no" else value
        if text:
            found[f"{kind}_proxy"] = found[f"{kind.upper()}_PROXY"] = text
    return found
