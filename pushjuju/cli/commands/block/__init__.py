"""Commands that disable other commands for a model."""
