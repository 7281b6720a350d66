"""The push: SSH transport, wire protocol and the program that runs on machines (``remote``).

Knows operations and frames, nothing of models.
"""
