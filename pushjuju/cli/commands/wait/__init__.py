"""The command wait-for, which waits for an entity to reach a state."""
