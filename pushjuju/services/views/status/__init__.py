"""The status document."""
