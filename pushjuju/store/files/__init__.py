"""Files beside the store: TOML files, archives, marks of unfinished work; locks, full and read-only disks."""
