"""Actions of charms, and commands of `exec`, which run like actions."""
