"""Reads bundles as users write them: composed, decoded, verified."""
