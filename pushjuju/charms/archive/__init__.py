"""Charms as archives and directories: reads, packs and unpacks them."""
