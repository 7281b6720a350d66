"""What a unit does next, and how it is done: read, decide, dispatch, commit.

`decide` and `state` are pure; `input` reads the model; `apply` and `commit` write to it; `turn` is one turn
of a unit, from what it reads to the operation that a machine gets.
"""
