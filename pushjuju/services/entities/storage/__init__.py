"""Storage instances, their pools, and the disks of machines."""
