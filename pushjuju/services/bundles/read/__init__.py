"""Reads bundles as users write them: merges their documents, makes typed values, and verifies the rules."""
