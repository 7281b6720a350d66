"""The commands: one per file, in folders by noun. `registry.py` names each command's file.

A command parses its arguments, calls a request or a view, and prints.
"""
