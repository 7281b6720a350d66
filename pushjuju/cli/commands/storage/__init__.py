"""Commands for storage and storage pools."""
