"""Firewall rules, and the keys of the model's configuration that took their place."""

from __future__ import annotations

KEYS = {"juju-application-offer": "saas-ingress-allow", "ssh": "ssh-allow"}

DEPRECATED = 'Firewall rules have been moved to model-config settings "ssh-allow" and\n"saas-ingress-allow".'
