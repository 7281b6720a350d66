"""Commands for network spaces and subnets."""
