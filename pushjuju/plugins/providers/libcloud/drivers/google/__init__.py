"""The adapter of Google Compute Engine."""
