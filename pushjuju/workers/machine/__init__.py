"""The work on one machine: reach it, run the operations of its units, manage its firewall and storage."""
