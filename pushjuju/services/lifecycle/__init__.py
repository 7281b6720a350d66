"""How entities come to their end, and what waits for what."""
