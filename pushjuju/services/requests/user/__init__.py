"""Users and what they may do: one module for each request."""
