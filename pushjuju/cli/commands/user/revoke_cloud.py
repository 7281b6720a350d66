"""The command revoke-cloud. Mirrors: juju cmd/juju/cloud/grantrevoke.go (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.user.access_words import cloud_access_command

revoke_cloud = cloud_access_command("revoke-cloud", "Revokes access from a Juju user for a cloud.")
