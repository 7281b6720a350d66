"""Workers of the work queue, which carry out what Juju's rules decide in other rooms.

`driver` claims keys; `machine` works on one machine; `provision` makes and ends machines; `loops` do the work
of a model that needs no machine; `background` keeps a controller process running.
"""
