"""Charms as archives and directories: read, packed, unpacked."""
