"""The process that runs one operation: a hook, an action, commands, or the deployment of a charm."""
