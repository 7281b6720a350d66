"""Commands that are one request to a model of another computer: what each asks for, and what it prints then.

The command of this computer has checked the arguments before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pushjuju.cli.commands.secret import backend_settings, secret_content
from pushjuju.cli.commands.space import space_words
from pushjuju.cli.commands.storage import storage_words
from pushjuju.cli.commands.user import access_words
from pushjuju.cli.remote.call import Call
from pushjuju.cli.syntax import values
from pushjuju.cli.work import removals
from pushjuju.client import charms
from pushjuju.client.tasks import tag_of
from pushjuju.core.base import Base

if TYPE_CHECKING:
    from pushjuju.client.connection import Connection

Params = dict[str, Any]
_FILESYSTEM = 2  # the number of this kind of storage on the wire


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A method of the API."""

    facade: str
    method: str
    params: Callable[[Call], Params]  # returns the parameters for a command line
    # returns what the command prints to stderr after the request; empty for nothing
    told: Callable[[Call], str] = lambda _call: ""
    printed: str = ""  # the key of a result's text that goes to stdout, or empty
    of_controller: bool = False  # whether the request goes to the controller, not to a model


def run(call: Call) -> None:
    """Send the request of the command, and print what came of it."""
    asked = REQUESTS[str(call.command.name)]
    params = asked.params(call)
    with _connected(call, asked) as connection:
        response = connection.call(asked.facade, asked.method, params)
        results = response.get("results") or [response]
        for result in results:
            connection.require(result)
    if asked.printed:
        call.cli.output.text("".join(f"{result[asked.printed]}\n" for result in results))
    if told := asked.told(call):
        call.cli.console.info(told)


@contextmanager
def _connected(call: Call, asked: Request) -> Iterator[Connection]:
    if asked.of_controller:
        with call.target.controller() as connection:
            yield connection
    else:
        with call.target.opened() as (connection, _):
            yield connection


def _application(call: Call) -> str:
    return f"application-{call.args[0]}"


def _storage(names: tuple[str, ...]) -> list[str]:
    return [tag_of("storage", name) for name in names]


# --- applications -----------------------------------------------------------------------------------------


def _constraints(call: Call) -> Params:
    wanted = values.constraints(call.args[1:], call.cli.console)
    return {"application": call.args[0], "constraints": dict(wanted)}


def _model_constraints(call: Call) -> Params:
    return {"constraints": dict(values.constraints(call.args, call.cli.console))}


def _trust(call: Call) -> Params:
    trusted = "false" if call.flags.remove else "true"
    return {"Args": [{"application": call.args[0], "config": {"trust": trusted}}]}


def _bindings(call: Call) -> Params:
    wanted = values.bindings(" ".join(call.args[1:]))
    item = {"application-tag": _application(call), "bindings": dict(wanted), "force": call.flags.force}
    return {"args": [item]}


def _base(call: Call) -> Params:
    text = call.args[1]
    base = Base.parse(text) if "@" in text else Base.from_series(text.lower())
    return {"args": [{"tag": {"tag": _application(call)}, "channel": base.channel}]}


def _suspended(call: Call) -> Params:
    ids = [part.strip() for arg in call.args for part in arg.split(",")]
    suspends = call.command.name == "suspend-relation"
    message = call.flags.message if suspends else ""
    return {
        "args": [{"relation-id": int(number), "suspended": suspends, "message": message} for number in ids]
    }


def _consumed(call: Call) -> Params:
    alias = call.args[1] if len(call.args) > 1 else ""
    return {"args": [{"offer-url": call.args[0], "application-alias": alias}]}


def _saas(call: Call) -> Params:
    forced = removals.force(force=call.flags.force, no_wait=call.flags.no_wait)
    wait = int(forced.wait_s * 1e9) if forced else None
    return {
        "applications": [
            {"application-tag": f"application-{name}", "force": call.flags.force, "max-wait": wait}
            for name in call.args
        ]
    }


# --- secrets ----------------------------------------------------------------------------------------------


def _content(call: Call) -> Params:
    return {"data": dict(secret_content.content_given(call.cli, call.args[1:], call.flags.file))}


def _new_secret(call: Call) -> Params:
    return {"args": [{"label": call.args[0], "content": _content(call), "description": call.flags.info}]}


