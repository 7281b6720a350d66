"""Actions, and commands that run on units and machines."""
