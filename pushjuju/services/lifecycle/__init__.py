"""Removes units, applications, relations, machines, storage and models, in the order that Juju prescribes."""
