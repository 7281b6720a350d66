"""The controller's side of the push: SSH, the wire protocol, and the program for machines (``remote``).

The modules know operations and frames, but nothing of models.
"""
