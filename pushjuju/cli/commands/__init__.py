"""The commands, one in a file, in folders by noun, and `refused.py`; `registry.py` finds a word's file.

A command parses its arguments, calls one service function and prints; nothing else.
"""
