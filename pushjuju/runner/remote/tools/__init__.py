"""Hook tools and juju-exec: their clients, and what one call sees."""
