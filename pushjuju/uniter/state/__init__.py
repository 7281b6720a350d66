"""What a unit remembers, and how operations change it. Pure."""
