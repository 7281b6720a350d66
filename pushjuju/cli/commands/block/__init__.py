"""Commands that are disabled for a model."""
