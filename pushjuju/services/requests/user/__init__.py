"""The requests about users, their passwords and their access."""
