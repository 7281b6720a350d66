"""Machines, their network spaces, and the work that is due on them."""
