"""The store: data directory, schema, named SQL, transactions, work queue, blobs.

Layer: state, above core. Holds facts and gives them back in transactions; decides nothing of Juju's rules.
"""
