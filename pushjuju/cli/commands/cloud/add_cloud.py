"""add-cloud: adds a cloud definition to Juju. Mirrors: juju cmd/juju/cloud (3.6)"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pushjuju.cli.commands.cloud.cloud_sources import cloud_of_file
from pushjuju.cli.syntax import flags, values
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.terminal.questions import Asking, something
from pushjuju.cli.work import scope
from pushjuju.core.clouds import Cloud, is_cloud
from pushjuju.core.errors import NotValid, PushjujuError, UsageError
from pushjuju.portable.quote import quote
from pushjuju.services.entities.cloud import clouds as service
from pushjuju.services.entities.model import sides
from pushjuju.services.views import cloud_documents as documents

if TYPE_CHECKING:
    from pushjuju.services.entities.basis.plugin_host import ProviderType, Question

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
        cloud = cloud_of_file(cli, where, path, name)
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


def _told_local(cli: Cli, where: sides.Sides, cloud: Cloud) -> None:
    cli.console.info(f"Cloud {quote(cloud.name)} successfully added to your local client.")
    kind = service.kind_of(where.host, cloud.type)
    if (
        kind
        and "empty" not in kind.credential_schemas
        and not where.files.credentials(cloud.name).credentials
    ):
        cli.console.info(_NO_CREDENTIAL.format(program=cli.program, name=cloud.name))


def _hand_over(cli: Cli, where: sides.Sides, cloud: Cloud, credential: str) -> None:
    """Give a credential of the client's to the controller with the cloud."""
    kind = service.kind_of(where.host, cloud.type)
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


def _known(where: sides.Sides, name: str) -> bool:
    return name in documents.client_clouds(where.host, where.files)


def _taken(where: sides.Sides, name: str) -> str:
    """Return why a name is not free, or an empty text."""
    if name in service.BUILT_IN:
        return f"{quote(name)} is the name of a built-in cloud"
    if name in service.public_clouds(where.host):
        return f"{quote(name)} is the name of a public cloud"
    return ""


def _refuse_known(where: sides.Sides, name: str, *, force: bool) -> None:
    files = where.files if where.client else where.controller.controller.cloud_files
    if name in files.clouds():
        raise NotValid(f"{quote(name)} already exists; use `update-cloud` to replace this existing cloud")
    if taken := "" if force else _taken(where, name):
        raise NotValid(f"{taken}; use `update-cloud` to override this definition")


def _interview(cli: Cli, where: sides.Sides, name: str) -> Cloud:
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


def _ask_name(asking: Asking, where: sides.Sides, kind: str) -> str:
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
