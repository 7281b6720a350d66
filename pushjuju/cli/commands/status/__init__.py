"""Status, its history and the log."""
