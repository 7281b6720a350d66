"""Charms: reads, checks and packs them; decides what may be related and refreshed.

No module here keeps state or prints. `values` holds the parts of a charm; `format` reads a charm's files;
`build` plans what a source tree asks for; `archive` reads, packs and unpacks; `hub` is Charmhub's protocol.
"""
