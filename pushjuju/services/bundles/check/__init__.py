"""What a bundle asks for, held against its charms, the store and the model."""
