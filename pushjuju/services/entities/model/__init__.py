"""Models and controllers: configuration, constraints, firewall, access and SSH keys."""
