"""Built-in backends for the content of secrets."""
