"""Relations, also between models."""
