"""clouds, show-cloud, add-cloud, update-cloud, remove-cloud, regions, default-region.

Mirrors: juju cmd/juju/cloud (3.6)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pushjuju.cli.commands.credential import cloud_table as formatters
from pushjuju.cli.syntax import flags, values
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.terminal.questions import Asking, something
from pushjuju.cli.work import scope, session
from pushjuju.core.clouds import Cloud, is_cloud, read_clouds
from pushjuju.core.errors import NotFound, NotValid, PushjujuError, Silent, UsageError
from pushjuju.plugins.types import ProviderType, Question
from pushjuju.portable.quote import quote
from pushjuju.services.entities.cloud import cloud_checks
from pushjuju.services.entities.cloud import clouds as service
from pushjuju.services.views import cloud_documents as documents

_FILE = flags.text("file", "The path to a cloud definition file", short="f")
_NO_CREDENTIAL = (
    "You will need to add a credential for this cloud (`{program} add-credential {name}`)\n"
    "before you can use it to bootstrap a controller (`{program} bootstrap {name}`) or\n"
    "to create a model (`{program} add-model <your model name> {name}`)."
)


@command(
    "clouds",
    summary="Lists all clouds available to Juju.",
    aliases=("list-clouds",),
    at_most=0,
    formats=("tabular", "yaml", "json"),
    flags=(
        *flags.CLIENT_OR_CONTROLLER,
        *flags.LOGIN,
        flags.switch("all", "Show all available clouds", dest="every"),
        flags.switch(
            "import-juju", "Copy the clouds and credentials of a Juju client on this computer first"
        ),
    ),
    details="Public clouds are shown once there is a credential for them, or with --all.\n"
    "Files of a Juju client are looked for in JUJU_DATA, else in ~/.local/share/juju, and never changed;\n"
    "what is known here already stays as it is.",
    examples="    pushjuju clouds\n    pushjuju clouds --all\n    pushjuju clouds --client --format yaml\n"
    "    pushjuju clouds --import-juju\n",
    see_also=("add-cloud", "credentials", "regions", "show-cloud", "update-cloud"),
)
def clouds(
    cli: Cli, _args: tuple[str, ...], *, client: bool, controller: str, every: bool, import_juju: bool
) -> None:
    """List clouds."""
    where = scope.for_reading(cli, client=client, controller=controller)
    _juju_files(cli, where, take_over=import_juju)
    stored = where.files.all_credentials()
    here = documents.client_clouds(where.host, where.files) if where.client else {}
    local = {
        name: documents.cloud_document(cloud, where.host, source=source, stored=stored.get(name))
        for name, (source, cloud) in here.items()
    }
    more = [name for name, item in local.items() if item["defined"] == "public" and name not in stored]
    if more and not every:
        local = {name: item for name, item in local.items() if name not in more}
        cli.console.info(
            "Only clouds with registered credentials are shown.\n"
            "There are more clouds, use --all to see them."
        )
    remote = _remote(where)
    if cli.output.form == "tabular":
        return cli.output.text(formatters.clouds_table(remote, local, colour=cli.output.colour))
    return cli.output.text(formatters.cloud_documents(cli.output.form, {**local, **remote}))


@command(
    "show-cloud",
    usage="<cloud name>",
    summary="Shows detailed information for a cloud.",
    at_least=(1, "no cloud specified"),
    at_most=1,
    formats=("display", "yaml", "json"),
    flags=(
        *flags.CLIENT_OR_CONTROLLER,
        *flags.LOGIN,
        flags.switch(
            "include-config", "Print available config option details specific to the specified cloud"
        ),
    ),
    examples="    pushjuju show-cloud aws\n    pushjuju show-cloud aws --client --format yaml\n",
    see_also=("clouds", "add-cloud", "update-cloud"),
)
def show_cloud(
    cli: Cli, args: tuple[str, ...], *, client: bool, controller: str, include_config: bool
) -> None:
    """Show a cloud as both sides know it."""
    where, name = scope.for_reading(cli, client=client, controller=controller), args[0]
    shown: list[tuple[str, dict[str, Any]]] = []
    here = documents.client_clouds(where.host, where.files) if where.client else {}
    kind = ""
    if name in here:
        source, cloud = here[name]
        kind, stored = cloud.type, where.files.credentials(name)
        document = documents.cloud_document(cloud, where.host, source=source, stored=stored)
        shown.append((f"Client cloud {quote(name)}:", document))
    there = _remote(where)
    if name in there:
        document = there[name]
        kind = document["type"]
        shown.append(
            (f"Cloud {quote(name)} from controller {quote(where.controller.controller.name)}:", document)
        )
    if not shown:
        raise NotFound(f"cloud {quote(name)} not found")
    if cli.output.form != "display":
        shown = [(head, {"name": name, "summary": head.rstrip(":"), **item}) for head, item in shown]
    config = _config_text(documents.kind_of(where.host, kind)) if include_config else ""
    cli.output.text(formatters.show_cloud(cli.output.form, shown) + config)


def _juju_files(cli: Cli, where: scope.Sides, *, take_over: bool) -> None:
    """Take over what a Juju client has here, or tell a person without clouds that it can be."""
    from pushjuju.cli.commands.credential import juju_files

    source = juju_files.folder(cli.env)
    if take_over:
        if not juju_files.has_any(cli.env):
            raise NotFound(f"no clouds.yaml or credentials.yaml of a Juju client in {source}")
        for line in juju_files.take_over(where, source):
            cli.console.info(line)
    elif cli.console.stderr.isatty() and juju_files.has_any(cli.env) and not where.files.clouds():
        cli.console.info(
            f"A Juju client has clouds or credentials in {source}; "
            f"`{cli.program} clouds --import-juju` copies them."
        )


def _remote(where: scope.Sides) -> dict[str, dict[str, Any]]:
    """Return the clouds of the controller that was asked for, if any.

    Juju calls them all public, and has no descriptions of them.
    """
    if not where.ctx:
        return {}
    found = {}
    for name, cloud in documents.controller_clouds(where.ctx, where.host).items():
        document = documents.controller_cloud_document(where.ctx, cloud, where.host)
        document.pop("description", None)
        found[name] = {"defined": "public", **document}
    return found


def _config_text(kind: ProviderType | None) -> str:
    if kind is None or not kind.config_schema:
        return ""
    listed = {attr.name: {"type": attr.type, "description": attr.summary} for attr in kind.config_schema}
    text = formatters.flowing("yaml", listed)
    return f"\nThe available config options specific to {kind.name} clouds are:\n{text}"


@command(
    "regions",
    usage="<cloud>",
    summary="Lists regions for a given cloud.",
    aliases=("list-regions",),
    at_least=(1, "no cloud specified"),
    at_most=1,
    formats=("tabular", "yaml", "json"),
    flags=(*flags.CLIENT_OR_CONTROLLER, *flags.LOGIN),
    examples="    pushjuju regions aws\n    pushjuju regions aws --client --format yaml\n",
    see_also=("add-cloud", "clouds", "show-cloud", "update-cloud", "update-public-clouds"),
)
def regions(cli: Cli, args: tuple[str, ...], *, client: bool, controller: str) -> None:
    """List the regions of a cloud."""
    where, name = scope.for_reading(cli, client=client, controller=controller), args[0]
    here = documents.client_clouds(where.host, where.files).get(name) if where.client else None
    there = documents.controller_clouds(where.ctx, where.host).get(name) if where.ctx else None
    if here is None and there is None:
        raise NotFound(f"cloud {name} not found")
    found = [
        {region["name"]: region["ends"] for region in _regions(cloud)} if cloud else None
        for cloud in (here[1] if here else None, there)
    ]
    cli.output.text(formatters.regions(cli.output.form, found[0], found[1]))


def _regions(cloud: Cloud) -> list[dict[str, Any]]:
    names = [region.name for region in cloud.regions] or ["default"]
    return [{"name": name, "ends": cloud.region(name).to_document()} for name in names]


@command(
    "default-region",
    usage="<cloud name> [<region>]",
    summary="Sets the default region for a cloud.",
    aliases=("set-default-region",),
    at_least=(1, "Usage: pushjuju default-region <cloud-name> [<region>]"),
    at_most=2,
    flags=(flags.switch("reset", "Reset default region for the cloud"),),
    examples="    pushjuju default-region aws\n"
    "    pushjuju default-region aws eu-west-1\n"
    "    pushjuju default-region aws --reset\n",
    see_also=("add-credential",),
)
def default_region(cli: Cli, args: tuple[str, ...], *, reset: bool) -> None:
    """Show, set or reset the default region of a cloud."""
    where, name = scope.for_writing(cli, client=True, controller=""), args[0]
    cloud = service.definition((where.files,), name, where.host)
    if not cloud.regions:
        raise NotValid(f"cloud {name} has no regions")
    if len(args) == 1 and not reset:
        current = where.files.credentials(name).default_region
        state = f"is {quote(current)}" if current else "is not set"
        return cli.console.info(f"Default region for cloud {quote(name)} {state} on this client.")
    if reset:
        where.files.set_default(name, "default-region", "")
        return cli.console.info(f"Default region for cloud {quote(name)} is no longer set on this client.")
    region = cloud.region(args[1]).name
    where.files.set_default(name, "default-region", region)
    return cli.console.info(f"Default region in {name} set to {quote(region)}.")


@command(
    "update-public-clouds",
    summary="Updates public cloud information available to Juju.",
    at_most=0,
    flags=(*flags.CLIENT_OR_CONTROLLER, *flags.LOGIN),
    details="The list of public clouds comes with the program and its plugins; it changes with them.",
    see_also=("clouds",),
)
def update_public_clouds(cli: Cli, _args: tuple[str, ...], *, client: bool, controller: str) -> None:
    """Say that the list is as new as the program."""
    where = scope.for_writing(cli, client=client, controller=controller)
    if where.client:
        cli.console.info(
            "List of public clouds on this client is up to date, see `pushjuju clouds --client`."
        )
    if where.ctx:
        name = where.ctx.controller.name
        cli.console.info(f"List of public clouds on controller {quote(name)} is up to date.")


# --- add, update, remove ----------------------------------------------------------------------------------


@command(
    "add-cloud",
    usage="<cloud name> [<cloud definition file>]",
    summary="Adds a cloud definition to Juju.",
    at_most=2,
    flags=(
        *flags.CLIENT_OR_CONTROLLER,
        *flags.LOGIN,
        flags.switch("force", "Add the cloud although the name is that of a public or built-in one"),
        flags.text("file", "The path to a cloud definition file", short="f"),
        flags.text("credential", "Credential to give to the controller with the cloud"),
        flags.text("target-controller", "Refused: for JAAS only"),
    ),
    details="The file is Juju's YAML: clouds, then NAME, then type, endpoint, regions and so on.\n"
    "Without a file it asks. Clouds are kept in clouds.toml, which you may edit.",
    examples="    pushjuju add-cloud mycloud ~/mycloud.yaml\n"
    "    pushjuju add-cloud --client -f mycloud.yaml mycloud\n",
    see_also=("clouds", "update-cloud", "remove-cloud", "add-credential"),
)
def add_cloud(
    cli: Cli,
    args: tuple[str, ...],
    *,
    client: bool,
    controller: str,
    force: bool,
    file: str,
    credential: str,
    target_controller: str,
) -> None:
    """Add a cloud from a file or from answers."""
    if target_controller:
        raise UsageError("--target-controller is for JAAS controllers only")
    if len(args) > 1 and file:
        raise UsageError("cannot specify cloud file with flag and argument")
    path, name = file or (args[1] if len(args) > 1 else ""), args[0] if args else ""
    if name and not is_cloud(name):
        raise UsageError(f"cloud name {quote(name)} not valid")
    where = scope.for_writing(cli, client=client, controller=controller)
    if path:
        cloud = _from_file(cli, where, path, name)
        _refuse_known(where, cloud.name, force=force)
    elif name and where.ctx and not where.client and _known(where, name):
        cloud = service.definition((where.files,), name, where.host)
    else:
        cloud = _interview(cli, where, name)
    if where.client:
        where.files.put_cloud(cloud.name, cloud.to_document())
        _told_local(cli, where, cloud)
    if where.ctx:
        where.ctx.controller.cloud_files.put_cloud(cloud.name, cloud.to_document())
        cli.console.info(f"Cloud {quote(cloud.name)} added to controller {quote(where.ctx.controller.name)}.")
        _hand_over(cli, where, cloud, credential)


def _told_local(cli: Cli, where: scope.Sides, cloud: Cloud) -> None:
    cli.console.info(f"Cloud {quote(cloud.name)} successfully added to your local client.")
    kind = documents.kind_of(where.host, cloud.type)
    if (
        kind
        and "empty" not in kind.credential_schemas
        and not where.files.credentials(cloud.name).credentials
    ):
        cli.console.info(_NO_CREDENTIAL.format(program=cli.program, name=cloud.name))


def _hand_over(cli: Cli, where: scope.Sides, cloud: Cloud, credential: str) -> None:
    """Give a credential of the client's to the controller with the cloud."""
    kind = documents.kind_of(where.host, cloud.type)
    try:
        name = service.choose_credential((where.files,), cloud.name, credential)
    except PushjujuError as error:
        raise type(error)(f"loading credentials: {error.message}", hint=error.hint) from None
    if not name:
        if kind and "empty" not in kind.credential_schemas:
            cli.console.warn(f"loading credentials: credentials for cloud {cloud.name} not found")
            cli.console.info(
                f"To upload a credential to the controller for cloud {quote(cloud.name)}, use \n"
                "* 'add-model' with --credential option or\n"
                f"* 'add-credential -c {cloud.name}'."
            )
        return
    found = where.files.credentials(cloud.name).credentials[name]
    secret = service.secret_attributes(kind, found.auth_type, list(found.attributes))
    where.controller.controller.cloud_files.put_credential(cloud.name, name, found, secret)
    cli.console.info(f"Credential {quote(name)} for cloud {quote(cloud.name)} added to controller.")


