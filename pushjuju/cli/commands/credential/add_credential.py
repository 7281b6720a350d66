"""The command add-credential. Mirrors: juju cmd/juju/cloud (3.6)"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pushjuju.cli.commands.credential.credential_entries import upload
from pushjuju.cli.syntax import flags, values
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.terminal.questions import Asking
from pushjuju.cli.work import scope
from pushjuju.core.clouds import (
    Cloud,
    CloudCredentials,
    StoredCredential,
    is_credential,
    read_credentials,
)
from pushjuju.core.errors import Aborted, NotFound, NotValid, Silent
from pushjuju.portable.quote import quote
from pushjuju.services.entities.basis import plugin_host
from pushjuju.services.entities.cloud import clouds as service
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
    flags=(*flags.CLIENT_OR_CONTROLLER, *flags.LOGIN, FILE, REGION),
    details="Without a file it asks. What the cloud calls secret is sealed in credentials.toml.",
    examples="    pushjuju add-credential google\n    pushjuju add-credential aws -f ~/credentials.yaml\n",
    see_also=("credentials", "remove-credential", "update-credential", "autoload-credentials"),
)
def add_credential(
    cli: Cli, args: tuple[str, ...], *, client: bool, controller: str, file: str, region: str
) -> None:
    """Add credentials from a file, or one from answers."""
    where, name = scope.for_writing(cli, client=client, controller=controller), args[0]
    cloud, kind = credentials.known_cloud(where, name)
    allowed = _auth_types(cloud, kind)
    if not allowed:
        raise NotValid(f"cloud {quote(name)} does not require credentials")
    if region:
        require_region(cloud, region)
    if not file:
        found, verb = _interview(cli, where, cloud, kind, region)
    else:
        found, verb = _from_file(cli, file, cloud, kind, allowed), "added"
    found = {key: credentials.exchanged(where, cloud, item) for key, item in found.items()}
    failed = False
    if where.client:
        failed = _keep_here(cli, where.files, cloud.name, kind, found, verb, file)
    if where.ctx:
        upload(cli, where, cloud.name, kind, found, verb)
    if failed:
        raise Silent


def _auth_types(cloud: Cloud, kind: plugin_host.ProviderType) -> list[str]:
    known = service.auth_types(kind)
    return [name for name in cloud.auth_types if name in known] or known


def require_region(cloud: Cloud, region: str) -> None:
    """Check a region that was named."""
    if region not in {item.name for item in cloud.regions}:
        raise NotValid(f"provided region {quote(region)} for cloud {quote(cloud.name)} not valid")


def _from_file(
    cli: Cli, path: str, cloud: Cloud, kind: plugin_host.ProviderType, allowed: Sequence[str]
) -> dict[str, StoredCredential]:
    """Read the credentials of a cloud from Juju's YAML."""
    listed = read_given(cli, path).get(cloud.name)
    if listed is None:
        raise NotFound(f"no credentials for cloud {cloud.name} exist in file {path}")
    for name, item in listed.credentials.items():
        if not is_credential(name):
            raise NotValid(f"{quote(name)} is not a valid credential name")
        if item.auth_type not in allowed:
            raise NotValid(
                f"credential {quote(name)} contains invalid auth type {quote(item.auth_type)}, "
                f"valid auth types for cloud {quote(cloud.name)} are [{' '.join(allowed)}]"
            )
    return {
        name: credentials.finished(cloud.name, name, item, kind) for name, item in listed.credentials.items()
    }


def read_given(cli: Cli, path: str) -> dict[str, CloudCredentials]:
    """Return what a file of credentials says: cloud -> its credentials."""
    try:
        return read_credentials(values.yaml_map(values.read_file(path, cli.console.stdin), path))
    except NotValid as error:
        raise NotValid(f"parsing credentials file: {error.message}") from None


def _keep_here(
    cli: Cli,
    files: service.CloudFiles,
    cloud: str,
    kind: plugin_host.ProviderType,
    found: Mapping[str, StoredCredential],
    verb: str,
    path: str,
) -> bool:
    """Write new credentials to the client; return True when the client had any of them already."""
    known = files.credentials(cloud).credentials if verb == "added" else {}
    for name in known.keys() & found.keys():
        cli.console.info(
            f"ERROR credential {quote(name)} for cloud {quote(cloud)} already exists locally, use "
            f"'pushjuju update-credential {cloud} {name} -f {path}' to update this local client copy"
        )
    new = [name for name in found if name not in known]
    for name in new:
        credentials.keep(files, cloud, name, found[name], kind)
    if not new:
        cli.output.text(f"No local credentials for cloud {quote(cloud)} changed.\n")
    else:
        what = f" {quote(new[0])}" if len(new) == 1 else f"s {quote(', '.join(new))}"
        cli.output.text(f"Credential{what} {verb} locally for cloud {quote(cloud)}.\n\n")
    return len(new) < len(found)


def _interview(
    cli: Cli, where: sides.Sides, cloud: Cloud, kind: plugin_host.ProviderType, region: str
) -> tuple[dict[str, StoredCredential], str]:
    """Ask for a credential; return it, and whether it was added or updated."""
    asking = Asking(cli.console.stdin, cli.console.stdout)
    name = asking.enter(
        "credential name",
        lambda text: None if is_credential(text) else f"Invalid credential name: {quote(text)}",
    )
    verb = "added"
    if where.client and name in where.files.credentials(cloud.name).credentials:
        asking.say(f"A credential {quote(name)} already exists locally on this client.\n")
        if not asking.yes("Replace local credential"):
            raise Aborted("credential not replaced")
        verb = "updated"
    _ask_region(asking, cloud, region)
    auth_type = _ask_auth_type(asking, _auth_types(cloud, kind))
    given: dict[str, str] = {}
    for attr in kind.credential_schemas[auth_type]:
        key, value = _ask_attribute(asking, attr)
        if value:
            given[key] = value
    item = StoredCredential(auth_type=auth_type, attributes=given)
    return {name: credentials.finished(cloud.name, name, item, kind)}, verb


def _ask_region(asking: Asking, cloud: Cloud, region: str) -> None:
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
    """Return the key and the value of an answer; the path of a file where the text comes from one."""
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
