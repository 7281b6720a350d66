"""Bundles: many applications described in one file.

Reads, merges, verifies and compares them, and works out what a model needs to become one; pure functions of
values, but for `source`, which reads files.
Mirrors: juju/charm bundledata.go overlay.go, juju core/bundle/changes (3.6)
"""
