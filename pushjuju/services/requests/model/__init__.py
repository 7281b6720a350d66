"""The requests about models: adding, configuring, blocking and destroying them, and their SSH keys."""
