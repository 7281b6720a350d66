"""The command `plan`, which shows what another command would do."""
