"""The process of one operation: hooks, actions, commands, charms."""
