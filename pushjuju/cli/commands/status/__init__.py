"""Commands for the status, its history and the log."""
