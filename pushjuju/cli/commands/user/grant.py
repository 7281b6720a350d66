"""The command grant. Mirrors: juju cmd/juju/model/grantrevoke.go (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.user.access_words import access_command

grant = access_command(
    "grant",
    "Grants access level to a Juju user for a model, controller, or application offer.",
    "    pushjuju grant kim read shop\n    pushjuju grant kim superuser\n",
)
