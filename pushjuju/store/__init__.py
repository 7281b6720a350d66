"""The store: data directory, schema, named SQL, transactions, work queue, blobs.

This package stores facts and returns them in transactions; it knows none of Juju's rules.
"""
