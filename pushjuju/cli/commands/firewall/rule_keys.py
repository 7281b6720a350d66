"""What the commands of firewall rules warn of."""

from __future__ import annotations

DEPRECATED = 'Firewall rules have been moved to model-config settings "ssh-allow" and\n"saas-ingress-allow".'
