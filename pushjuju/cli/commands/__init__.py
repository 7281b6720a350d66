"""The commands, in folders by noun; `registry.py` says which word lives where.

A command parses its arguments, calls one service function and prints; nothing else.
"""
