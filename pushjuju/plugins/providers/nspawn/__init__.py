"""Reads facts about local machines from files of this host. `status` uses this, so imports are few."""
