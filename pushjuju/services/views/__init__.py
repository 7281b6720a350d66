"""Documents that commands print, as plain data: the keys of Juju's JSON, without a console."""
