"""Shared by every entity: the time, statuses, annotations, logs, the right to see it."""
