"""The hooks that ran on units, and replays of their decisions."""
