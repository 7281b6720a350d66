"""Actions, and commands on units and machines."""
