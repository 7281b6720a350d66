"""Loops over the work queue. They carry out what Juju's rules decide elsewhere.

 `drive` claims keys; `worker` works a machine; `provisioner` makes and ends machines; `cleaner`
finishes removals; `background` keeps a process working.
"""
