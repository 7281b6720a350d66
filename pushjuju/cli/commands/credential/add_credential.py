"""The command add-credential. Mirrors: juju cmd/juju/cloud (3.6)"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pushjuju.cli.commands.credential.credential_entries import upload
from pushjuju.cli.syntax import flags, values
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.terminal.questions import Asking
from pushjuju.cli.work import scope
from pushjuju.core import clouds
from pushjuju.core.errors import Aborted, NotValid, Silent
from pushjuju.portable.quote import quote
from pushjuju.services.entities.basis import plugin_host
from pushjuju.services.entities.model import sides
from pushjuju.services.requests.cloud import credentials

FILE = flags.text("file", "The YAML file containing credentials", short="f")

REGION = flags.text("region", "Cloud region that credential is valid for")

_ANY_REGION = "any region, credential is not region specific"


@command(
    "add-credential",
    usage="<cloud name>",
    summary="Adds a credential for a cloud to a local client and uploads it to a controller.",
    at_least=(1, "Usage: pushjuju add-credential <cloud-name> [-f <credentials.yaml>]"),
    at_most=1,
    flags=(*flags.CLIENT_OR_CONTROLLER, FILE, REGION),
    details="Without a file the command asks. credentials.toml keeps secret attributes encrypted.",
    examples="    pushjuju add-credential google\n    pushjuju add-credential aws -f ~/credentials.yaml\n",
    see_also=("credentials", "remove-credential", "update-credential", "autoload-credentials"),
)
def add_credential(
    cli: Cli, args: tuple[str, ...], *, client: bool, controller: str, file: str, region: str
) -> None:
    where, name = scope.for_writing(cli, client=client, controller=controller), args[0]
    cloud, kind = credentials.known_cloud(where, name)
    if not credentials.auth_types(cloud, kind):
        raise NotValid(f"cloud {quote(name)} does not require credentials")
    if region:
        credentials.require_region(cloud, region)
    if not file:
        found, verb = _interview(cli, where, cloud, kind, region)
    else:
        found, verb = credentials.of_cloud(read_given(cli, file), cloud, kind, file), "added"
    found = {key: credentials.exchanged(where, cloud, item) for key, item in found.items()}
    failed = False
    if where.client:
        known = credentials.add_to_client(where, cloud, kind, found, replace=verb == "updated")
        _tell_kept(cli, cloud.name, [key for key in found if key not in known], known, verb, file)
        failed = bool(known)
    if where.ctx:
        upload(cli, where, cloud, kind, found, verb)
    if failed:
        raise Silent


def read_given(cli: Cli, path: str) -> dict[str, clouds.CloudCredentials]:
    """Return the credentials in a file: cloud -> its credentials."""
    try:
        return clouds.read_credentials(values.yaml_map(values.read_file(path, cli.console.stdin), path))
    except NotValid as error:
        raise NotValid(f"parsing credentials file: {error.message}") from None


def _tell_kept(cli: Cli, cloud: str, new: Sequence[str], known: Sequence[str], verb: str, path: str) -> None:
    """Print which credentials were added and which exist already."""
    for name in known:
        cli.console.info(
            f"ERROR credential {quote(name)} for cloud {quote(cloud)} already exists locally, use "
            f"'pushjuju update-credential {cloud} {name} -f {path}' to update this local client copy"
        )
    if not new:
        cli.output.text(f"No local credentials for cloud {quote(cloud)} changed.\n")
    else:
        what = f" {quote(new[0])}" if len(new) == 1 else f"s {quote(', '.join(new))}"
        cli.output.text(f"Credential{what} {verb} locally for cloud {quote(cloud)}.\n\n")


def _interview(
    cli: Cli, where: sides.Sides, cloud: clouds.Cloud, kind: plugin_host.ProviderType, region: str
) -> tuple[dict[str, clouds.StoredCredential], str]:
    """Ask for a credential; return it, and `added` or `updated`."""
    asking = Asking(cli.console.stdin, cli.console.stdout)
    name = asking.enter(
        "credential name",
        lambda text: None if clouds.is_credential(text) else f"Invalid credential name: {quote(text)}",
    )
    verb = "added"
    if where.client and name in where.files.credentials(cloud.name).credentials:
        asking.say(f"A credential {quote(name)} already exists locally on this client.\n")
        if not asking.yes("Replace local credential"):
            raise Aborted("credential not replaced")
        verb = "updated"
    _ask_region(asking, cloud, region)
    auth_type = _ask_auth_type(asking, credentials.auth_types(cloud, kind))
    given: dict[str, str] = {}
    for attr in kind.credential_schemas[auth_type]:
        key, value = _ask_attribute(asking, attr)
        if value:
            given[key] = value
    item = clouds.StoredCredential(auth_type=auth_type, attributes=given)
    return {name: credentials.finished(cloud.name, name, item, kind)}, verb


def _ask_region(asking: Asking, cloud: clouds.Cloud, region: str) -> None:
    names = [item.name for item in cloud.regions]
    if not names:
        return
    if region:
        asking.say(f"User specified region {quote(region)}, using it.\n\n")
        return

    def check(text: str) -> str | None:
        good = not text or text in names
        return None if good else f"provided region {quote(text)} for cloud {quote(cloud.name)} not valid"

    asking.select("region", "regions", names, _ANY_REGION, check)


def _ask_auth_type(asking: Asking, allowed: Sequence[str]) -> str:
    if len(allowed) == 1:
        asking.say(f"Using auth-type {quote(allowed[0])}.\n\n")
        return allowed[0]
    default = "interactive" if "interactive" in allowed else allowed[0]
    return asking.select("auth type", "auth types", allowed, default).lower()


def _ask_attribute(asking: Asking, attr: plugin_host.Attr) -> tuple[str, str]:
    """Ask for an attribute; return its key and value. For a text in a file the value is the path."""
    if attr.choices:
        return attr.name, asking.select(attr.name, attr.name, attr.choices, attr.choices[0])
    if attr.file_attr or attr.file_path:
        return attr.file_attr or attr.name, asking.enter(
            f"{attr.summary or attr.name}{'' if attr.required else ' (optional)'}",
            lambda text: _path_problem(text, optional=not attr.required),
        )
    if attr.secret:
        return attr.name, asking.password(attr.name)
    return attr.name, asking.enter(attr.name) if attr.required else asking.enter_optional(attr.name)


def _path_problem(text: str, *, optional: bool) -> str | None:
    if not text:
        return None if optional else ""
    return None if Path(text).expanduser().is_file() else f"invalid file path: {text}"
