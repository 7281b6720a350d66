"""Commands for bundles: descriptions of many applications."""
