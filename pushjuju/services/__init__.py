"""What a user may ask for: one module per Juju noun, as transactions over the store.

Rules, permissions and transactions; no SSH, no printing, no decisions of the uniter.
"""
