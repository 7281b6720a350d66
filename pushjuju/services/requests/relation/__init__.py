"""The requests about relations and offers."""
