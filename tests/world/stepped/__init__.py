"""A controller without SSH: real store, services, queue and workers, with simulated machines.

Nothing runs by itself: `step` runs one worker to its next wait, so a test decides what happens between two
writes. `crash` ends all workers at any wait.
"""
