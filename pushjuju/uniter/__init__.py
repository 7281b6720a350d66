"""Decides what a unit does next, and does it: read, decide, dispatch, commit.

`decide` and `state` are pure; `input` reads the model; `apply` and `commit` write to the model; `turn` goes
from what a unit reads to the operation that its machine gets.
"""
