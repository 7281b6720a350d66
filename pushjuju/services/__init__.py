"""The requests of users, as transactions over the store.

Rules, permissions and transactions; no SSH, no printing, no decisions of the uniter.
"""
