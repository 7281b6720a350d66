"""Charms: format, metadata, config, actions, packing, and what may be related or refreshed.

Nothing here keeps state or prints. `values` are what a charm is made of; `format` reads its files; `build`
plans what a source tree asks for; `archive` reads, packs and unpacks; `hub` is Charmhub's protocol.
"""
