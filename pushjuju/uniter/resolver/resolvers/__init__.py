"""The sub-resolvers, one module per noun: each decides on its own matter or lets the next one decide.

Layer: uniter (pure; imports core only). `pushjuju.uniter.resolver.loop` holds their order.
"""
