"""Checks what a bundle asks for against its charms, the store and the model, before anything is changed."""
