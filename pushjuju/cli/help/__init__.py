"""Help texts, the manual page and the version."""
