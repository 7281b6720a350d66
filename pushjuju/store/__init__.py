"""The store: data directory, schema, named SQL, transactions, work queue, blobs.

Holds facts and gives them back in transactions; decides nothing of Juju's rules.
"""