def _changed_secret(call: Call) -> Params:
    flags = call.flags
    item = {
        "existing-label": call.args[0],
        "label": flags.name or None,
        "description": flags.info or None,
        "content": _content(call),
        "auto-prune": flags.auto_prune,
    }
    return {"args": [item]}


def _removed_secret(call: Call) -> Params:
    revisions = [call.flags.revision] if call.flags.revision else []
    return {"args": [{"label": call.args[0], "revisions": revisions}]}


def _granted_secret(call: Call) -> Params:
    secret, names = secret_content.granted_to(call.args)
    return {"label": secret, "applications": names}


# --- storage ----------------------------------------------------------------------------------------------


def _added_storage(call: Call) -> Params:
    wanted = charms.storage(storage_words.directives_of(call.args[1:]))
    unit = tag_of("unit", call.args[0])
    return {"storages": [{"unit": unit, "name": name, "storage": item} for name, item in wanted.items()]}


def _attached_storage(call: Call) -> Params:
    unit = tag_of("unit", call.args[0])
    return {"ids": [{"storage-tag": tag, "unit-tag": unit} for tag in _storage(call.args[1:])]}


def _detached_storage(call: Call) -> Params:
    ids = [{"storage-tag": tag} for tag in _storage(call.args)]
    return {"ids": {"ids": ids}, "force": call.flags.force}


def _removed_storage(call: Call) -> Params:
    fate = {"destroy-storage": not call.flags.no_destroy, "force": call.flags.force}
    return {"storage": [{"tag": tag, **fate} for tag in _storage(call.args)]}


def _pool(call: Call) -> Params:
    """Return the pool of create-storage-pool (NAME PROVIDER KEY=VALUE...) or of update-storage-pool."""
    creates = call.command.name == "create-storage-pool"
    attributes = storage_words.attribute_pairs(call.args[2 if creates else 1 :])
    provider = call.args[1] if creates else ""
    return {"pools": [{"name": call.args[0], "provider": provider, "attrs": attributes}]}


def _filesystem(call: Call) -> Params:
    pool, number, name = call.args
    call.cli.console.info(f'importing "{number}" from storage pool "{pool}" as storage "{name}"')
    item = {"kind": _FILESYSTEM, "pool": pool, "provider-id": number, "storage-name": name}
    return {"storage": [item]}


# --- the model --------------------------------------------------------------------------------------------


def _block(call: Call) -> Params:
    kind = {"destroy-model": "BlockDestroy", "remove-object": "BlockRemove", "all": "BlockChange"}
    return {"type": kind[call.args[0]], "message": " ".join(call.args[1:])}


def _provisioning(call: Call) -> Params:
    return {"machines": [tag_of("machine", name) for name in call.args], "all": call.flags.every}


def _space(call: Call) -> Params:
    name, cidrs = space_words.name_and_cidrs(call.args, optional=True)
    return {"spaces": [{"space-tag": f"space-{name}", "cidrs": cidrs}]}


def _told_space(call: Call) -> str:
    name, cidrs = space_words.name_and_cidrs(call.args, optional=True)
    return f'added space "{name}" with ' + (f"subnets {', '.join(cidrs)}" if cidrs else "no subnets")


def _renamed_space(call: Call) -> Params:
    before, after = (f"space-{name}" for name in (*call.args, call.flags.rename)[:2])
    return {"changes": [{"from-space-tag": before, "to-space-tag": after}]}


# --- the controller ---------------------------------------------------------------------------------------


def _cloud_access(call: Call) -> Params:
    user, level, names = access_words.clouds_of(call.args)
    action = str(call.command.name).partition("-")[0]
    item = {"user-tag": f"user-{user}", "action": action, "access": level}
    return {"changes": [{**item, "cloud-tag": f"cloud-{name}"} for name in names]}


def _new_backend(call: Call) -> Params:
    item = {"name": call.args[0], "backend-type": call.args[1], "id": call.flags.import_id}
    return {"args": [{**item, "config": _backend_config(call, call.args[2:])}]}


def _changed_backend(call: Call) -> Params:
    gone = [key.strip() for text in call.flags.reset for key in text.split(",") if key.strip()]
    config = {key: text for key, text in _backend_config(call, call.args[1:]).items() if key not in gone}
    return {"args": [{"name": call.args[0], "config": config, "reset": gone, "force": call.flags.force}]}


def _backend_config(call: Call, words: tuple[str, ...]) -> dict[str, str]:
    given = backend_settings.settings_of_words(words)
    return {**backend_settings.settings_of_file(call.cli, call.flags.config), **given}


