"""Commands for credentials of clouds."""
