"""Facades about the controller's host, the way to machines, and what their units report."""
