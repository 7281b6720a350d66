"""Requests of models: one module for each."""
