"""Commands for firewall rules, which Juju keeps under these old names."""
