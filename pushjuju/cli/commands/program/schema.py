"""schema: prints the JSON schema of the document that a command writes with --format json."""

from __future__ import annotations

from pathlib import Path

from pushjuju.cli.syntax.command import Cli, command
from pushjuju.core.errors import NotFound

FOLDER = Path(__file__).parents[2] / "schemas"


@command(
    "schema",
    usage="[<command>]",
    summary="Prints the JSON schema of what a command writes with --format json.",
    at_most=1,
    details="Without a command: prints which commands have a schema. Only pushjuju's own commands have one:\n"
    "Juju's commands write the documents of Juju.",
    examples="    pushjuju schema\n    pushjuju schema hooks > hooks.schema.json\n",
    see_also=("explain", "plan", "hooks", "replay", "show-relation"),
)
def schema(cli: Cli, args: tuple[str, ...]) -> None:
    names = sorted(path.stem for path in FOLDER.glob("*.json"))
    if not args:
        return cli.output.text("".join(f"{name}\n" for name in names))
    if args[0] not in names:
        raise NotFound(f"{args[0]} has no schema", hint=f"there are schemas of: {', '.join(names)}")
    return cli.output.text((FOLDER / f"{args[0]}.json").read_text(encoding="utf-8"))
