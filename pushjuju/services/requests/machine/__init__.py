"""The requests about machines and network spaces."""
