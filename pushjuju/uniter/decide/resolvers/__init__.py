"""The sub-resolvers, one module per noun: each decides on its own matter or lets the next one decide.

`pushjuju.uniter.decide.loop` holds their order.
"""
