"""Storage instances, the volumes and filesystems behind them, pools, and disks of machines."""