def _from_file(cli: Cli, where: scope.Sides, path: str, name: str) -> Cloud:
    """Read a cloud from Juju's YAML.

    Raises:
        NotFound: No such file, or the cloud is not in it.
        NotValid: The file is wrong, or nobody drives that type.
    """
    found = read_clouds(values.yaml_map(values.read_file(path, cli.console.stdin), path))
    if name and name not in found:
        raise NotFound(f"cloud {quote(name)} not found in file {quote(path)}")
    if not name and len(found) > 1:
        raise UsageError(f"file {quote(path)} defines several clouds: name one of {', '.join(found)}")
    cloud = found[name or next(iter(found))]
    kind = documents.kind_of(where.host, cloud.type)
    if kind is None:
        known = ", ".join(sorted(item.name for item in where.host.provider_types()))
        raise NotValid(f"cloud type {quote(cloud.type)} not valid", hint=f"known types: {known}")
    for warning in cloud_checks.check(cloud, kind):
        cli.console.warn(warning)
    return cloud


def _known(where: scope.Sides, name: str) -> bool:
    return name in documents.client_clouds(where.host, where.files)


def _taken(where: scope.Sides, name: str) -> str:
    """Return why a name is not free, or an empty text."""
    if name in service.BUILT_IN:
        return f"{quote(name)} is the name of a built-in cloud"
    if name in service.public_clouds(where.host):
        return f"{quote(name)} is the name of a public cloud"
    return ""


