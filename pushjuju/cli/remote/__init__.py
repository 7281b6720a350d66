"""The forms of commands for controllers on other computers."""
