"""Commands that `juju-exec` requests on the machine; they run in any state of the unit. Pure.

Mirrors: juju worker/uniter/runcommands/resolver.go (3.6)
"""

from __future__ import annotations

from pushjuju.uniter.decide.decision import GO_ON, OperationName, Verdict, new_operation, run
from pushjuju.uniter.decide.remote import RemoteState
from pushjuju.uniter.decide.state import LocalState


def commands(local: LocalState, remote: RemoteState) -> Verdict:  # noqa: ARG001  # one signature for all
    """Run the oldest command."""
    for command in remote.commands:
        return run(
            new_operation(remote, OperationName.RUN_COMMANDS, command=command), "juju-exec requested commands"
        )
    return GO_ON
