"""Commands for offers, and for applications of other models."""
