"""The command grant-cloud. Mirrors: juju cmd/juju/cloud/grantrevoke.go (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.user.access_words import cloud_access_command

grant_cloud = cloud_access_command("grant-cloud", "Grants access level to a Juju user for a cloud.")
