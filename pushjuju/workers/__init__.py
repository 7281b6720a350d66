"""Loops over the work queue: they decide nothing of Juju's rules, they carry out.

 `drive` claims keys; `worker` works a machine; `provisioner` makes and ends machines; `cleaner`
finishes removals; `background` keeps a process at it.
"""
