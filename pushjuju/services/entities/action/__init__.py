"""Actions, and commands that run as actions do."""
