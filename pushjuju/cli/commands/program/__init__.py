"""Commands for the program itself: help, version, schemas, plugins, background work, the API."""
