"""The requests of users: a folder for each of Juju's nouns, a module for one request or a few."""
