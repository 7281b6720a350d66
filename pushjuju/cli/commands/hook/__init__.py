"""What ran on units, and what would run again."""
