"""The push: SSH transport, wire protocol and the program that runs on machines (``remote``).

Layer: above state and charms, below services. Knows operations and frames, nothing of models.
"""