def _refuse_known(where: scope.Sides, name: str, *, force: bool) -> None:
    files = where.files if where.client else where.controller.controller.cloud_files
    if name in files.clouds():
        raise NotValid(f"{quote(name)} already exists; use `update-cloud` to replace this existing cloud")
    if taken := "" if force else _taken(where, name):
        raise NotValid(f"{taken}; use `update-cloud` to override this definition")


def _interview(cli: Cli, where: scope.Sides, name: str) -> Cloud:
    """Ask for a cloud."""
    asking = Asking(cli.console.stdin, cli.console.stdout)
    kinds = {kind.name: kind for kind in where.host.provider_types()}
    asked = sorted(name for name, kind in kinds.items() if kind.questions)

    def check(text: str) -> str | None:
        if text.lower() in asked:
            return None
        if text.lower() in kinds:
            return f"Cloud type {quote(text)} not supported for interactive add-cloud."
        return f"Invalid cloud type: {quote(text)}" if text else ""

    chosen = asking.select("cloud type", "cloud types", asked, check=check).lower()
    name = name or _ask_name(asking, where, chosen)
    document: dict[str, Any] = {"type": chosen}
    for question in kinds[chosen].questions:
        answer = _answer(cli, asking, question, kinds[chosen])
        if answer:
            document[question.key] = answer
    document.setdefault("auth-types", service.auth_types(kinds[chosen]))
    return Cloud.from_document(name, document)


