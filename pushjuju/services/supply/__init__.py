"""Where charms and resources come from."""
