"""The query language of `wait-for`: text -> tokens -> tree -> value. Layer: cli, pure.

Mirrors: juju cmd/juju/waitfor/query (3.6)
"""
