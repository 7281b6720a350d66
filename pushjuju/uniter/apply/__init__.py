"""What hooks and decisions change in the model."""
