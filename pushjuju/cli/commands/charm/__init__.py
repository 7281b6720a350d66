"""Commands for charms: in stores, in source trees, in files."""
