"""The charms of a model, with their settings, LXD profiles and payloads."""
