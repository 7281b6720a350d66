"""Loops over the work queue. They carry out what Juju's rules decide elsewhere.

`driver` claims keys; `machine` works one machine; `provision` makes and ends machines; `loops` do what
belongs to a model and to no machine; `background` keeps a process working.
"""
