"""Help, the manual page and the version, as text."""
