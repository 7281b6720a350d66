"""Commands for controllers."""
