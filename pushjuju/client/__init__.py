"""A client of the API: connects to a controller on another computer, and asks it.

Imported only when a command names such a controller; needs the libraries of the extra `api`.
"""
