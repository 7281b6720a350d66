"""Secrets: who owns them, who may read them, where their content is."""