def _ask_name(asking: Asking, where: scope.Sides, kind: str) -> str:
    while True:
        name = asking.enter(
            f"a name for your {kind} cloud",
            lambda text: None if is_cloud(text) else f"Invalid name: {quote(text)}" if text else "",
        )
        if name in where.files.clouds():
            question = f"A cloud named {quote(name)} already exists. Do you want to replace that definition"
        elif taken := _taken(where, name):
            question = f"{taken}, do you want to override that definition"
        else:
            return name
        if asking.yes(question):
            return name


def _answer(cli: Cli, asking: Asking, question: Question, kind: ProviderType) -> Any:
    if question.kind == "choices":
        options = sorted(service.auth_types(kind))
        return options if len(options) == 1 else asking.select_some("auth type", "auth types", options)
    if question.kind in ("regions", "names"):
        return _ask_regions(asking, question, cli)
    default = _default(question, cli)
    check = _url if question.kind == "url" else something
    if default is None:
        return asking.enter(question.text, check)
    found = asking.enter_default(question.text, default or question.shown_default, check) or default
    if question.kind == "file":
        return [values.read_file(found).decode()] if found else []
    return found


def _default(question: Question, cli: Cli) -> str | None:
    return next((cli.env[name] for name in question.environ if cli.env.get(name)), question.default)


