"""Commands that show past hooks, and replay decisions."""