REQUESTS: Mapping[str, Request] = {
    "add-secret-backend": Request(
        facade="SecretBackends", method="AddSecretBackends", params=_new_backend, of_controller=True
    ),
    "add-secret": Request(
        facade="Secrets", method="CreateSecrets", params=_new_secret, printed="result"
    ),
    "add-space": Request(
        facade="Spaces", method="CreateSpaces", params=_space,
        told=_told_space,
    ),
    "add-storage": Request(facade="Storage", method="AddToUnit", params=_added_storage),
    "attach-storage": Request(
        facade="Storage", method="Attach", params=_attached_storage,
        told=lambda call: "\n".join(f"attaching {name} to {call.args[0]}" for name in call.args[1:]),
    ),
    "bind": Request(facade="Application", method="MergeBindings", params=_bindings),
    "consume": Request(
        facade="Application", method="Consume", params=_consumed,
        told=lambda call: f"Added {call.args[0]} as {call.args[-1].rpartition('.')[2]}",
    ),
    "create-storage-pool": Request(facade="Storage", method="CreatePool", params=_pool),
    "detach-storage": Request(
        facade="Storage", method="DetachStorage", params=_detached_storage,
        told=lambda call: "\n".join(f"detaching {name}" for name in call.args),
    ),
    "disable-command": Request(facade="Block", method="SwitchBlockOn", params=_block),
    "enable-command": Request(facade="Block", method="SwitchBlockOff", params=_block),
    "enable-destroy-controller": Request(
        facade="Controller", method="RemoveBlocks", params=lambda _call: {"all": True}, of_controller=True
    ),
    "grant-cloud": Request(
        facade="Cloud", method="ModifyCloudAccess", params=_cloud_access, of_controller=True
    ),
    "import-filesystem": Request(facade="Storage", method="Import", params=_filesystem),
    "grant-secret": Request(facade="Secrets", method="GrantSecret", params=_granted_secret),
    "reload-spaces": Request(facade="Spaces", method="ReloadSpaces", params=lambda _call: {}),
    "remove-saas": Request(facade="Application", method="DestroyConsumedApplications", params=_saas),
    "remove-secret": Request(facade="Secrets", method="RemoveSecrets", params=_removed_secret),
    "remove-secret-backend": Request(
        facade="SecretBackends", method="RemoveSecretBackends", of_controller=True,
        params=lambda call: {"args": [{"name": call.args[0], "force": call.flags.force}]},
    ),
    "remove-storage": Request(
        facade="Storage", method="Remove", params=_removed_storage,
        told=lambda call: "\n".join(f"removing {name}" for name in call.args),
    ),
    "remove-storage-pool": Request(
        facade="Storage", method="RemovePool", params=lambda call: {"pools": [{"name": call.args[0]}]}
    ),
    "rename-space": Request(
        facade="Spaces", method="RenameSpace", params=_renamed_space,
        told=lambda call: 'renamed space "{}" to "{}"'.format(*call.args, call.flags.rename),
    ),
    "resume-relation": Request(facade="Application", method="SetRelationsSuspended", params=_suspended),
    "retry-provisioning": Request(
        facade="MachineManager", method="RetryProvisioning", params=_provisioning
    ),
    "revoke-cloud": Request(
        facade="Cloud", method="ModifyCloudAccess", params=_cloud_access, of_controller=True
    ),
    "revoke-secret": Request(facade="Secrets", method="RevokeSecret", params=_granted_secret),
    "set-application-base": Request(facade="Application", method="UpdateApplicationBase", params=_base),
    "set-constraints": Request(facade="Application", method="SetConstraints", params=_constraints),
    "set-model-constraints": Request(
        facade="ModelConfig", method="SetModelConstraints", params=_model_constraints
    ),
    "suspend-relation": Request(facade="Application", method="SetRelationsSuspended", params=_suspended),
    "trust": Request(facade="Application", method="SetConfigs", params=_trust),
    "update-secret": Request(facade="Secrets", method="UpdateSecrets", params=_changed_secret),
    "update-secret-backend": Request(
        facade="SecretBackends", method="UpdateSecretBackends", params=_changed_backend, of_controller=True
    ),
    "update-storage-pool": Request(facade="Storage", method="UpdatePool", params=_pool),
}  # fmt: skip
"""Command -> its request."""