def _url(text: str) -> str | None:
    if not text:
        return ""
    return None if "://" in text and " " not in text else f"Invalid URL: {quote(text)}"


def _ask_regions(asking: Asking, question: Question, cli: Cli) -> dict[str, Any]:
    found: dict[str, Any] = {}
    default, noun = _default(question, cli), question.text or "region"
    while True:

        def check(text: str, seen: Sequence[str] = tuple(found)) -> str | None:
            return (
                (f"{noun.capitalize()} {quote(text)} already exists" if text in seen else None)
                if text
                else ""
            )

        if default is None:
            name = asking.enter(f"{noun} name", check)
        else:
            name = asking.enter_default(noun, default, check) or default
        end = "" if question.kind == "names" else _ask_endpoint(asking)
        found[name] = {"endpoint": end} if end else {}
        if not asking.yes(f"Enter another {noun}"):
            return found


def _ask_endpoint(asking: Asking) -> str:
    return asking.enter_default(
        "the API endpoint url for the region",
        "use cloud api url",
        lambda text: _url(text) if text else None,
    )


@command(
    "update-cloud",
    usage="<cloud name>",
    summary="Updates cloud information available to Juju.",
    at_least=(1, "cloud name required"),
    at_most=1,
    flags=(*flags.CLIENT_OR_CONTROLLER, *flags.LOGIN, _FILE),
    details="With --controller and without a file, the controller gets the definition of this client.",
    examples="    pushjuju update-cloud mymaas --client -f path/to/maas.yaml\n",
    see_also=("add-cloud", "remove-cloud", "clouds"),
)
def update_cloud(cli: Cli, args: tuple[str, ...], *, client: bool, controller: str, file: str) -> None:
    """Replace the definition of a cloud."""
    name = args[0]
    if not is_cloud(name):
        raise UsageError(f"cloud name {quote(name)} not valid")
    where = scope.for_writing(cli, client=client, controller=controller)
    cloud = _from_file(cli, where, file, name) if file else None
    failed = False
    if where.client and cloud is None:
        cli.console.info(
            f"To update cloud {quote(name)} on this client, a cloud definition file is required."
        )
        failed = True
    elif where.client and cloud:
        where.files.put_cloud(name, cloud.to_document())
        cli.console.info(f"Cloud {quote(name)} updated on this client using provided file.")
    if where.ctx:
        source = "provided file" if cloud else "client cloud definition"
        known = cloud or service.definition((where.files,), name, where.host)
        if name not in documents.controller_clouds(where.ctx, where.host):
            raise NotFound(f"cloud {quote(name)} not found")
        where.ctx.controller.cloud_files.put_cloud(name, known.to_document())
        there = quote(where.ctx.controller.name)
        cli.console.info(f"Cloud {quote(name)} updated on controller {there} using {source}.")
    if failed:
        raise Silent


