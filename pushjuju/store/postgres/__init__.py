"""The store in PostgreSQL, for several controller processes on several hosts.

Only `store.databases` imports this package, and only when the place of a store is a URL.
"""
