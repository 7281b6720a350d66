"""Bundles: many applications described in one file.

`read` reads and merges bundles and their overlays, `check` compares them with charms and model, `plan` works
out the steps that make a model like a bundle. `planning` and `record` join these parts.
Mirrors: juju/charm bundledata.go overlay.go, juju core/bundle/changes (3.6)
"""
