"""Metrics of a controller: read from the store with a fixed number of statements, as text for Prometheus."""
