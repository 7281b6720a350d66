"""The requests about actions, and about commands on units and machines."""
