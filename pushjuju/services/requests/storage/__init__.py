"""The requests about storage and storage pools."""
