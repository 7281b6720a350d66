"""The command revoke. Mirrors: juju cmd/juju/model/grantrevoke.go (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.user.access_words import access_command

revoke = access_command(
    "revoke",
    "Revokes access from a Juju user for a model, controller, or application offer.",
    "    pushjuju revoke kim write shop\n",
)
