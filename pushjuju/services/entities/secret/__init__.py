"""Secrets: owners, readers, revisions and the backends that keep their content."""
