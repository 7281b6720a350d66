"""Commands for actions, and for shell commands on units and machines."""
