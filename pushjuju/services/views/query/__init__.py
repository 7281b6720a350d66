"""The query language of `wait-for`: text to tokens, tokens to a tree, the tree to a value. Pure.

Mirrors: juju cmd/juju/waitfor/query (3.6)
"""
