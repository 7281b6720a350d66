"""Requests of whole controllers."""
