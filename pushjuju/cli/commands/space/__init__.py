"""Network spaces and subnets."""
