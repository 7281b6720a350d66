"""What every entity has: the time, statuses, annotations, logs, the right to see it."""
