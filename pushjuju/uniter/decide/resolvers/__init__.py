"""The sub-resolvers, one module per noun: each returns a decision, or lets the next sub-resolver decide.

`pushjuju.uniter.decide.loop` holds their order.
"""
