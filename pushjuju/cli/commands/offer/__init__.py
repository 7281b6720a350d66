"""Offers, and applications of other models."""
