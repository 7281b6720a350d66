"""The rows of the store as frozen dataclasses."""
