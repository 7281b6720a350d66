"""enable-ha: ensures that sufficient controllers exist to provide redundancy.

Mirrors: juju cmd/juju/{controller/register,commands/enableha,dashboard,commands/sync_agent_binary}.go (3.6)
"""

from __future__ import annotations

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.gnuflag import Kind
from pushjuju.cli.syntax.refusing import refused

enable_ha = refused(
    "enable-ha",
    "several daemons over one PostgreSQL store take the place of controller machines",
    summary="Ensures that sufficient controllers exist to provide redundancy.",
    at_most=0,
    formats=("simple", "yaml", "json"),
    flags=(
        *flags.CONTROLLER,
        *flags.LOGIN,
        flags.number("n", "Number of controllers to make available"),
        flags.text("to", "The machines to become controllers"),
        flags.many("constraints", "Additional machine constraints", kind=Kind.CONSTRAINTS, default=""),
    ),
)
