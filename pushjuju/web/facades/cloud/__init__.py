"""The facade Cloud, in parts."""
