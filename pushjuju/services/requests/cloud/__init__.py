"""The requests about clouds and credentials."""
