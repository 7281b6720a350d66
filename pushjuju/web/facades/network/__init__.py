"""The facades of spaces and subnets."""
