"""credentials, show-, add-, update-, remove-, default-credential, autoload-credentials.

No value of a credential is ever an argument, part of a message, or in clear in our files when its provider
calls it secret. Mirrors: juju cmd/juju/cloud (3.6)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pushjuju.cli.commands.credential import cloud_table as formatters
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
from pushjuju.core.errors import Aborted, NotFound, NotValid, PushjujuError, Silent, UsageError
from pushjuju.plugins.types import Attr, DetectedCredential, ProviderType
from pushjuju.portable.natural import natural_key
from pushjuju.portable.quote import quote
from pushjuju.services.entities.cloud import clouds as service
from pushjuju.services.views import cloud_documents as documents
from pushjuju.store.cloudfiles import CloudFiles

FILE = flags.text("file", "The YAML file containing credentials", short="f")
REGION = flags.text("region", "Cloud region that credential is valid for")
_SECRETS = flags.switch("show-secrets", "Show secrets, displaying sensitive information")
_ANY_REGION = "any region, credential is not region specific"


@command(
    "credentials",
    usage="[<cloud name>]",
    summary="Lists Juju credentials for a cloud.",
    aliases=("list-credentials",),
    at_most=1,
    formats=("tabular", "yaml", "json"),
    flags=(*flags.CLIENT_OR_CONTROLLER, *flags.LOGIN, _SECRETS),
    examples="    pushjuju credentials\n"
    "    pushjuju credentials aws\n"
    "    pushjuju credentials --client --show-secrets --format yaml\n",
    see_also=("add-credential", "update-credential", "remove-credential", "default-credential"),
)
def credentials(
    cli: Cli, args: tuple[str, ...], *, client: bool, controller: str, show_secrets: bool
) -> None:
    """List credentials by cloud."""
    where = scope.for_reading(cli, client=client, controller=controller)
    here = where.files.all_credentials() if where.client else {}
    there = documents.controller_credentials(where.ctx) if where.ctx else {}
    shown: list[dict[str, Any]] = []
    missing: set[str] = set()
    for stored in (there, here):
        wanted = {name: item for name, item in stored.items() if name in (args or (name,))}
        found, left_out = documents.credentials_document(
            wanted, kinds_of(where, wanted), secrets=show_secrets
        )
        shown.append(found)
        missing |= set(left_out)
    if missing and cli.output.form == "tabular":
        cli.output.text(
            "The following clouds have been removed and are omitted from the results to avoid leaking "
            "secrets.\n"
            f"Run with --show-secrets to display these clouds' credentials: {', '.join(sorted(missing))}\n\n"
        )
    if cli.output.form != "tabular":
        return cli.output.text(formatters.credentials(cli.output.form, shown[0], shown[1]))
    if not any(shown):
        return cli.console.info("No credentials from this client or from a controller to display.")
    return cli.output.text(formatters.credentials_table(shown[0], shown[1], colour=cli.output.colour))


def kinds_of(where: scope.Sides, names: Mapping[str, Any]) -> dict[str, ProviderType | None]:
    """Return the type of each cloud: name -> what its plugin says, or None."""
    found: dict[str, ProviderType | None] = {}
    for name in names:
        try:
            places = service.folders(where.folder, where.ctx.controller if where.ctx else None)
            found[name] = documents.kind_of(where.host, service.definition(places, name, where.host).type)
        except PushjujuError:
            found[name] = None
    return found


@command(
    "show-credential",
    usage="[<cloud name> <credential name>]",
    summary="Shows credential information stored either on this client or on a controller.",
    aliases=("show-credentials",),
    formats=("yaml",),
    flags=(*flags.CLIENT_OR_CONTROLLER, *flags.LOGIN, _SECRETS),
    examples="    pushjuju show-credential\n"
    "    pushjuju show-credential aws bob\n"
    "    pushjuju show-credential aws bob --show-secrets\n",
    see_also=("credentials", "add-credential", "update-credential", "remove-credential"),
)
def show_credential(
    cli: Cli, args: tuple[str, ...], *, client: bool, controller: str, show_secrets: bool
) -> None:
    """Show credentials, and the models that use them."""
    if len(args) == 1:
        raise UsageError("both cloud and credential name are needed")
    if len(args) > 2:
        raise UsageError("only cloud and credential names are supported")
    where = scope.for_reading(cli, client=client, controller=controller)
    here = where.files.all_credentials() if where.client else {}
    there = documents.controller_credentials(where.ctx) if where.ctx else {}
    shown = [
        _contents(cli, where, stored, args, secrets=show_secrets, used=stored is there)
        for stored in (there, here)
    ]
    if not any(shown):
        return cli.console.info("No credentials from this client or from a controller to display.")
    return cli.output.text(formatters.show_credential(shown[0], shown[1]))


def _contents(
    cli: Cli,
    where: scope.Sides,
    stored: Mapping[str, CloudCredentials],
    wanted: tuple[str, ...],
    *,
    secrets: bool,
    used: bool,
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    kinds = kinds_of(where, stored)
    for cloud, entry in sorted(stored.items()):
        for name, item in sorted(entry.credentials.items()):
            if wanted not in ((), (cloud, name)):
                continue
            try:
                attributes = documents.shown(item, kinds[cloud], secrets=secrets)
            except NotValid as error:
                cli.console.warn(f"removing secrets from credentials for cloud {cloud}: {error.message}")
                continue
            content = {"auth-type": item.auth_type, **attributes}
            entry_shown: dict[str, Any] = {"content": content}
            if used and where.ctx:
                models = documents.users_of(where.ctx, cloud, name)
                word = documents.validity_of(where.ctx, cloud, name)
                content = {"auth-type": item.auth_type, "validity-check": word, **attributes}
                entry_shown = {"content": content, "models": dict.fromkeys(models, "admin")}
            found.setdefault(cloud, {})[name] = entry_shown
    return found


@command(
    "default-credential",
    usage="<cloud name> [<credential name>]",
    summary="Gets, sets, or unsets the default credential for a cloud on this client.",
    aliases=("set-default-credentials",),
    at_least=(1, "Usage: pushjuju default-credential <cloud-name> [<credential-name>]"),
    at_most=2,
    flags=(flags.switch("reset", "Reset default credential for the cloud"),),
    examples="    pushjuju default-credential aws\n"
    "    pushjuju default-credential aws bob\n"
    "    pushjuju default-credential aws --reset\n",
    see_also=("credentials", "add-credential", "remove-credential", "autoload-credentials"),
)
def default_credential(cli: Cli, args: tuple[str, ...], *, reset: bool) -> None:
    """Show, set or reset the default credential of a cloud."""
    where, name = scope.for_writing(cli, client=True, controller=""), args[0]
    service.definition((where.files,), name, where.host)
    stored = where.files.credentials(name)
    if len(args) == 1 and not reset:
        current = stored.default_credential
        state = f"is {quote(current)}" if current else "is not set"
        return cli.console.info(f"Default credential for cloud {quote(name)} {state} on this client.")
    chosen = args[1] if len(args) > 1 else ""
    if chosen and chosen not in stored.credentials:
        raise NotValid(f"credential {quote(chosen)} for cloud {name} not valid")
    where.files.set_default(name, "default-credential", chosen)
    if chosen:
        return cli.console.info(
            f"Local credential {quote(chosen)} is set to be default for {quote(name)} for this client."
        )
    return cli.console.info(f"Default credential for cloud {quote(name)} is no longer set on this client.")


# --- adding -----------------------------------------------------------------------------------------------


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
    cloud, kind = known_cloud(where, name)
    allowed = _auth_types(cloud, kind)
    if not allowed:
        raise NotValid(f"cloud {quote(name)} does not require credentials")
    if region:
        require_region(cloud, region)
    if not file:
        found, verb = _interview(cli, where, cloud, kind, region)
    else:
        found, verb = _from_file(cli, file, cloud, kind, allowed), "added"
    found = {key: exchanged(where, cloud, item) for key, item in found.items()}
    failed = False
    if where.client:
        failed = _keep_here(cli, where.files, cloud.name, kind, found, verb, file)
    if where.ctx:
        upload(cli, where, cloud.name, kind, found, verb)
    if failed:
        raise Silent


def known_cloud(where: scope.Sides, name: str) -> tuple[Cloud, ProviderType]:
    """Return a cloud and its type.

    Raises:
        NotFound: There is no such cloud, or no plugin for it.
    """
    places = service.folders(where.folder, where.ctx.controller if where.ctx else None)
    cloud = service.definition(places, name, where.host)
    return cloud, where.host.provider_type(cloud.type)


def _auth_types(cloud: Cloud, kind: ProviderType) -> list[str]:
    known = service.auth_types(kind)
    return [name for name in cloud.auth_types if name in known] or known


def require_region(cloud: Cloud, region: str) -> None:
    """Check a region that was named.

    Raises:
        PushjujuError: The cloud has no such region.
    """
    if region not in {item.name for item in cloud.regions}:
        raise NotValid(f"provided region {quote(region)} for cloud {quote(cloud.name)} not valid")


def _from_file(
    cli: Cli, path: str, cloud: Cloud, kind: ProviderType, allowed: Sequence[str]
) -> dict[str, StoredCredential]:
    """Read the credentials of a cloud from Juju's YAML.

    Raises:
        NotFound: No such file, or none for this cloud in it.
        NotValid: A credential is not one of this cloud.
    """
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
    return {name: finished(cloud.name, name, item, kind) for name, item in listed.credentials.items()}


def read_given(cli: Cli, path: str) -> dict[str, CloudCredentials]:
    """Return what a file of credentials says: cloud -> its credentials."""
    try:
        return read_credentials(values.yaml_map(values.read_file(path, cli.console.stdin), path))
    except NotValid as error:
        raise NotValid(f"parsing credentials file: {error.message}") from None


def finished(cloud: str, name: str, item: StoredCredential, kind: ProviderType) -> StoredCredential:
    """Return a credential with its files read, checked against the schema; no value is in a message.

    Raises:
        NotValid: An attribute is missing, unknown, or has a value that is not allowed.
    """
    schema = {attr.name: attr for attr in kind.credential_schemas[item.auth_type]}
    given = dict(item.attributes)
    for attr in schema.values():
        if attr.file_attr and attr.file_attr in given:
            if attr.name in given:
                raise NotValid(
                    f"credential {quote(name)}: specifying both {quote(attr.name)} and "
                    f"{quote(attr.file_attr)} not valid"
                )
            given[attr.name] = _file_text(given.pop(attr.file_attr))
        elif (
            attr.file_path and attr.name in given and not given[attr.name].lstrip().startswith(("{", "-----"))
        ):
            given[attr.name] = _file_text(given[attr.name])
    unknown = sorted(set(given) - set(schema))
    if unknown:
        raise NotValid(f"credential {quote(name)} for cloud {cloud}: unknown key {quote(unknown[0])}")
    for attr in schema.values():
        value = given.get(attr.name, "")
        if attr.required and not value:
            raise NotValid(
                f"credential {quote(name)} for cloud {cloud}: {attr.name}: expected string, got nothing"
            )
        if value and attr.choices and value not in attr.choices:
            raise NotValid(
                f"credential {quote(name)} for cloud {cloud}: {attr.name}: "
                f"expected one of [{' '.join(attr.choices)}]"
            )
    return StoredCredential(auth_type=item.auth_type, attributes=given)


def exchanged(where: scope.Sides, cloud: Cloud, item: StoredCredential) -> StoredCredential:
    """Return what is kept of a credential: a plugin may have made another one of it, in the cloud."""
    spec = service.spec_of(cloud, cloud.regions[0].name if cloud.regions else "")
    auth_type, attributes = where.host.finalize_credential(spec, item.auth_type, item.attributes)
    return StoredCredential(auth_type=auth_type, attributes=attributes)


def _file_text(path: str) -> str:
    """Return the text of a file that a credential names.

    Raises:
        NotValid: It cannot be read, or is no text of a sensible size.
    """
    try:
        content = values.read_file(path)
        if len(content) > values.MAX_FILE:
            raise NotValid(f"invalid file path: {path}: larger than 5M")
        return content.decode()
    except (NotFound, UnicodeDecodeError, ValueError):
        raise NotValid(f"invalid file path: {path}") from None


def _keep_here(
    cli: Cli,
    files: CloudFiles,
    cloud: str,
    kind: ProviderType,
    found: Mapping[str, StoredCredential],
    verb: str,
    path: str,
) -> bool:
    """Write new credentials to the client; tell whether one was there already."""
    known = files.credentials(cloud).credentials if verb == "added" else {}
    for name in known.keys() & found.keys():
        cli.console.info(
            f"ERROR credential {quote(name)} for cloud {quote(cloud)} already exists locally, use "
            f"'pushjuju update-credential {cloud} {name} -f {path}' to update this local client copy"
        )
    new = [name for name in found if name not in known]
    for name in new:
        put(files, cloud, name, found[name], kind)
    if not new:
        cli.output.text(f"No local credentials for cloud {quote(cloud)} changed.\n")
    else:
        what = f" {quote(new[0])}" if len(new) == 1 else f"s {quote(', '.join(new))}"
        cli.output.text(f"Credential{what} {verb} locally for cloud {quote(cloud)}.\n\n")
    return len(new) < len(found)


def put(files: CloudFiles, cloud: str, name: str, item: StoredCredential, kind: ProviderType | None) -> None:
    """Write a credential; what the schema calls secret is sealed."""
    files.put_credential(
        cloud, name, item, service.secret_attributes(kind, item.auth_type, list(item.attributes))
    )


def upload(
    cli: Cli,
    where: scope.Sides,
    cloud: str,
    kind: ProviderType,
    found: Mapping[str, StoredCredential],
    verb: str,
) -> None:
    """Write credentials to the controller, and say so."""
    ctx = where.controller
    name = ctx.controller.name
    if cloud not in documents.controller_clouds(ctx, where.host):
        cli.output.text(
            f"No cloud {quote(cloud)} found on the controller {quote(name)}: credentials are not uploaded.\n"
            f"Use 'pushjuju clouds -c {name}' to see what clouds are available on the controller.\n"
            f"User 'pushjuju add-cloud {cloud} -c {name}' to add your cloud to the controller.\n"
        )
        return
    for credential, item in found.items():
        put(ctx.controller.cloud_files, cloud, credential, item, kind)
        cli.console.info(
            f"Controller credential {quote(credential)} for user {quote(ctx.user)} for cloud {quote(cloud)} "
            f"on controller {quote(name)} {verb}.\n"
            f"For more information, see ‘pushjuju show-credential {cloud} {credential}’."
        )


# --- asking -----------------------------------------------------------------------------------------------


def _interview(
    cli: Cli, where: scope.Sides, cloud: Cloud, kind: ProviderType, region: str
) -> tuple[dict[str, StoredCredential], str]:
    """Ask for a credential; return it and what became of it: added or updated."""
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
    return {name: finished(cloud.name, name, item, kind)}, verb


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


def _ask_attribute(asking: Asking, attr: Attr) -> tuple[str, str]:
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


# --- finding ----------------------------------------------------------------------------------------------


@command(
    "autoload-credentials",
    usage="[<cloud-type>]",
    summary="Attempts to automatically detect and add credentials for a cloud.",
    at_most=1,
    flags=(*flags.CLIENT_OR_CONTROLLER, *flags.LOGIN),
    details="Looks into the files and variables of the clouds' own tools: AWS, OpenStack, Google Cloud,\n"
    "Azure, DigitalOcean, and what plugins know. Values are never shown.",
    examples="    pushjuju autoload-credentials\n    pushjuju autoload-credentials ec2\n",
    see_also=("add-credential", "credentials", "default-credential", "remove-credential"),
)
def autoload_credentials(cli: Cli, args: tuple[str, ...], *, client: bool, controller: str) -> None:
    """Find credentials and offer to keep them."""
    where = scope.for_writing(cli, client=client, controller=controller)
    wanted = _type_meant(where, args[0].lower()) if args else ""
    cli.console.info("\nLooking for cloud and credential information on local client...")
    if where.ctx:
        name = quote(where.ctx.controller.name)
        cli.console.info(f"\nLooking for cloud information on controller {name}...")
    found = [
        (kind, item)
        for kind in sorted(where.host.provider_types(), key=lambda kind: kind.name)
        if wanted in ("", kind.name)
        for item in sorted(
            where.host.detect_credentials(kind.name, cli.env), key=lambda item: natural_key(item.name)
        )
    ]
    if not found:
        return cli.console.info("No cloud credentials found.")
    return _offer(cli, where, found)


def _type_meant(where: scope.Sides, word: str) -> str:
    """Return a type of cloud; the name of a cloud stands for its type.

    Raises:
        NotFound: It is neither.
    """
    kinds = sorted(kind.name for kind in where.host.provider_types())
    if word in kinds:
        return word
    named = documents.client_clouds(where.host, where.files).get(word)
    if named is None:
        raise NotFound(f"cloud type {quote(word)} not found", hint=f"known types: {', '.join(kinds)}")
    return named[1].type


def _offer(cli: Cli, where: scope.Sides, found: Sequence[tuple[ProviderType, DetectedCredential]]) -> None:
    while True:
        lines = [
            f"{number}. {item.label} ({'new' if _is_new(where, kind, item) else 'existing, will overwrite'})"
            for number, (kind, item) in enumerate(found, 1)
        ]
        cli.console.info("\n" + "\n".join(lines))
        answer = _answer(cli, "Select a credential to save by number, or type Q to quit: ")
        if answer.lower() == "q":
            return
        if not answer:
            continue
        if not answer.isdecimal() or not 1 <= int(answer) <= len(found):
            cli.console.info(f"Invalid choice, enter a number between 1 and {len(found)}")
            continue
        kind, item = found[int(answer) - 1]
        default = next(iter(_clouds_of(where, kind)), "")
        name = _answer(cli, f"Select the cloud it belongs to, or type Q to quit [{default}]: ") or default
        if name.lower() == "q":
            return
        _save(cli, where, name, kind, item)


def _answer(cli: Cli, question: str) -> str:
    cli.console.stderr.write(question)
    cli.console.stderr.flush()
    line = cli.console.stdin.readline()
    cli.console.stderr.write("\n")
    return line.strip() if line else "q"


def _clouds_of(where: scope.Sides, kind: ProviderType) -> list[str]:
    listed = documents.client_clouds(where.host, where.files).items()
    return sorted(name for name, (_, cloud) in listed if cloud.type == kind.name)


def _is_new(where: scope.Sides, kind: ProviderType, item: DetectedCredential) -> bool:
    clouds = _clouds_of(where, kind)
    return not any(item.name in where.files.credentials(cloud).credentials for cloud in clouds)


def _save(cli: Cli, where: scope.Sides, name: str, kind: ProviderType, item: DetectedCredential) -> None:
    if not name:
        return cli.console.info("No cloud name entered.")
    try:
        cloud, real = known_cloud(where, name)
    except PushjujuError as error:
        return cli.console.warn(error.message)
    if real.name != kind.name:
        return cli.console.warn(f"chosen credential not compatible with {quote(cloud.type)} cloud")
    stored = StoredCredential(auth_type=item.auth_type, attributes=dict(item.attributes))
    stored = finished(name, item.name, stored, kind)
    if where.client:
        before = where.files.credentials(name)
        put(where.files, name, item.name, stored, kind)
        if item.region and item.region in {region.name for region in cloud.regions}:
            where.files.set_default(name, "default-region", item.region)
        if item.default and not before.default_credential:
            where.files.set_default(name, "default-credential", item.name)
        cli.console.info(f"Saved {item.label} to cloud {name} locally")
    if where.ctx:
        upload(cli, where, name, kind, {item.name: stored}, "loaded")
    return None
