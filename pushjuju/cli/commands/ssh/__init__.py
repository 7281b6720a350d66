"""Commands for SSH to machines and units, and for the SSH keys of models."""
