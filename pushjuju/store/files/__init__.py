"""Files beside the store: TOML that people may edit, keys, archives; locks and disks."""
