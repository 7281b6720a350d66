"""The documents that Juju's commands print, as plain data."""
