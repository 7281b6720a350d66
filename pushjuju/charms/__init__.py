"""Charms: format, metadata, config, actions, packing, and what may be related or refreshed.

Nothing here keeps state or prints. Doors:
`reader.read_charm`, `pack.pack`, `unpack.unpack`, `wire`, `config`, `actions`, `bases`, `assumes`,
`arguments`, `endpoints`, `features`, `upgrade`.
"""
