"""Bundles as people write them: composed, decoded, verified."""
