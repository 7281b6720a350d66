"""The work on one machine: reach it, run what its units want, guard it."""
