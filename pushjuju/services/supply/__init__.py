"""Finds, builds and fetches charms, their packages and their resources."""
