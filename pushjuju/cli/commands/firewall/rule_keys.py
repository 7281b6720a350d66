"""The deprecation warning of the commands for firewall rules."""

from __future__ import annotations

DEPRECATED = 'Firewall rules have been moved to model-config settings "ssh-allow" and\n"saas-ingress-allow".'
