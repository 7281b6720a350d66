"""version: print the client version."""

from __future__ import annotations

from pushjuju import JUJU_VERSION, __version__
from pushjuju.cli.help.version import version_text
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.portable.gotypes import Struct


@command(
    "version",
    summary="Print the client version.",
    formats=("smart", "yaml", "json"),
    flags=(flags.switch("all", "Prints all version information", dest="everything"),),
    at_most=0,
    details="Prints the version of Juju that pushjuju emulates; --all adds pushjuju's own version.",
    examples="    pushjuju version\n    pushjuju version --all --format json\n",
)
def version(cli: Cli, _args: tuple[str, ...], *, everything: bool) -> None:
    if not everything:
        return cli.output.write(version_text())
    details: dict[str, object] = {
        "version": version_text(),
        "git-commit": "",
        "git-tree-state": "",
        "compiler": "python",
        "pushjuju-version": __version__,
        "pushjuju-juju-version": JUJU_VERSION,
    }

    return cli.output.write(Struct({key: value for key, value in details.items() if value}))
