"""Commands about the models of a controller of another computer."""

from __future__ import annotations

from typing import Any

from pushjuju.cli.commands.model import model_table as formatters
from pushjuju.cli.commands.model.list_models import tell_none
from pushjuju.cli.commands.model.model_removal import force_of, storage_fate
from pushjuju.cli.commands.model.model_table import with_times
from pushjuju.cli.remote.call import Call
from pushjuju.cli.syntax import values
from pushjuju.cli.work import session
from pushjuju.client import target as targets
from pushjuju.client.connection import Connection
from pushjuju.core.clock import from_iso
from pushjuju.core.errors import NotFound


def models(call: Call) -> None:
    account = call.target.account
    with call.target.controller() as connection:
        found = targets.summaries(
            connection, f"user-{call.flags.user or account.user}", every=call.flags.every
        )
    entries = [_entry(item, account.name) for item in found]
    document: dict[str, object] = {"models": entries}
    if account.current_model:
        document["current-model"] = account.current_model.removeprefix(f"{account.user}/")
    shown = with_times(call.cli, document, exact=call.flags.exact_time)
    counts = {item["uuid"]: _counts(item) for item in found}
    forms = formatters.formatters(
        counts,
        controller=account.name,
        user=account.user,
        uuid=call.flags.uuid,
        colour=call.cli.output.colour,
    )
    call.cli.output.write(shown, forms)
    if not entries:
        tell_none(call.cli)


def _entry(item: dict[str, Any], controller: str) -> dict[str, object]:
    """Return a summary as an entry of `models`."""
    owner, status = item["owner-tag"].removeprefix("user-"), item.get("status") or {}
    words = {"message": status.get("info"), "reason": (status.get("data") or {}).get("reason")}
    return {
        "name": f"{owner}/{item['name']}",
        "short-name": item["name"],
        "model-uuid": item["uuid"],
        "model-type": item.get("type", ""),
        "controller-uuid": item.get("controller-uuid", ""),
        "controller-name": controller,
        "is-controller": item.get("is-controller", False),
        "owner": owner,
        "cloud": item.get("cloud-tag", "").removeprefix("cloud-"),
        "region": item.get("cloud-region", ""),
        "type": item.get("provider-type", ""),
        "life": item.get("life", ""),
        "status": {
            "current": status.get("status", ""),
            **{key: value for key, value in words.items() if value},
            "since": from_iso(status["since"]) if status.get("since") else None,
        },
        "access": item.get("user-access", ""),
        "last-connection": from_iso(item["last-connection"]) if item.get("last-connection") else None,
        "agent-version": item.get("agent-version", ""),
    }


def _counts(item: dict[str, Any]) -> formatters.Counts:
    numbers = {entry["entity"]: entry["count"] for entry in item.get("counts") or ()}
    return formatters.Counts(
        machines=numbers.get("machines", 0), cores=numbers.get("cores"), units=numbers.get("units")
    )


def add_model(call: Call) -> None:
    account = call.target.account
    with call.target.controller() as connection:
        cloud, region = _place(connection, "".join(call.args[1:]))
        made = connection.call(
            "ModelManager",
            "CreateModel",
            {
                "name": call.args[0],
                "owner-tag": f"user-{call.flags.owner or account.user}",
                "config": values.model_settings(call.flags.config),
                "cloud-tag": f"cloud-{cloud}" if cloud else "",
                "region": region,
                "credential": f"cloudcred-{cloud}_{call.flags.owner or account.user}_{call.flags.credential}"
                if call.flags.credential
                else "",
            },
        )
    owned = made["owner-tag"].removeprefix("user-")
    if not call.flags.no_switch:
        with session.moving(call.cli):
            call.target.focus(f"{owned}/{made['name']}")
            call.target.folder.set_current_controller(account.name)
    place = f"{made['cloud-tag'].removeprefix('cloud-')}/{made.get('cloud-region', '')}"
    held = f" with credential '{call.flags.credential}'" if call.flags.credential else ""
    call.cli.console.info(f"Added '{made['name']}' model on {place}{held} for user '{owned}'")


def _place(connection: Connection, text: str) -> tuple[str, str]:
    """Return cloud and region of `cloud`, `region` or `cloud/region`."""
    cloud, slash, region = text.partition("/")
    if slash or not text:
        return cloud, region
    known = connection.call("Cloud", "Clouds").get("clouds") or {}
    if f"cloud-{text}" in known:
        return text, ""
    holders = [
        tag for tag, item in known.items() if text in (place["name"] for place in item.get("regions") or ())
    ]
    if len(holders) != 1:
        raise NotFound(
            f'"{text}" is neither a cloud of the controller nor a region', hint="write CLOUD/REGION"
        )
    return holders[0].removeprefix("cloud-"), text


def destroy_model(call: Call) -> None:
    """Begin to destroy a model; the host of the controller does the work."""
    cli, target, flags = call.cli, call.target, call.flags
    with target.controller() as connection:
        model = target.resolve(connection, target.wanted)
        if not flags.no_prompt:
            cli.console.warn(
                f'This command will destroy the "{model.qualified}" model. It cannot be stopped.'
            )
            question = "\nTo continue, enter the name of the model to be destroyed: "
            cli.console.confirm_name(question, name=model.name, what="model destruction")
        connection.each("ModelManager", "DestroyModels", {"models": [_doomed(model.uuid, flags)]})
    if target.account.current_model == model.qualified:
        target.focus("")
    cli.console.info(f"Destroying model; `{cli.program} models` lists it until it is gone.")


def _doomed(uuid: str, flags: Any) -> dict[str, Any]:
    said = storage_fate(destroy=flags.destroy_storage, release=flags.release_storage)
    forced = force_of("--timeout", force=flags.force, no_wait=flags.no_wait, timeout=flags.timeout)
    wait = int(forced.wait_s * 1e9) if forced else None
    return {
        "model-tag": f"model-{uuid}", "destroy-storage": said, "force": flags.force, "max-wait": wait,
    }  # fmt: skip


def set_credential(call: Call) -> None:
    """Use another credential for a model."""
    cloud, name = call.args
    target = call.target
    with target.controller() as connection:
        model = target.resolve(connection, target.wanted)
        tag = f"cloudcred-{cloud}_{target.account.user}_{name}"
        item = {"model-tag": f"model-{model.uuid}", "credential-tag": tag}
        connection.each("ModelManager", "ChangeModelCredential", {"model-credentials": [item]})
    call.cli.console.info(f'Changed cloud credential on model "{model.qualified}" to "{name}".')


def upgrade_model(call: Call) -> None:
    """Print that the model has the version of its controller."""
    target = call.target
    with target.controller() as connection:
        model = target.resolve(connection, target.wanted)
        item = {"model-tag": f"model-{model.uuid}", "target-version": call.flags.agent_version or "0.0.0"}
        connection.require(connection.call("ModelUpgrader", "UpgradeModel", item))
    call.cli.console.info("no upgrades available")
