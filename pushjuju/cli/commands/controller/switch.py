"""The command switch. Mirrors: juju cmd/juju/controller, cmd/juju/commands/switch.go (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.model.model_table import switched
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import focusing, session
from pushjuju.core.errors import NotFound
from pushjuju.core.problems import Subject
from pushjuju.services.entities.model import sessions
from pushjuju.services.requests.controller import controllers as service


@command(
    "switch",
    usage="[<controller>|<model>|<controller>:|:<model>|<controller>:<model>|-]",
    details="`-` goes back to the previous model. A word without a colon is a controller, if a controller\n"
    "has that name, else a model of the current controller.",
    summary="Selects or identifies the current controller and model.",
    at_most=1,
    flags=flags.LOGIN,
    examples="    pushjuju switch\n"
    "    pushjuju switch test\n"
    "    pushjuju switch home:test\n"
    "    pushjuju switch home:\n"
    "    pushjuju switch -\n",
    see_also=("controllers", "models"),
)
def switch(cli: Cli, args: tuple[str, ...]) -> None:
    folder = session.data_dir(cli)
    before = session.position(cli)
    if not args:
        if not before:
            raise service.no_controller(folder)
        return cli.output.text(f"{before}\n")
    text = _previous(folder) if args[0] == "-" else args[0]
    controller, model = _target(cli, folder, text)
    with session.moving(cli):
        if model is not None:
            _focus(cli, controller, model, text)
        folder.set_current_controller(controller)
    return cli.console.info(switched(before, session.position(cli)))


def _focus(cli: Cli, controller: str, model: str, text: str) -> None:
    """Make a model current; the error for a word without a colon is that it names nothing."""
    try:
        focusing.focus(cli, controller, model)
    except NotFound:
        if ":" in text:
            raise
        raise NotFound(
            f'"{text}" is not the name of a model or controller: not found',
            hint=f"{cli.program} models    lists the models",
            subject=Subject("controller or model", text),
        ) from None


def _previous(folder: sessions.DataDir) -> str:
    """Return the model or controller that was current before."""
    found = str(folder.main().get("previous") or "")
    if not found:
        raise NotFound("no previous model found: not found", hint="pushjuju models    lists the models")
    return found if ":" in found else f"{found}:"


def _target(cli: Cli, folder: sessions.DataDir, text: str) -> tuple[str, str | None]:
    """Return (controller, model to make current or None) that the argument names."""
    controller, model = session.split_model(text)
    if ":" in text:
        chosen = controller or service.current(folder, None, cli.env)
        folder.require_known(chosen)
        return chosen, model or None
    if text in (*folder.controllers(), *folder.remotes()):
        return text, None
    if not folder.current_controller():
        fault = f'"{text}" is not the name of a controller: not found'
        raise NotFound(fault, subject=Subject("controller or model", text))
    return service.current(folder, None, cli.env), text
