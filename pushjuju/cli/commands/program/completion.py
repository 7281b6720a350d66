"""completion: prints the script that completes commands, flags and names in a shell."""

from __future__ import annotations

from pathlib import Path

from pushjuju.cli.syntax.command import Cli, command
from pushjuju.core.errors import UsageError

SHELLS = ("bash", "zsh", "fish")


@command(
    "completion",
    usage="bash|zsh|fish",
    summary="Prints the script that completes commands, flags and names in a shell.",
    at_least=(1, "no shell specified: completion bash|zsh|fish"),
    at_most=1,
    details="Completes names of models, applications, units, machines, endpoints, storage, actions and\n"
    "settings. They come from the store of the controller that the command line names; no machine\n"
    "is contacted.",
    examples="    source <(pushjuju completion bash)\n    source <(pushjuju completion zsh)\n"
    "    pushjuju completion fish | source\n",
    see_also=("help",),
)
def completion(cli: Cli, args: tuple[str, ...]) -> None:
    if args[0] not in SHELLS:
        raise UsageError(f'unknown shell "{args[0]}": completion knows bash, zsh and fish')
    folder = Path(__file__).parents[2] / "shells"
    cli.output.text((folder / f"completion.{args[0]}").read_text(encoding="utf-8"))
