"""documentation: generate the command reference as Markdown."""

from __future__ import annotations

from pathlib import Path

from pushjuju.cli.commands.program.command_tree import all_commands
from pushjuju.cli.help import helptext
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.terminal.output import write_file


@command(
    "documentation",
    summary="Generate the command reference as Markdown.",
    flags=(
        flags.text("out", "Directory for the files"),
        flags.switch("no-index", "Leave the command index out"),
        flags.switch("split", "Write one file per command"),
        flags.text("url", "Prefix of the links between commands"),
        flags.text("discourse-ids", "Accepted and ignored", void=True),
    ),
    at_most=0,
)
def documentation(
    cli: Cli, _args: tuple[str, ...], *, out: str, no_index: bool, split: bool, url: str
) -> None:
    pages = {entry.name or "": helptext.markdown(entry, cli.program, url=url) for entry in all_commands()}
    index = "" if no_index else helptext.markdown_index(list(pages), url=url)
    if not out:
        return cli.output.text(index + "".join(pages.values()))
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    if not split:
        write_file(folder / "documentation.md", index + "".join(pages.values()))
        return None
    for name, page in {**pages, **({"index": index} if index else {})}.items():
        write_file(folder / f"{name}.md", page)
    return None
