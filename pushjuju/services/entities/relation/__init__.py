"""Relations inside a model, and offers and relations between models."""
