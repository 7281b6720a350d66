"""Connections to machines: login, host keys, jump hosts."""
