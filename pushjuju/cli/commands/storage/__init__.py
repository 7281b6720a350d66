"""Storage and its pools."""