@command(
    "remove-cloud",
    usage="<cloud name>",
    summary="Removes a cloud from Juju.",
    at_least=(1, "Usage: pushjuju remove-cloud <cloud name>"),
    at_most=1,
    flags=(*flags.CLIENT_OR_CONTROLLER, *flags.LOGIN),
    details="Controllers that work with the cloud keep its definition.",
    examples="    pushjuju remove-cloud lab --client\n    pushjuju remove-cloud lab -c home\n",
    see_also=("add-cloud", "update-cloud", "clouds"),
)
def remove_cloud(cli: Cli, args: tuple[str, ...], *, client: bool, controller: str) -> None:
    """Remove a cloud from the client or from a controller."""
    where, name = scope.for_writing(cli, client=client, controller=controller), args[0]
    if where.client:
        _remove_here(cli, where, name)
    if where.ctx:
        users = documents.users_of(where.ctx, name)
        if users or where.ctx.controller.settings().get("cloud") == name:
            count = f"{len(users)} model{'' if len(users) == 1 else 's'}" if users else "the controller"
            raise NotValid(f"cloud is used by {count}")
        there = quote(where.ctx.controller.name)
        if where.ctx.controller.cloud_files.remove_cloud(name):
            cli.console.info(f"Removed details of cloud {quote(name)} from controller {there}")
        else:
            cli.console.info(f"No cloud called {quote(name)} exists on controller {there}")


def _may_use(cli: Cli, controller: str, name: str) -> bool:
    """Return whether a controller uses a cloud; one that cannot be read may."""
    try:
        ctx = session.open_controller(cli, controller)
        return bool(documents.users_of(ctx, name)) or ctx.controller.settings().get("cloud") == name
    except PushjujuError as error:
        what = f"It keeps a copy of cloud {quote(name)}, in case it uses the cloud."
        session.warn_of_controller(cli, controller, error, what)
        return True


def _remove_here(cli: Cli, where: scope.Sides, name: str) -> None:
    if name in where.files.clouds():
        for controller in where.folder.controllers():
            own = where.folder.controller(controller).cloud_files
            if _may_use(cli, controller, name) and name not in own.clouds():
                own.put_cloud(name, where.files.clouds()[name])
        where.files.remove_cloud(name)
        return cli.console.info(f"Removed details of cloud {quote(name)} from this client")
    if name in service.BUILT_IN:
        return cli.console.info(f"Cannot remove built-in cloud {quote(name)} from client")
    if name in service.public_clouds(where.host):
        cli.console.info(f"Cannot remove public cloud {quote(name)} from client")
        if where.files.credentials(name).credentials:
            cli.console.info(
                f"To hide this cloud, remove its credentials with `{cli.program} remove-credential`"
            )
        return None
    return cli.console.info(f"No cloud called {quote(name)} exists on this client")
