"""The nouns of Juju, a folder each: read them, write them, wake who sees them."""
