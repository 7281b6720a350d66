"""The command sync-agent-binary. Mirrors: juju cmd/juju/commands/sync_agent_binary.go (3.6)"""

from __future__ import annotations

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session


@command(
    "sync-agent-binary",
    summary="Copy agent binaries from the official agent store into a local controller.",
    at_most=0,
    flags=(
        *flags.IN_MODEL,
        flags.text("agent-version", "There are no agents: of no use", void=True),
        flags.switch("dry-run", "There are no agents: of no use", void=True),
        flags.switch("public", "There are no agents: of no use", void=True),
        flags.text("source", "There are no agents: of no use", void=True),
        flags.text("stream", "There are no agents: of no use", void=True),
        flags.text("local-dir", "There are no agents: of no use", void=True),
    ),
    details="There are no agents on machines, so the command copies nothing; its exit status is 0.",
)
def sync_agent_binary(cli: Cli, _args: tuple[str, ...], *, model: str) -> None:
    """Print that there is nothing to copy."""
    if model:
        session.open_model(cli, model)
    cli.console.info("There are no agents: nothing to copy.")
