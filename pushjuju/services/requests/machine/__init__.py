"""Machines: one module for each request."""
