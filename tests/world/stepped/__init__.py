"""A controller without SSH: the real store, services, queue and workers, on machines that are played.

Nothing runs by itself: `step` lets one worker go on to its next wait, so a test decides what happens between
which two writes, and `crash` ends all workers wherever they are.
"""
