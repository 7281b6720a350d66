"""The server of a machine, and the way in to it."""
