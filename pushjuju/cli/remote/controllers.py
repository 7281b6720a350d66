"""controller-config, secret-backends and show-secret-backend on a controller of another computer."""

from __future__ import annotations

from typing import Any

from pushjuju.cli.commands.config import config_arguments
from pushjuju.cli.commands.config import controller_config as config_command
from pushjuju.cli.commands.secret import secret_table
from pushjuju.cli.remote.call import Call


def controller_config(call: Call) -> None:
    """Get or set the configuration of the controller."""
    options = config_arguments.parse(call.args, file=call.flags.file)
    changes = config_command.changes_of(call.cli, options, skip_read_only=call.flags.ignore_read_only_fields)
    with call.target.controller() as connection:
        if options.change:
            connection.call("Controller", "ConfigSet", {"config": changes})
            return
        found = connection.call("Controller", "ControllerConfig").get("config") or {}
    document = {key: value for key, value in sorted(found.items()) if key != "ca-cert"}
    config_command.show(call.cli, document, options.key, call.target.account.name)


def secret_backends(call: Call) -> None:
    document = _backends(call, [])
    if call.cli.output.form == "tabular":
        return call.cli.output.text(secret_table.backends_table(document))
    return call.cli.output.text(secret_table.backends(call.cli.output.form, document))


def show_secret_backend(call: Call) -> None:
    call.cli.output.text(secret_table.backends(call.cli.output.form, _backends(call, [call.args[0]])))


def _backends(call: Call, names: list[str]) -> dict[str, dict[str, Any]]:
    """Return name -> backend, as `views.listings.secret_backends` does, without secret settings."""
    params = {"names": names, "reveal": call.flags.reveal}
    with call.target.controller() as connection:
        own = connection.login.get("controller-tag", "").partition("-")[2]
        results = connection.each("SecretBackends", "ListSecretBackends", params)
    found = {}
    for item in results:
        about = item["result"]
        entry = {
            "backend": about["backend-type"],
            "config": about.get("config"),
            "secrets": item["num-secrets"],
            "status": item["status"],
            "message": item.get("message"),
            "id": item["id"] if item["id"] != own else "",
        }
        found[about["name"]] = {key: value for key, value in entry.items() if value not in ("", None, {})}
    return found
