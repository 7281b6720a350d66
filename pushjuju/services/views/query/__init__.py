"""The query language of `wait-for`: text -> tokens -> tree -> value. Pure.

Mirrors: juju cmd/juju/waitfor/query (3.6)
"""
