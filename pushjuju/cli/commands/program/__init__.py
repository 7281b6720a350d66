"""The program itself: help, versions, schemas, plugins, its background work."""
