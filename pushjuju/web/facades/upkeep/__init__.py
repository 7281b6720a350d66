"""Facades about backups and versions, the SSH access to machines, and payloads."""
