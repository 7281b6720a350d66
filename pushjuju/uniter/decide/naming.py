"""Names of hooks as users and tools read them.

Tools parse these texts (`juju wait-for`, test suites), so they equal Juju's exactly.

Mirrors: juju worker/uniter/uniter.go reportHookError (3.6)
"""

from __future__ import annotations

from pushjuju.uniter.decide.decision import Effect, EffectKind
from pushjuju.uniter.decide.remote import RemoteState
from pushjuju.uniter.decide.state import HookInfo


def hook_name(hook: HookInfo, endpoint: str = "") -> str:
    """Return the full name of a hook, as in `JUJU_HOOK_NAME` and `hooks/`, with its relation's endpoint."""
    if hook.kind.is_relation:
        return f"{endpoint}-{hook.kind}"
    if hook.kind.is_storage:
        return f"{hook.storage_id.rpartition('/')[0]}-{hook.kind}"
    return hook.kind.value


def hook_error(hook: HookInfo, remote: RemoteState) -> Effect:
    """Return the effect that reports a failed hook: the agent's error status.

    As in Juju, the status names a storage hook without the storage: `storage-attached`.
    """
    name = shown = hook.kind.value
    data: dict[str, str | int] = {}
    if hook.kind.is_relation and hook.relation_id is not None:
        data["relation-id"] = hook.relation_id
        if hook.remote_unit:
            data["remote-unit"] = hook.remote_unit
        if relation := remote.relations.get(hook.relation_id):
            name = shown = hook_name(hook, relation.endpoint)
        else:
            shown = f"{hook.kind}: relation: {hook.relation_id} not found"
    if hook.kind.is_secret:
        data["secret-uri"] = hook.secret_uri
        if hook.secret_label:
            data["secret-label"] = hook.secret_label
    data["hook"] = name
    return Effect(kind=EffectKind.REPORT_ERROR, message=f'hook failed: "{shown}"', data=data)
