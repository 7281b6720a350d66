"""Modules that all entities share: context, wakes, statuses, annotations, logs, addresses and users."""
