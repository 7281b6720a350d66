"""The requests about controllers: bootstrap, configuration, backups and removal."""
