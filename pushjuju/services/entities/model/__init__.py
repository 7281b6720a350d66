"""Models and controllers, and what they are set to."""
