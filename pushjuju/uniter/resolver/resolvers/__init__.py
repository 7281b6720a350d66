"""The sub-resolvers, one module per noun: each decides on its own matter or lets the next one decide.

`pushjuju.uniter.resolver.loop` holds their order.
"""
