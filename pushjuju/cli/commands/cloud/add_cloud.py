"""add-cloud: adds a cloud definition to Juju. Mirrors: juju cmd/juju/cloud (3.6)"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pushjuju.cli.commands.cloud.cloud_sources import cloud_of_file
from pushjuju.cli.syntax import flags, values
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.terminal.questions import Asking, something
from pushjuju.cli.work import scope
from pushjuju.core.clouds import Cloud, is_cloud
from pushjuju.core.errors import UsageError
from pushjuju.portable.quote import quote
from pushjuju.services.entities.basis import plugin_host
from pushjuju.services.entities.cloud import clouds as cloud_types
from pushjuju.services.entities.model import sides
from pushjuju.services.requests.cloud import definitions

_NO_CREDENTIAL = (
    "You will need to add a credential for this cloud (`{program} add-credential {name}`)\n"
    "before you can use it to bootstrap a controller (`{program} bootstrap {name}`) or\n"
    "to create a model (`{program} add-model <your model name> {name}`)."
)


@command(
    "add-cloud",
    usage="<cloud name> [<cloud definition file>]",
    summary="Adds a cloud definition to Juju.",
    at_most=2,
    flags=(
        *flags.CLIENT_OR_CONTROLLER,
        flags.switch("force", "Add the cloud although the name is that of a public or built-in one"),
        flags.text("file", "The path to a cloud definition file", short="f"),
        flags.text("credential", "Credential to give to the controller with the cloud"),
        flags.text("target-controller", "Refused: for JAAS only"),
    ),
    details="The file is Juju's YAML: clouds, then NAME, then type, endpoint, regions and so on.\n"
    "Without a file the command asks. Clouds are kept in clouds.toml, which you may edit.",
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
    if target_controller:
        raise UsageError("--target-controller is for JAAS controllers only")
    if len(args) > 1 and file:
        raise UsageError("cannot specify cloud file with flag and argument")
    path, name = file or (args[1] if len(args) > 1 else ""), args[0] if args else ""
    if name and not is_cloud(name):
        raise UsageError(f"cloud name {quote(name)} not valid")
    where = scope.for_writing(cli, client=client, controller=controller)
    if path:
        cloud = cloud_of_file(cli, where, path, name)
        definitions.require_free(where, cloud.name, force=force)
    elif name and where.ctx and not where.client and name in _clouds_here(where):
        cloud = _clouds_here(where)[name][1]
    else:
        cloud = _interview(cli, where, name)
    if where.client:
        _add_here(cli, where, cloud)
    if where.ctx:
        _add_there(cli, where, cloud, credential, where.ctx.controller.name)


def _clouds_here(where: sides.Sides) -> dict[str, tuple[str, Cloud]]:
    return definitions.client_clouds(where.host, where.files)


def _add_here(cli: Cli, where: sides.Sides, cloud: Cloud) -> None:
    needs_credential = definitions.put_on_client(where, cloud)
    cli.console.info(f"Cloud {quote(cloud.name)} successfully added to your local client.")
    if needs_credential:
        cli.console.info(_NO_CREDENTIAL.format(program=cli.program, name=cloud.name))


def _add_there(cli: Cli, where: sides.Sides, cloud: Cloud, credential: str, controller: str) -> None:
    """Add a cloud to the controller, with a credential of the client."""
    definitions.put_on_controller(where, cloud)
    cli.console.info(f"Cloud {quote(cloud.name)} added to controller {quote(controller)}.")
    given = definitions.hand_over(where, cloud, credential)
    if given.name:
        cli.console.info(f"Credential {quote(given.name)} for cloud {quote(cloud.name)} added to controller.")
    elif given.missing:
        cli.console.warn(f"loading credentials: credentials for cloud {cloud.name} not found")
        cli.console.info(
            f"To upload a credential to the controller for cloud {quote(cloud.name)}, use \n"
            "* 'add-model' with --credential option or\n"
            f"* 'add-credential -c {cloud.name}'."
        )


def _interview(cli: Cli, where: sides.Sides, name: str) -> Cloud:
    """Ask the user about a cloud."""
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
    document: dict[str, object] = {"type": chosen}
    for question in kinds[chosen].questions:
        answer = _answer(cli, asking, question, kinds[chosen])
        if answer:
            document[question.key] = answer
    document.setdefault("auth-types", cloud_types.auth_types(kinds[chosen]))
    return Cloud.from_document(name, document)


def _ask_name(asking: Asking, where: sides.Sides, kind: str) -> str:
    while True:
        name = asking.enter(
            f"a name for your {kind} cloud",
            lambda text: None if is_cloud(text) else f"Invalid name: {quote(text)}" if text else "",
        )
        if name in where.files.clouds():
            question = f"A cloud named {quote(name)} already exists. Do you want to replace that definition"
        elif taken := definitions.taken(where.host, name):
            question = f"{taken}, do you want to override that definition"
        else:
            return name
        if asking.yes(question):
            return name


def _answer(cli: Cli, asking: Asking, question: plugin_host.Question, kind: plugin_host.ProviderType) -> Any:
    if question.kind == "choices":
        options = sorted(cloud_types.auth_types(kind))
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


def _default(question: plugin_host.Question, cli: Cli) -> str | None:
    return next((cli.env[name] for name in question.environ if cli.env.get(name)), question.default)


def _url(text: str) -> str | None:
    if not text:
        return ""
    return None if "://" in text and " " not in text else f"Invalid URL: {quote(text)}"


def _ask_regions(asking: Asking, question: plugin_host.Question, cli: Cli) -> dict[str, object]:
    found: dict[str, object] = {}
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
        "the API endpoint url for the region", "use cloud api url", lambda text: _url(text) if text else None
    )
