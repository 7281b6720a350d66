"""Users and what they may do."""
