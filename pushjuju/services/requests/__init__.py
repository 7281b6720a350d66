"""The requests of users: one module for each request."""
