"""Files beside the store: TOML that users may edit, keys, archives; locks and disks."""
